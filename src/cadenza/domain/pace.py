"""The pace of a baseline: the mean time between its runs over a day."""

from datetime import datetime, timedelta
from functools import lru_cache

from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Baseline, CronLine, Endpoint, Every
from cadenza.domain.errors import InvalidCron

DAY = timedelta(days=1)


class Pace:
    def __init__(self, cron: Cron) -> None:
        self._cron = cron
        self._of_cron = lru_cache(maxsize=10_000)(self._count)  # walking through a day is slow

    def of(self, endpoint: Endpoint, now: datetime) -> timedelta | None:
        return self.of_baseline(endpoint.baseline, now)

    def of_baseline(self, baseline: Baseline, now: datetime) -> timedelta | None:
        if isinstance(baseline, Every):
            return baseline.interval
        if isinstance(baseline, CronLine):
            midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
            return self._of_cron(baseline, midnight)
        return None

    def _count(self, line: CronLine, midnight: datetime) -> timedelta | None:
        """None where a day has no run: there is nothing to measure a burst by."""
        at, count = midnight, 0
        try:
            while count < 1440:
                at = self._cron.next_after(line.expression, line.timezone, at)
                if at > midnight + DAY:
                    break
                count += 1
        except InvalidCron:
            return None
        return DAY / count if count else None
