"""A bucket of requests per key (or of failures per address): it refills evenly, and holds what
comes at once.

Each process keeps its own buckets. With several API processes a key may do that many times more.
"""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

MOST_KEYS = 100_000


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


@dataclass(frozen=True, slots=True)
class Allowance:
    allowed: bool
    limit: int
    left: int
    reset_seconds: int

    @property
    def headers(self) -> dict[str, str]:
        headers = {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.left),
            "RateLimit-Reset": str(self.reset_seconds),
        }
        if not self.allowed:
            headers["Retry-After"] = str(max(1, self.reset_seconds))
        return headers


class RateLimit:
    def __init__(self, per_minute: int) -> None:
        self._limit = per_minute
        self._per_second = per_minute / 60
        self._buckets: OrderedDict[Hashable, _Bucket] = OrderedDict()

    def is_allowed(self, key: Hashable, now: float) -> bool:
        """Whether one more would be; it takes nothing."""
        return key not in self._buckets or self._refilled(key, now).left >= 1

    def take(self, key: Hashable, now: float) -> Allowance:
        """One request of a key, at a time in seconds."""
        bucket = self._refilled(key, now)
        allowed = bucket.left >= 1
        if allowed:
            bucket.left -= 1
        wanting = self._limit - bucket.left if allowed else 1 - bucket.left
        return Allowance(
            allowed, self._limit, int(bucket.left), int(wanting / self._per_second) + 1
        )

    def _refilled(self, key: Hashable, now: float) -> _Bucket:
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = _Bucket(self._limit, now)
            if len(self._buckets) > MOST_KEYS:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        bucket.left = min(self._limit, bucket.left + max(0.0, now - bucket.at) * self._per_second)
        bucket.at = now
        return bucket
