"""The database's clock is the clock: never ahead of it, whatever this machine believes."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path

import asyncpg
import pytest

from cadenza.adapters.postgres import clock as module
from cadenza.adapters.postgres.clock import DRIFT, DatabaseClock
from cadenza.adapters.postgres.database import open_database
from cadenza.domain.endpoint import Every
from tests.adapters.postgres.support import Cable, Program, World, program, until
from tests.factories import NOON, seconds
from tests.postgres import StoppedClock


class Monotonic:
    """Counts only when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.moment = 1000.0
        monkeypatch.setattr(module, "monotonic", lambda: self.moment)

    def answer(self, clock: DatabaseClock, at: datetime, travels: float = 0.0) -> None:
        """The clock asks now and hears this, so many seconds later."""
        hear = clock.asking()
        self.moment += travels
        hear(at)


@pytest.fixture
def monotonic(monkeypatch: pytest.MonkeyPatch) -> Monotonic:
    return Monotonic(monkeypatch)


def test_it_counts_on_from_what_the_database_said(monotonic: Monotonic) -> None:
    clock = DatabaseClock()
    monotonic.answer(clock, NOON)
    assert clock.now() == NOON
    monotonic.moment += 2.5
    assert clock.now() == NOON + seconds(2.5 * (1 - DRIFT))


def test_an_answer_that_travelled_for_a_shorter_time_refines_it(monotonic: Monotonic) -> None:
    clock = DatabaseClock()
    monotonic.answer(clock, NOON)  # was on its way for half a second: we are late by that
    monotonic.moment += 1
    monotonic.answer(clock, NOON + seconds(1.4))
    assert clock.now() == NOON + seconds(1.4)


def test_an_answer_that_travelled_for_longer_does_not_spoil_it(monotonic: Monotonic) -> None:
    clock = DatabaseClock()
    monotonic.answer(clock, NOON)
    monotonic.answer(clock, NOON + seconds(0.2), travels=1)
    assert clock.now() == NOON + seconds(1 - DRIFT)


@pytest.mark.parametrize("drift", [0.0005, -0.0005], ids=["fast", "slow"])
def test_a_clock_of_ours_that_drifts_is_never_ahead_and_never_far_behind(
    monotonic: Monotonic, drift: float
) -> None:
    clock, truth = DatabaseClock(), 0.0
    monotonic.answer(clock, NOON)
    for step in range(1, 2000):
        truth += 0.05
        monotonic.moment += 0.05 * (1 + drift)
        behind = NOON + seconds(truth) - clock.now()
        assert timedelta(0) <= behind < seconds(0.008)
        if step % 100 == 0:  # each five seconds, as an idle worker asks
            monotonic.answer(clock, NOON + seconds(truth))


def test_an_answer_that_was_asked_for_before_another_came_does_not_spoil_it(
    monotonic: Monotonic,
) -> None:
    clock = DatabaseClock()
    monotonic.answer(clock, NOON)
    monotonic.moment += 1
    hear = clock.asking()
    monotonic.moment += 2
    monotonic.answer(clock, NOON + seconds(3))
    hear(NOON + seconds(1))
    assert clock.now() == NOON + seconds(3)
    assert not clock.stepped_back.is_set()


def test_an_answer_of_long_ago_is_no_clock_that_stepped_back(monotonic: Monotonic) -> None:
    clock = DatabaseClock()
    monotonic.answer(clock, NOON)
    monotonic.answer(clock, NOON, travels=8)
    assert clock.now() == NOON + seconds(8 * (1 - DRIFT))
    assert not clock.stepped_back.is_set()


def test_a_clock_of_ours_that_runs_far_too_fast_is_set_right_by_every_answer(
    monotonic: Monotonic,
) -> None:
    clock = DatabaseClock()
    for second in range(100):
        monotonic.answer(clock, NOON + seconds(second))
        assert clock.now() == NOON + seconds(second)
        monotonic.moment += 1.01


