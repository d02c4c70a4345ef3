"""This machine's clock."""

import asyncio
from datetime import UTC, datetime, timedelta


def wall_clock() -> datetime:
    """What this machine thinks the time is; only good for comparing with the database's."""
    return datetime.now(UTC)


class SystemClock:
    """The Clock port by this machine alone, where no database's clock counts."""

    def now(self) -> datetime:
        return wall_clock()

    async def sleep(self, duration: timedelta) -> None:
        await asyncio.sleep(max(0.0, duration.total_seconds()))
