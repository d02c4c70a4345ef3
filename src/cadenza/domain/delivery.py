"""Deliveries: a message to a channel or an event to a webhook, tried until it arrives.

At least once, always under the same id: a notifier that is lost between sending and storing that
it sent is followed by another, which sends again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from cadenza.domain.errors import InvalidInput

FIRST_RETRY = timedelta(seconds=15)
LONGEST_RETRY = {"notification": timedelta(minutes=30), "event": timedelta(hours=4)}
MAX_ATTEMPTS = {"notification": 24, "event": 12, "test": 1}  # some eight hours, but for a test
OUTAGE = timedelta(
    minutes=5
)  # a receiver that took nothing for so long: what waits is not to blame
DISABLED_AFTER = timedelta(days=3)  # that every delivery of a webhook failed
MAX_ERROR = 500
MAX_SUBSCRIPTIONS = 100
MAX_KINDS = 50
ALL = "*"


class DeliveryStatus(StrEnum):
    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Subscription:
    """An outbound webhook: which events are sent where."""

    id: UUID
    tenant_id: UUID
    name: str
    url: str
    created_at: datetime
    kinds: tuple[str, ...] = (ALL,)  # run.failed, or run.* for all that begin so
    job_id: UUID | None = None
    enabled: bool = True
    failing_since: datetime | None = None
    last_error: str | None = None
    last_sent_at: datetime | None = None
    disabled_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    id: UUID
    tenant_id: UUID
    kind: str  # notification, event or test
    title: str  # a message's, or an event's kind
    payload: dict[str, Any]
    created_at: datetime
    due_at: datetime
    channel_id: UUID | None = None
    subscription_id: UUID | None = None
    status: DeliveryStatus = DeliveryStatus.WAITING
    attempt: int = 0  # that were begun
    error: str | None = None
    status_code: int | None = None
    finished_at: datetime | None = None

    @property
    def to(self) -> UUID:
        to = self.channel_id or self.subscription_id
        assert to is not None
        return to


@dataclass(frozen=True, slots=True)
class DeliveryClaim:
    """What a notifier may send until its lease ends; the epoch fences its result."""

    delivery: Delivery
    epoch: int
    name: str  # of channel or webhook
    url: str = field(repr=False)  # a channel's is secret
    unreadable: str | None = None  # why that does not open

    @property
    def run_id(self) -> UUID:
        return self.delivery.id

    @property
    def tenant_id(self) -> UUID:
        return self.delivery.tenant_id

    @property
    def subject_id(self) -> UUID:
        return self.delivery.to

    @property
    def subject_name(self) -> str:
        return self.name

    @property
    def host(self) -> str:
        """One that hangs holds up nobody but itself."""
        return str(self.delivery.to)

    @property
    def slot_at(self) -> datetime:
        return self.delivery.due_at

    @property
    def attempt(self) -> int:
        return self.delivery.attempt

    @property
    def must_close(self) -> bool:
        return False  # it is sent again


@dataclass(frozen=True, slots=True)
class Attempt:
    """How sending ended; no error where it was taken."""

    error: str | None = None
    status_code: int | None = None
    is_final: bool = False  # trying again will not help


@dataclass(frozen=True, slots=True)
class FinishedDelivery:
    claim: DeliveryClaim
    result: Attempt

    @property
    def status(self) -> str:
        return "delivered" if self.result.error is None else "failed"


def retry_at(delivery: Delivery, attempt: Attempt, now: datetime) -> datetime | None:
    """When it is tried again; None where it was taken, or is given up."""
    if attempt.error is None or attempt.is_final:
        return None
    if delivery.attempt >= MAX_ATTEMPTS[delivery.kind]:
        return None
    doubled = FIRST_RETRY * 2 ** min(max(delivery.attempt - 1, 0), 12)
    return now + min(doubled, LONGEST_RETRY[delivery.kind])


def wants(subscription: Subscription, kind: str, job_id: UUID | None) -> bool:
    if not subscription.enabled or subscription.job_id not in (None, job_id):
        return False
    return any(_fits(pattern, kind) for pattern in subscription.kinds)


def _fits(pattern: str, kind: str) -> bool:
    if pattern.endswith(ALL):
        return kind.startswith(pattern[:-1])
    return pattern == kind


def check_kinds(kinds: Sequence[str]) -> None:
    if not 1 <= len(kinds) <= MAX_KINDS:
        raise InvalidInput("kinds", list(kinds), f"from 1 to {MAX_KINDS} kinds of events")
    for number, kind in enumerate(kinds):
        bare = kind.removesuffix(ALL)
        is_word = bool(bare) and all(char.isalnum() or char in "._-" for char in bare)
        if len(kind) > 60 or not kind.isascii() or not (is_word or kind == ALL):
            raise InvalidInput(f"kinds[{number}]", kind, "a kind such as run.failed, run.* or *")
