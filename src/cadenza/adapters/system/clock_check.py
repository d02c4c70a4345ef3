"""Whether this machine's clock agrees with the database's, which is the one that counts."""

from datetime import datetime, timedelta

import structlog

from cadenza.adapters.system.clock import wall_clock
from cadenza.domain.instants import humanize

log = structlog.get_logger()


def warn_if_off(database_time: datetime) -> None:
    off_by = wall_clock() - database_time
    if abs(off_by) > timedelta(seconds=1):
        amount = humanize(timedelta(seconds=round(abs(off_by).total_seconds())))
        off = f"{amount} {'ahead' if off_by > timedelta(0) else 'behind'}"
        log.warning("this machine's clock is off; the database's is used", off_by=off)
