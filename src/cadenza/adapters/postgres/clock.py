"""Time as the database tells it, so that every worker agrees on what is due.

Each answer of the database says what time it was there when it was sent. Counting on from the
moment it arrived can only be late, never early, by the time it was on its way.
"""

import asyncio
from datetime import datetime, timedelta
from time import monotonic

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query

TRUSTED_FOR = 10.0  # seconds after which a fresh answer replaces a better old one: clocks drift
STEP = timedelta(seconds=1)


class DatabaseClock:
    def __init__(self) -> None:
        self._heard_at: datetime | None = None
        self._heard = 0.0

    async def ask(self, database: Database) -> datetime:
        self.hear(await database.fetchval(query("database_time")))
        return self.now()

    def hear(self, at: datetime) -> None:
        """An answer of the database arrived just now, and said this time."""
        moment = monotonic()
        if self._heard_at is not None:
            behind = at - self._at(moment)
            stale = moment - self._heard > TRUSTED_FOR
            if -STEP < behind <= timedelta(0) and not stale:
                return
        self._heard_at, self._heard = at, moment

    def now(self) -> datetime:
        return self._at(monotonic())

    async def sleep(self, duration: timedelta) -> None:
        await asyncio.sleep(max(0.0, duration.total_seconds()))

    def _at(self, moment: float) -> datetime:
        assert self._heard_at is not None, "the database has not been asked for the time yet"
        return self._heard_at + timedelta(seconds=moment - self._heard)
