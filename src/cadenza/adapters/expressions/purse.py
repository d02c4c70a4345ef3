"""Processor time that costly expressions may use: so much at once, and so much a second.

What takes a few milliseconds is free: it costs hardly more than the run that it judges.
"""

from collections import OrderedDict
from collections.abc import Hashable

FREE_SECONDS = 0.003
MOST_KEYS = 10_000


class Purses:
    def __init__(self, at_once: float, per_second: float) -> None:
        self._at_once = at_once
        self._per_second = per_second
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def wait(self, key: Hashable, now: float) -> float:
        """Seconds until there is some again; 0 where there is."""
        left = self._refilled(key, now)
        return 0.0 if left > 0 else -left / self._per_second + 1

    def has_spent(self, key: Hashable, now: float) -> bool:
        return key in self._left and self._refilled(key, now) < self._at_once

    def spend(self, key: Hashable, seconds: float, now: float) -> None:
        if seconds <= FREE_SECONDS:
            return
        self._left[key] = (self._refilled(key, now) - seconds, now)
        self._left.move_to_end(key)
        if len(self._left) > MOST_KEYS:
            self._left.popitem(last=False)

    def _refilled(self, key: Hashable, now: float) -> float:
        left, at = self._left.get(key, (self._at_once, now))
        return min(self._at_once, left + (now - at) * self._per_second)
