"""Time as the database tells it, so that every worker agrees on what is due.

Each answer of the database says what time it was there when it was sent. Counting on from the
moment it arrived can only be late, never early, by the time it was on its way. Clocks drift, and
ours may be the quicker one: it counts a little less than it measures, so that it is never ahead,
and each answer that shows it to be behind sets it right. One that says less than we counted when it
was asked for comes from a clock that was set back, or ours runs ahead: it is followed, too.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from time import monotonic

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query
from cadenza.domain.clock_steps import CLOCK_STEP

Hears = Callable[[datetime], None]
Asking = Callable[[], Hears]
DRIFT = 0.001  # of the time since an answer: two clocks of 500 ppm, one fast and one slow


class DatabaseClock:
    def __init__(self) -> None:
        self._heard_at: datetime | None = None
        self._heard = 0.0
        self.stepped_back = asyncio.Event()

    async def ask(self, database: Database) -> datetime:
        hear = self.asking()
        hear(await database.fetchval(query("database_time")))
        return self.now()

    def asking(self) -> Hears:
        """Before the database is asked; what it gives back is told the time of the answer."""
        return partial(self.hear, monotonic())

    def hear(self, asked: float, at: datetime) -> None:
        """An answer of the database arrived just now, and said this time."""
        moment = monotonic()
        if self._heard_at is not None:
            if self._at(asked) <= at <= self._at(moment):
                return  # it was longer on its way than the one that we count from
            if self._at(asked) - at > CLOCK_STEP:
                self.stepped_back.set()
        self._heard_at, self._heard = at, moment

    def now(self) -> datetime:
        return self._at(monotonic())

    async def sleep(self, duration: timedelta) -> None:
        await asyncio.sleep(max(0.0, duration.total_seconds()))

    def _at(self, moment: float) -> datetime:
        assert self._heard_at is not None, "the database has not been asked for the time yet"
        since = moment - self._heard  # below zero for what was asked before we last heard
        return self._heard_at + timedelta(seconds=since - abs(since) * DRIFT)
