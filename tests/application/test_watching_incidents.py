"""How often a notifier looks at the state of things."""

import asyncio
from datetime import UTC, datetime, time, timedelta

from cadenza.adapters.system.zones import zone_of
from cadenza.application.incident_news import zone_for
from cadenza.application.incidents import Looked, watch_incidents
from cadenza.domain.notification import QuietHours
from tests.factories import NOON

DONE = timedelta(seconds=10)


class _Clock:
    """Stands still until somebody sleeps."""

    def __init__(self) -> None:
        self.time = NOON

    def now(self) -> datetime:
        return self.time

    async def sleep(self, duration: timedelta) -> None:
        await asyncio.sleep(0)
        self.time += duration


class _Watch:
    """So many whole looks find more than they can take at once."""

    def __init__(self, partial: int, clock: _Clock) -> None:
        self.looks = list[tuple[str, datetime]]()
        self._partial = partial
        self._clock = clock
        self.is_calm = asyncio.Event()

    async def look_at_everything(self) -> Looked:
        self.looks.append(("everything", self._clock.now()))
        self._partial -= 1
        return Looked(is_more=self._partial > 0, is_partial=self._partial > 0)

    async def look(self) -> Looked:
        self.looks.append(("news", self._clock.now()))
        self.is_calm.set()
        return Looked()


async def test_a_flood_that_no_event_tells_of_is_taken_at_once_and_not_a_part_each_minute() -> None:
    clock, woken = _Clock(), asyncio.Event()
    watch = _Watch(5, clock)
    woken.set()
    watching = asyncio.create_task(
        watch_incidents(watch, woken, clock, _fail)  # type: ignore[arg-type]
    )
    try:
        async with asyncio.timeout(30):
            await watch.is_calm.wait()
    finally:
        watching.cancel()
    assert [kind for kind, _ in watch.looks[:6]] == ["everything"] * 5 + ["news"]
    assert watch.looks[4][1] - NOON < DONE


def _fail(error: Exception) -> None:
    raise error


def test_quiet_hours_in_a_zone_that_is_no_more_are_those_of_utc() -> None:
    """A stored name may be gone from a newer list of zones; nobody else is to suffer from it."""
    quiet = QuietHours(time(22), time(7), "US/Pacific-New")
    assert zone_for(quiet, zone_of) is UTC
