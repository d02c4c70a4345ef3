"""A program of functions in simulated time: the decorators, and what comes of them."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from cadenza import Cadenza, Run, current_run
from cadenza.domain.errors import InvalidInput, Refused
from cadenza.testing import START, Simulation

MINUTE = timedelta(minutes=1)


class Queue:
    """What the functions of a test look at."""

    depth = 3


@pytest.fixture
def app() -> Cadenza:
    return Cadenza("shop")


def test_a_function_tightens_and_relaxes_by_its_own_answers(app: Cadenza, simulate: Any) -> None:
    queue = Queue()

    @app.every("1m", min="5s", max="10m", job="shop")
    async def queue_depth() -> dict[str, int]:
        return {"queue_depth": queue.depth}

    queue_depth.when("response.queue_depth > 300", interval="10s", ttl="2m")
    shop: Simulation = simulate(app)
    shop.advance("1h")
    assert set(shop.gaps(queue_depth)) == {MINUTE}
    queue.depth = 400
    before = len(shop.gaps(queue_depth))
    shop.advance("10m")
    queue.depth = 2
    assert set(shop.gaps(queue_depth)[before + 1 :]) == {timedelta(seconds=10)}
    shop.advance("5m")
    before = len(shop.gaps(queue_depth))
    shop.advance("10m")
    assert set(shop.gaps(queue_depth)[before:]) == {MINUTE}


def test_a_cron_function_runs_in_its_zone(app: Cadenza, simulate: Any) -> None:
    @app.cron("0 3 * * mon-fri", tz="Europe/Paris")
    def report() -> str:
        return "done"

    shop: Simulation = simulate(app)
    shop.advance("7d")
    assert [run.slot_at.isoformat() for run in shop.runs(report)] == [
        f"2026-03-{day:02}T02:00:00+00:00" for day in (3, 4, 5, 6, 9)
    ]


def test_a_rule_runs_the_function_that_it_decorates(app: Cadenza, simulate: Any) -> None:
    queue, added = Queue(), []

    @app.every("1m")
    async def queue_depth() -> dict[str, int]:
        return {"depth": queue.depth}

    @queue_depth.when("response.depth > 300", cooldown="10m")
    async def add_worker() -> None:
        """The queue is deep."""
        added.append(current_run().slot_at)

    shop: Simulation = simulate(app)
    shop.advance("10m")
    assert not added
    queue.depth = 500
    shop.advance("9m")
    assert len(added) == 1


@dataclass
class Depth:
    depth: int
    at: Any


class Model(BaseModel):
    depth: int


@pytest.mark.parametrize(
    ("value", "body"),
    [
        ({"depth": 3}, {"depth": 3}),
        (Depth(3, START), {"depth": 3, "at": "2026-03-02T12:00:00Z"}),
        (Model(depth=4), {"depth": 4}),
        (7, 7),
        (2.5, 2.5),
        (float("nan"), None),
        ("text", "text"),
        (None, None),
        ([1, (2, 3)], [1, [2, 3]]),
    ],
)
def test_what_it_returns_is_the_response(
    app: Cadenza, simulate: Any, value: Any, body: Any
) -> None:
    @app.every("1m")
    def look() -> Any:
        return value

    shop: Simulation = simulate(app)
    shop.advance("10s")
    [run] = shop.runs(look)
    assert (run.status, run.body) == ("success", body)


def test_what_is_no_json_is_a_failure_that_says_what_to_return(app: Cadenza, simulate: Any) -> None:
    @app.every("1m")
    def look() -> Any:
        return {"socket": object()}

    shop: Simulation = simulate(app)
    shop.advance("10s")
    [run] = shop.runs(look)
    assert (run.status, run.error_kind) == ("failure", "answer")
    assert "return a dict" in (run.error_message or "")


def test_an_exception_is_a_failed_run_with_the_end_of_its_traceback(
    app: Cadenza, simulate: Any
) -> None:
    @app.every("1m")
    def look() -> None:
        raise ValueError("the till is gone")

    shop: Simulation = simulate(app)
    shop.advance("10s")
    [run] = shop.runs(look)
    assert (run.status, run.error_kind) == ("failure", "exception")
    lines = (run.error_message or "").splitlines()
    assert lines[0] == "ValueError: the till is gone"
    assert 'raise ValueError("the till is gone")' in lines[-1]
    assert not any("dispatcher.py" in line for line in lines)


def test_sys_exit_ends_the_run_and_not_the_program(app: Cadenza, simulate: Any) -> None:
    @app.every("1m")
    async def look() -> None:
        raise SystemExit(3)

    shop: Simulation = simulate(app)
    shop.advance("10m")
    assert len(shop.runs(look)) > 1
    assert {run.status for run in shop.runs(look)} == {"failure"}


def test_a_function_that_takes_too_long_is_cancelled(app: Cadenza, simulate: Any) -> None:
    seen: list[Run] = []

    @app.every("1m", timeout="5s")
    async def look(run: Run) -> None:
        seen.append(run)
        await asyncio.sleep(60)

    shop: Simulation = simulate(app)
    shop.advance("20s")
    [run] = shop.runs(look)
    assert (run.status, run.error_kind) == ("timeout", "timeout")
    assert seen[0].is_cancelled
    assert seen[0].deadline_at - seen[0].slot_at == timedelta(seconds=5)


def test_the_run_knows_its_slot_and_its_key(app: Cadenza, simulate: Any) -> None:
    seen: list[Run] = []

    @app.every("1m")
    async def look(run: Run) -> None:
        assert current_run() is run
        seen.append(run)

    shop: Simulation = simulate(app)
    shop.advance("90s")
    first, second = seen
    assert second.slot_at - first.slot_at == MINUTE
    assert first.idempotency_key != second.idempotency_key
    assert (first.attempt, first.source) == (1, "baseline-interval")


def test_a_program_is_steered_by_its_handles(app: Cadenza, simulate: Any) -> None:
    @app.every("1h")
    async def look() -> None: ...

    @app.on_demand
    def clean() -> None: ...

    shop: Simulation = simulate(app)
    shop.advance("1m")
    assert not shop.runs(clean)
    shop.call(clean.run_now())
    shop.call(look.hint("1m", ttl="5m", reason="a test"))
    shop.advance("10m")
    assert [run.source for run in shop.runs(clean)] == ["manual"]
    assert shop.gaps(look)[0] == MINUTE
    assert shop.call(look.explain()).summary
    shop.call(look.pause(reason="maintenance"))
    before = len(shop.runs(look))
    shop.advance("1d")
    assert len(shop.runs(look)) == before
    shop.call(look.resume())
    shop.advance("1m")
    assert len(shop.runs(look)) == before + 1


def test_handles_say_that_the_program_does_not_run() -> None:
    app = Cadenza("shop")

    @app.on_demand
    def clean() -> None: ...

    with pytest.raises(Refused, match="is not running in this process"):
        asyncio.run(clean.run_now())


def test_where_a_loop_runs_already_it_says_what_to_write(app: Cadenza) -> None:
    async def cell() -> None:
        app.run()

    with pytest.raises(Refused, match="async with app"):
        asyncio.run(cell())


def test_a_declared_function_is_still_a_function(app: Cadenza) -> None:
    @app.every("1m")
    def look(run: Any = None) -> int:
        """Look once."""
        return 5

    assert look() == 5
    assert (look.__name__, look.__doc__) == ("look", "Look once.")


def test_declaring_again_changes_nothing(app: Cadenza, simulate: Any) -> None:
    @app.every("1m")
    def look() -> None: ...

    look.when("response.depth > 300", interval="10s")
    shop: Simulation = simulate(app)
    assert shop.started.created == ["shop/look"]
    shop.restart()
    started = shop.started
    assert (started.created, started.changed, started.paused, started.resumed) == ([], [], [], [])


def test_a_function_that_is_gone_is_paused_and_comes_back(app: Cadenza, simulate: Any) -> None:
    @app.every("1m")
    def look() -> None: ...

    @app.every("1m")
    def listen() -> None: ...

    without = Cadenza("shop")

    @without.every("2m", name="listen")
    def listen_less() -> None: ...

    shop: Simulation = simulate(app)
    shop.advance("10m")
    shop.restart(without)
    assert (shop.started.paused, shop.started.changed) == (["shop/look"], ["shop/listen"])
    before = len(shop.runs(look))
    shop.advance("1h")
    assert len(shop.runs(look)) == before
    shop.restart(app)
    assert shop.started.resumed == ["shop/look"]
    shop.advance("2m")
    assert len(shop.runs(look)) > before


def test_an_endpoint_that_was_another_programs_is_taken_over_and_named(simulate: Any) -> None:
    """Also where a program is only renamed: whoever did not mean it must hear of it."""
    first, second = Cadenza("till"), Cadenza("shop")
    for program in (first, second):
        program.every("1m", job="shop", name="count")(lambda: 1)
    shop: Simulation = simulate(first)
    shop.restart(second)
    assert (shop.started.changed, shop.started.taken_over) == (["shop/count"], ["shop/count"])
    shop.restart(second)
    assert not shop.started.taken_over


def test_run_needs_the_main_thread(app: Cadenza) -> None:
    with ThreadPoolExecutor(1) as threads, pytest.raises(Refused, match="the main thread"):
        threads.submit(app.run).result()


def test_a_pause_by_the_program_itself_outlives_a_restart(app: Cadenza, simulate: Any) -> None:
    @app.every("1m")
    def look() -> None: ...

    shop: Simulation = simulate(app)
    shop.call(look.pause())
    shop.restart()
    shop.advance("10m")
    assert not shop.runs(look)


def wrong(declare: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        declare()
    return caught.value


def test_what_is_wrong_is_said_where_it_is_declared(app: Cadenza) -> None:
    @app.every("1m")
    def look() -> None: ...

    def several(one: Any, two: Any) -> None: ...

    def generator() -> Any:
        yield 1

    assert wrong(lambda: app.every("soon")(several)).field == "function"
    assert wrong(lambda: app.every("1m")(lambda: None)).field == "name"
    assert wrong(lambda: app.every("1m", name="queue depth")(look)).field == "name"
    assert wrong(lambda: app.every("soon", name="other")(look)).field == "every"
    assert wrong(lambda: app.cron("61 * * * *", name="other")(look)).field == "cron"
    assert wrong(lambda: app.every("1m")(generator)).field == "function"
    assert wrong(lambda: app.every("1m", name="look")(wrong)).field == "name"
    assert wrong(lambda: look.when("response.depth >", interval="1m")).field == "when"
    assert wrong(lambda: app.every("1m", name="alone", isolate=True)(several)).field == "function"
    assert wrong(lambda: app.every("1m", name="alone", isolate=True)(lambda: 1)).field == "isolate"
    assert wrong(lambda: Cadenza("a/b")).field == "name"
