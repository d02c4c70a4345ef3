"""How failures and crowds move a schedule. Jitter comes from ids, so a slot always has the same."""

from datetime import datetime, timedelta
from hashlib import blake2b
from uuid import UUID

MAX_DOUBLINGS = 5


def backed_off(interval: timedelta, failures: int) -> timedelta:
    """The interval doubled for each consecutive failure, at most five times."""
    return interval * 2 ** min(failures, MAX_DOUBLINGS)


def phase(endpoint_id: UUID, interval: timedelta, spread: timedelta) -> timedelta:
    """Where in its interval a new endpoint starts, so that many made at once do not collide."""
    return _share(endpoint_id.bytes) * min(spread, interval / 10)


def jitter(
    endpoint_id: UUID, slot_at: datetime, interval: timedelta, spread: timedelta
) -> timedelta:
    """How much later a backed-off slot is: what failed together does not return together."""
    seed = endpoint_id.bytes + slot_at.isoformat().encode()
    most = min(spread, interval / 10)
    # In whole milliseconds, as the record of a plan keeps it.
    return timedelta(milliseconds=_share(seed) * most // timedelta(milliseconds=1))


def _share(seed: bytes) -> float:
    """A number from 0 to just below 1."""
    return int.from_bytes(blake2b(seed, digest_size=6).digest()) / 2**48
