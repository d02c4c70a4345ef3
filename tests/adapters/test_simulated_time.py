"""Time on the simulated loop: it jumps, in order, and never costs a real wait."""

import asyncio
from datetime import timedelta
from time import perf_counter

import pytest

from cadenza.adapters.simulated.time import NothingLeftToHappen, SimulatedClock, run_simulated
from tests.factories import NOON, minutes, seconds


def test_sleepers_wake_in_the_order_of_their_time_and_not_of_their_start() -> None:
    async def life() -> list[tuple[str, float]]:
        clock, woken = SimulatedClock(NOON), []

        async def sleeper(name: str, length: float) -> None:
            await clock.sleep(seconds(length))
            woken.append((name, (clock.now() - NOON).total_seconds()))

        await asyncio.gather(sleeper("long", 300), sleeper("short", 0.25), sleeper("middle", 60))
        return woken

    assert run_simulated(life()) == [("short", 0.25), ("middle", 60.0), ("long", 300.0)]


def test_sleepers_with_the_same_end_wake_in_the_order_of_their_start() -> None:
    async def life() -> list[int]:
        clock, woken = SimulatedClock(NOON), []

        async def sleeper(number: int) -> None:
            await clock.sleep(minutes(1))
            woken.append(number)

        await asyncio.gather(*(sleeper(number) for number in range(20)))
        return woken

    assert run_simulated(life()) == list(range(20))


def test_what_a_woken_sleeper_does_happens_before_the_next_one_wakes() -> None:
    async def life() -> list[str]:
        clock, steps = SimulatedClock(NOON), []

        async def first() -> None:
            await clock.sleep(seconds(1))
            steps.append("first wakes")
            await asyncio.sleep(0)
            steps.append("first goes on")

        async def second() -> None:
            await clock.sleep(seconds(1.000001))
            steps.append("second wakes")

        await asyncio.gather(first(), second())
        return steps

    assert run_simulated(life()) == ["first wakes", "first goes on", "second wakes"]


def test_a_year_passes_in_no_real_time() -> None:
    async def life() -> timedelta:
        clock = SimulatedClock(NOON)
        for _ in range(365):
            await clock.sleep(timedelta(days=1))
        return clock.now() - NOON

    began = perf_counter()
    assert run_simulated(life()) == timedelta(days=365)
    assert perf_counter() - began < 60


def test_a_sleep_is_exact_to_the_microsecond_however_many_came_before_it() -> None:
    async def life() -> timedelta:
        clock = SimulatedClock(NOON)
        for _ in range(5000):
            await clock.sleep(timedelta(seconds=600, microseconds=1))
        return clock.now() - NOON

    assert run_simulated(life()) == 5000 * timedelta(seconds=600, microseconds=1)


@pytest.mark.parametrize("length", [timedelta(0), timedelta(seconds=-5)])
def test_a_sleep_of_nothing_lets_others_run_and_takes_no_time(length: timedelta) -> None:
    async def life() -> tuple[timedelta, list[str]]:
        clock, steps = SimulatedClock(NOON), []

        async def neighbour() -> None:
            steps.append("the neighbour ran")

        task = asyncio.create_task(neighbour())
        await clock.sleep(length)
        steps.append("then we")
        await task
        return clock.now() - NOON, steps

    assert run_simulated(life()) == (timedelta(0), ["the neighbour ran", "then we"])


def test_a_timeout_of_the_library_ends_in_simulated_time() -> None:
    async def life() -> timedelta:
        clock = SimulatedClock(NOON)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(90):
                await clock.sleep(minutes(10))
        return clock.now() - NOON

    assert run_simulated(life()) == seconds(90)


def test_waiting_for_an_event_ends_with_the_event_or_with_the_time() -> None:
    async def life() -> tuple[timedelta, timedelta]:
        clock, event = SimulatedClock(NOON), asyncio.Event()
        asyncio.get_running_loop().call_later(30, event.set)
        await asyncio.wait_for(event.wait(), 60)
        set_after = clock.now() - NOON
        event.clear()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(event.wait(), 60)
        return set_after, clock.now() - NOON

    assert run_simulated(life()) == (seconds(30), seconds(90))


def test_nothing_left_to_happen_is_an_error_and_not_a_hang() -> None:
    async def life() -> None:
        await asyncio.Event().wait()

    with pytest.raises(NothingLeftToHappen, match="no timer"):
        run_simulated(life())


def test_two_tasks_that_wait_for_each_other_are_an_error_and_are_cleaned_up() -> None:
    ended: list[str] = []

    async def life() -> None:
        one, two = asyncio.Event(), asyncio.Event()

        async def wait(name: str, event: asyncio.Event, other: asyncio.Event) -> None:
            try:
                await event.wait()
                other.set()
            finally:
                ended.append(name)

        await asyncio.gather(wait("one", one, two), wait("two", two, one))

    with pytest.raises(NothingLeftToHappen):
        run_simulated(life())
    assert sorted(ended) == ["one", "two"]


def test_the_loop_works_again_after_an_error() -> None:
    async def stuck() -> None:
        await asyncio.Event().wait()

    async def fine() -> str:
        await asyncio.sleep(60)
        return "fine"

    with pytest.raises(NothingLeftToHappen):
        run_simulated(stuck())
    assert run_simulated(fine()) == "fine"


def test_an_error_in_a_simulated_life_comes_out_as_it_is() -> None:
    async def life() -> None:
        await asyncio.sleep(60)
        raise LookupError("lost")

    with pytest.raises(LookupError, match="lost"):
        run_simulated(life())


def test_a_step_moves_the_wall_clock_and_wakes_nobody() -> None:
    async def life() -> list[timedelta]:
        clock, woken = SimulatedClock(NOON), []

        async def sleeper() -> None:
            await clock.sleep(seconds(10))
            woken.append(clock.now() - NOON)

        task = asyncio.create_task(sleeper())
        await asyncio.sleep(0)
        clock.step(timedelta(hours=1))
        woken.append(clock.now() - NOON)
        await task
        clock.step(timedelta(hours=-2))
        woken.append(clock.now() - NOON)
        return woken

    forward, after_sleep, back = run_simulated(life())
    assert forward == timedelta(hours=1)
    assert after_sleep == timedelta(hours=1, seconds=10)
    assert back == timedelta(hours=-1, seconds=10)


def test_each_life_begins_at_its_own_start() -> None:
    async def life() -> timedelta:
        clock = SimulatedClock(NOON)
        await clock.sleep(minutes(5))
        return clock.now() - NOON

    assert [run_simulated(life()) for _ in range(3)] == [minutes(5)] * 3
