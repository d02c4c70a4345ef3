"""This machine's clock, and whether it agrees with the database's, which is the one that counts."""

import asyncio
from datetime import UTC, datetime, timedelta

import structlog

from cadenza.domain.instants import humanize

log = structlog.get_logger()


def wall_clock() -> datetime:
    """What this machine thinks the time is; only good for comparing with the database's."""
    return datetime.now(UTC)


def warn_if_off(database_time: datetime) -> None:
    off_by = wall_clock() - database_time
    if abs(off_by) > timedelta(seconds=1):
        amount = humanize(timedelta(seconds=round(abs(off_by).total_seconds())))
        off = f"{amount} {'ahead' if off_by > timedelta(0) else 'behind'}"
        log.warning("this machine's clock is off; the database's is used", off_by=off)


class SystemClock:
    """The Clock port by this machine alone, where no database's clock counts."""

    def now(self) -> datetime:
        return wall_clock()

    async def sleep(self, duration: timedelta) -> None:
        await asyncio.sleep(max(0.0, duration.total_seconds()))
