"""How functions are called: on the loop, in threads, and in children that can be killed."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import wraps
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import structlog
from pydantic import BaseModel

from cadenza.adapters.functions import leaving
from cadenza.adapters.functions.dispatcher import FunctionDispatcher
from cadenza.adapters.functions.registered import registered
from cadenza.adapters.system.clock import SystemClock
from cadenza.application.waiting import OVER
from cadenza.domain.function_target import FunctionTarget
from cadenza.domain.run import Outcome
from tests.adapters.postgres.support import until
from tests.factories import make_claim, make_endpoint
from tests.program import functions

LONG = timedelta(minutes=1)
SHORT = timedelta(milliseconds=50)


class Calls:
    def __init__(self) -> None:
        self.functions: dict[str, Any] = {}
        self.dispatcher = FunctionDispatcher(self.functions, SystemClock(), threads=2)

    async def call(
        self, function: Callable[..., Any], *, isolate: bool = False, limit: timedelta = LONG
    ) -> Outcome:
        name = function.__name__
        self.functions[name] = registered(name, function, isolate=isolate)
        target = FunctionTarget("shop", name, limit)
        return await self.dispatcher.dispatch(replace(make_claim(make_endpoint()), target=target))


@pytest.fixture
def calls() -> Iterator[Calls]:
    calls = Calls()
    yield calls
    calls.dispatcher.close()


@pytest.fixture
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "pids"
    monkeypatch.setenv("CADENZA_TEST_PIDS", str(path))
    return path


async def test_an_async_function_runs_on_the_loop(calls: Calls) -> None:
    async def name() -> str:
        return threading.current_thread().name

    assert (await calls.call(name)).body == threading.current_thread().name


async def test_another_runs_in_a_thread(calls: Calls) -> None:
    def name() -> str:
        return threading.current_thread().name

    assert str((await calls.call(name)).body).startswith("cadenza-function")


async def test_a_thread_that_takes_too_long_is_told_so(calls: Calls, pids: Path) -> None:
    outcome = await calls.call(functions.wait_for_cancel, limit=timedelta(milliseconds=50))
    assert (outcome.status, outcome.error_kind) == ("timeout", "timeout")
    await until(lambda: pids.exists() and pids.read_text() == "cancelled")


async def test_an_isolated_function_has_a_process_of_its_own(calls: Calls) -> None:
    outcome = await calls.call(functions.pid, isolate=True)
    assert isinstance(outcome.body, int)
    assert outcome.body != os.getpid()


async def test_it_knows_its_run_and_may_print(calls: Calls) -> None:
    outcome = await calls.call(functions.about, isolate=True)
    assert outcome.status == "success"
    assert isinstance(outcome.body, dict)
    assert (outcome.body["attempt"], outcome.body["late"]) == (1, False)


async def test_what_it_raises_comes_back_with_its_traceback(calls: Calls) -> None:
    outcome = await calls.call(functions.fail, isolate=True)
    assert (outcome.status, outcome.error_kind) == ("failure", "exception")
    lines = (outcome.error_message or "").splitlines()
    assert lines[0] == "LookupError: nothing there"
    assert "child.py" not in (outcome.error_message or "")


async def test_a_child_that_dies_is_a_failure(calls: Calls) -> None:
    outcome = await calls.call(functions.die, isolate=True)
    assert (outcome.error_kind, outcome.error_message) == (
        "process_ended",
        "its process was killed by signal 9 and returned nothing",
    )


async def test_at_its_deadline_it_is_killed_with_all_that_it_started(
    calls: Calls, pids: Path
) -> None:
    call = asyncio.create_task(
        calls.call(functions.hang_with_a_child, isolate=True, limit=timedelta(minutes=5))
    )
    await until(lambda: pids.exists() and " " in pids.read_text(), within=180)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until(lambda: not any(_lives(int(pid)) for pid in pids.read_text().split()))


async def test_an_isolated_function_finds_nothing_to_read(calls: Calls) -> None:
    outcome = await calls.call(functions.read, isolate=True)
    assert (outcome.status, outcome.body) == ("success", "")


async def test_an_isolated_function_that_interrupts_itself_has_raised(calls: Calls) -> None:
    outcome = await calls.call(functions.interrupt, isolate=True)
    assert outcome.error_kind == "exception"
    assert (outcome.error_message or "").startswith("KeyboardInterrupt\n")


async def test_a_fork_that_comes_back_too_gives_no_second_answer(calls: Calls) -> None:
    outcome = await calls.call(functions.fork, isolate=True)
    assert (outcome.status, outcome.body) == ("success", 3)


@pytest.mark.parametrize("isolate", [False, True])
async def test_an_integer_too_long_for_json_is_named(calls: Calls, isolate: bool) -> None:
    outcome = await calls.call(functions.huge, isolate=isolate)
    assert (outcome.status, outcome.error_kind) == ("failure", "answer")
    assert "a value of type int that cannot be written as JSON" in (outcome.error_message or "")


async def test_what_may_be_endless_is_not_read(calls: Calls) -> None:
    async def on_the_loop() -> Any:
        return (number for number in count())

    def in_a_thread() -> Any:
        return map(str, count())

    for function, kind in ((on_the_loop, "generator"), (in_a_thread, "map")):
        outcome = await calls.call(function)
        assert (outcome.status, outcome.error_kind) == ("failure", "answer")
        assert f"a value of type {kind}, which may be endless" in (outcome.error_message or "")


# --- What it raises ---------------------------------------------------------------------------


@pytest.mark.parametrize("error", [StopIteration("dry"), KeyboardInterrupt(), GeneratorExit()])
async def test_whatever_a_thread_raises_is_a_failed_run(calls: Calls, error: BaseException) -> None:
    def fail() -> None:
        raise error

    outcome = await calls.call(fail)
    assert (outcome.status, outcome.error_kind) == ("failure", "exception")
    assert (outcome.error_message or "").startswith(type(error).__name__)


async def test_what_it_waited_for_and_was_cancelled_is_a_failure_with_its_traceback(
    calls: Calls,
) -> None:
    async def wait() -> None:
        task = asyncio.create_task(asyncio.sleep(600))
        task.cancel()
        await task

    outcome = await calls.call(wait)
    assert (outcome.status, outcome.error_kind) == ("failure", "exception")
    first, *above = (outcome.error_message or "").splitlines()
    assert first == "asyncio.exceptions.CancelledError"
    assert any("in wait" in line for line in above)


async def test_one_that_cancels_its_own_task_has_failed(calls: Calls) -> None:
    async def cancel() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(600)

    call = asyncio.create_task(calls.call(cancel))
    outcome = await call
    assert (outcome.status, outcome.error_kind) == ("failure", "exception")
    assert call.cancelling() == 0, "the worker takes no cancellation for its own"


async def test_one_that_cancels_its_own_task_and_goes_on_still_has_a_deadline(
    calls: Calls,
) -> None:
    async def cancel() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(600)
        await asyncio.sleep(600)

    call = asyncio.create_task(calls.call(cancel, limit=SHORT))
    assert (await call).status == "timeout"
    assert call.cancelling() == 0


async def test_a_failure_begins_with_the_whole_of_what_was_raised(calls: Calls) -> None:
    class Order(BaseModel):
        number: int

    async def parse() -> None:
        Order.model_validate({"number": "none"})

    async def both() -> None:
        raise ExceptionGroup("two went wrong", [ValueError("one"), ValueError("other")])

    parsed = (await calls.call(parse)).error_message or ""
    assert parsed.startswith("pydantic_core._pydantic_core.ValidationError: 1 validation error")
    grouped = (await calls.call(both)).error_message or ""
    assert grouped.startswith("ExceptionGroup: two went wrong (2 sub-exceptions)\n")
    assert "ValueError: other" in grouped


async def test_a_long_message_leaves_room_for_where_it_was_raised(calls: Calls) -> None:
    def fail() -> None:
        raise ValueError("long " * 10_000)

    assert "in fail" in ((await calls.call(fail)).error_message or "")


async def test_an_async_function_behind_a_plain_decorator_is_awaited(calls: Calls) -> None:
    def plain(function: Callable[[], Any]) -> Callable[[], Any]:
        @wraps(function)
        def call() -> Any:
            return function()

        return call

    @plain
    async def weigh() -> int:
        await asyncio.sleep(0)
        return 3

    assert (await calls.call(weigh)).body == 3


# --- What does not end ------------------------------------------------------------------------


async def test_one_that_goes_on_after_its_cancellation_is_left(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaving, "GRACE", 0.05)
    steps = 0

    async def deaf() -> None:
        nonlocal steps
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(600)
            steps += 1

    outcome = await asyncio.wait_for(calls.call(deaf, limit=SHORT), 120)
    assert (outcome.status, steps) == ("timeout", 1)


DEAF = """
import asyncio
from cadenza.adapters.functions import leaving

