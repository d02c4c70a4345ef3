"""Signing keys: which of a tenant's keys sign at an instant, and how one follows another.

A new key signs at once. The one before it signs beside it until its end, so that receivers can
change over in between; there are never more than two, and at every instant at least one.
"""

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.domain.errors import InvalidInput, Refused
from cadenza.domain.instants import iso
from cadenza.domain.target import Secret

PREFIX = "whsec_"
SECRET_BYTES = 32
DEFAULT_OVERLAP = timedelta(days=1)
MAX_OVERLAP = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class SigningKey:
    id: UUID
    tenant_id: UUID
    secret: Secret  # `whsec_` and base64, as receivers get it
    created_at: datetime
    retires_at: datetime | None = None  # signs until then; None: until another takes its place

    def signs_at(self, at: datetime) -> bool:
        return self.created_at <= at and (self.retires_at is None or at < self.retires_at)


def keys_that_sign(keys: Iterable[SigningKey], at: datetime) -> Sequence[SigningKey]:
    """Those whose signatures a message carries, the newest first."""
    signing = [key for key in keys if key.signs_at(at)]
    return sorted(signing, key=lambda key: key.created_at, reverse=True)[:2]


def retirement(ends: Sequence[datetime | None], now: datetime, overlap: timedelta) -> datetime:
    """When the keys with these ends stop signing, once a new one is made now.

    A third key is refused: it would end one early that receivers may still count on. Without an
    overlap all end at once, which is what a leaked key needs.
    """
    if not timedelta(0) <= overlap <= MAX_OVERLAP:
        raise InvalidInput("overlap", str(overlap), f"from 0 to {MAX_OVERLAP.days} days")
    alive = [end for end in ends if end is None or end > now]
    if overlap and len(alive) > 1:
        until = min(end for end in alive if end is not None)
        raise Refused(
            f"Two keys sign already, the older one until {iso(until)}. Wait for that, or make the "
            "new key without an overlap, which ends both at once."
        )
    return now + overlap


def secret_from(raw: bytes) -> Secret:
    return Secret(PREFIX + base64.b64encode(raw).decode())
