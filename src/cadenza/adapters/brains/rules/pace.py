"""What a baseline comes to: the mean time between its runs over a day."""

from datetime import datetime, timedelta
from functools import lru_cache

from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import CronLine, Endpoint, Every
from cadenza.domain.errors import InvalidCron
from cadenza.domain.spending import DAY

_MOST_COUNTED = 1440


class Pace:
    def __init__(self, cron: Cron) -> None:
        self._cron = cron
        self._of_cron = lru_cache(maxsize=10_000)(self._count)  # a walk through a day costs

    def of(self, endpoint: Endpoint, now: datetime) -> timedelta | None:
        baseline = endpoint.baseline
        if isinstance(baseline, Every):
            return baseline.interval
        if isinstance(baseline, CronLine):
            midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
            return self._of_cron(baseline, midnight)
        return None

    def _count(self, line: CronLine, midnight: datetime) -> timedelta | None:
        """None where a day has no run: there is nothing that a burst could be measured by."""
        at, count = midnight, 0
        try:
            while count < _MOST_COUNTED:
                at = self._cron.next_after(line.expression, line.timezone, at)
                if at > midnight + DAY:
                    break
                count += 1
        except InvalidCron:
            return None
        return DAY / count if count else None