@pytest.mark.parametrize("step", [-3600, -2, -0.5, 2, 3600])
def test_a_step_of_the_databases_clock_is_followed_at_once(
    monotonic: Monotonic, step: float
) -> None:
    clock = DatabaseClock()
    monotonic.answer(clock, NOON)
    monotonic.moment += 1
    monotonic.answer(clock, NOON + seconds(1 + step))
    assert clock.now() == NOON + seconds(1 + step)
    assert clock.stepped_back.is_set() == (step < -5)


async def test_it_is_never_ahead_of_the_database_and_hardly_behind(world: World) -> None:
    clock = DatabaseClock()
    await clock.ask(world.database)
    behind: list[timedelta] = []
    for _ in range(50):
        ours = clock.now()
        behind.append(await world.now() - ours)
        await clock.ask(world.database)
    assert min(behind) >= timedelta(0)
    assert sorted(behind)[len(behind) // 2] < seconds(0.5)


async def test_a_slow_answer_makes_it_late_but_never_early(world: World) -> None:
    clock = DatabaseClock()
    async with Cable(world.url).plugged() as cable:
        database = await open_database(cable.url, connections=1)
        cable.hold()
        asking = asyncio.create_task(clock.ask(database))
        await asyncio.wait([asking], timeout=0.2)
        cable.let_go()
        late = await asking
        assert late <= await world.now()
        await clock.ask(database)
        assert clock.now() <= await world.now()
        await database.close()


async def test_a_step_back_of_a_real_database_is_followed(world: World) -> None:
    stopped = await StoppedClock.in_database(world.database, NOON)
    clock = DatabaseClock()
    assert NOON <= await clock.ask(world.database) < NOON + seconds(1)
    earlier = NOON - timedelta(hours=1)
    await stopped.set(earlier)
    assert earlier <= await clock.ask(world.database) < earlier + seconds(1)


# As if the machine's clock had been set: whatever asks the system for the time is told another one.
OFF_BY = """
import datetime, sys, time
off = int(sys.argv.pop(1))
real, real_ns = time.time, time.time_ns
time.time, time.time_ns = lambda: real() + off, lambda: real_ns() + off * 10**9
class Shifted(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.now(tz) + datetime.timedelta(seconds=off)
from cadenza.adapters.system import clock
clock.datetime = Shifted
from cadenza.roots.main import main
main()
"""


@pytest.fixture
def workers_an_hour_off(world: World, tmp_path: Path) -> Iterator[dict[str, Program]]:
    """By how their log shows it: a little less than the hour, for it takes time to ask."""
    with ExitStack() as stack:
        yield {
            off_by: stack.enter_context(
                program(
                    tmp_path / f"{off}.log",
                    world.url,
                    command=(sys.executable, "-c", OFF_BY, str(off), "scheduler"),
                )
            )
            for off_by, off in (("1 h ahead", 3600), ("1 h behind", -3600))
        }


async def test_machines_an_hour_off_behave_the_same_and_say_so(
    world: World, workers_an_hour_off: dict[str, Program]
) -> None:
    probe = await world.add(baseline=Every(seconds(1)))
    await world.add_copies(probe, 9)
    for worker in workers_an_hour_off.values():
        await worker.until_started()
    begin: datetime = await world.now()

    async def enough() -> list[asyncpg.Record] | None:
        runs = [run for run in await world.runs() if run["slot_at"] > begin and run["started_at"]]
        return runs if len(runs) >= 20 else None

    runs = await until(enough)
    assert all(run["slot_at"] <= run["started_at"] < begin + seconds(30) for run in runs)
    assert all(request.slot_at <= request.at for request in world.targets.requests)
    for off_by, worker in workers_an_hour_off.items():
        warnings = [line for line in worker.lines() if "clock is off" in line["event"]]
        assert warnings[0]["level"] == "warning"
        assert warnings[0]["off_by"].startswith(off_by)