async def deaf():
    while True:
        try:
            await asyncio.sleep(600)
        except BaseException:
            pass

async def main():
    leaving.GRACE = 0.0
    async with asyncio.timeout(0.01) as limit:
        await leaving.Leavable("deaf", deaf(), limit.expired)

try:
    asyncio.run(main())
except TimeoutError:
    print("left")
"""


def test_one_that_ignores_everything_does_not_hold_up_the_end_of_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-c", DEAF], capture_output=True, text=True, timeout=120, check=True
    )
    assert (done.stdout, done.stderr) == ("left\n", "")


async def test_one_that_is_cancelled_by_the_worker_is_left_too(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaving, "GRACE", 0.05)
    begun = asyncio.Event()

    async def deaf() -> None:
        begun.set()
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(600)

    call = asyncio.create_task(calls.call(deaf))
    await begun.wait()
    call.cancel(OVER)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(asyncio.shield(call), 120)


async def test_a_timeout_of_its_own_is_its_own_matter(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaving, "GRACE", 0.0)

    async def patient() -> str:
        with suppress(TimeoutError):
            async with asyncio.timeout(0.01):
                try:
                    await asyncio.sleep(600)
                finally:
                    await asyncio.sleep(0.05)
        return "done"

    assert (await calls.call(patient)).body == "done"


async def test_one_that_blocks_the_loop_is_named(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaving, "BLOCKS_FROM", 0.05)

    async def blocks() -> None:
        time.sleep(0.1)  # noqa: ASYNC251 - as people do

    async def waits() -> None:
        await asyncio.sleep(0.1)

    with structlog.testing.capture_logs() as lines:
        await calls.call(blocks)
        await calls.call(waits)
    assert [(line["function"], line["seconds"] >= 0.1) for line in lines] == [("blocks", True)]


async def test_what_it_returns_after_its_time_is_a_timeout(calls: Calls) -> None:
    async def late() -> str:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(600)
        return "late"

    outcome = await calls.call(late, limit=SHORT)
    assert (outcome.status, outcome.body) == ("timeout", None)


async def test_a_thread_that_goes_on_is_not_joined_by_another(calls: Calls) -> None:
    go_on, times = threading.Event(), 0

    def block() -> None:
        nonlocal times
        times += 1
        go_on.wait(600)

    try:
        assert (await calls.call(block, limit=SHORT)).status == "timeout"
        again = await calls.call(block)
    finally:
        go_on.set()
    assert (again.status, again.error_kind, times) == ("failure", "still_running", 1)
    assert "isolate=True" in (again.error_message or "")

    async def is_free() -> bool:
        return (await calls.call(block)).status == "success"

    await until(is_free)


async def test_one_that_got_no_thread_in_its_time_says_so(calls: Calls) -> None:
    go_on = threading.Event()

    def waits(number: int) -> Callable[[], Any]:
        def block() -> None:
            go_on.wait(600)

        block.__name__ = f"block_{number}"
        return block

    blocking = [asyncio.create_task(calls.call(waits(number))) for number in range(2)]
    await asyncio.sleep(0)  # each has its thread
    try:
        outcome = await calls.call(waits(2), limit=SHORT)
    finally:
        go_on.set()
    assert outcome.error_message == "it waited 0.05 s for a thread: all 2 are busy"
    assert {done.status for done in await asyncio.gather(*blocking)} == {"success"}


def _lives(pid: int) -> bool:
    """A zombie that nobody has waited for is dead, too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
