"""Incidents, whom they are told to, and what is sent: a transaction's verbs, and what is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from cadenza.application.ports.claims import ClaimBatch, ClaimRequest
from cadenza.application.ports.event_log import Position, StoredEvent
from cadenza.application.ports.search_result import TimeCursor
from cadenza.domain.delivery import (
    Attempt,
    Delivery,
    DeliveryClaim,
    DeliveryStatus,
    Subscription,
)
from cadenza.domain.incident import Condition, Incident, IncidentKey, IncidentKind
from cadenza.domain.message import Message
from cadenza.domain.notification import Announcement, Channel, Route
from cadenza.domain.target import Secret


@dataclass(frozen=True, slots=True)
class FeedEvent:
    tenant_id: UUID
    event: StoredEvent


@dataclass(frozen=True, slots=True)
class Differences:
    """Where incidents are not as the state of things: some at a time."""

    conditions: Sequence[Condition]  # without an open incident, or with one of another level
    gone: Sequence[Incident]  # open, but what they are about is over; locked


@dataclass(frozen=True, slots=True)
class DueAnnouncement:
    route: Route
    incident: Incident
    announcement: Announcement


@dataclass(frozen=True, slots=True)
class SettledDelivery:
    claim: DeliveryClaim
    result: Attempt
    status: DeliveryStatus
    due_at: datetime  # again, where it still waits


class IncidentRows(Protocol):
    """Set-based: each is a statement or two, however many there are."""

    async def take_feed(self, limit: int) -> Sequence[FeedEvent] | None:
        """The next events of all tenants, in their order. Nobody else takes any until this
        transaction has ended; None where somebody else is at it."""
        ...

    async def most_receivers(self) -> int:
        """How many routes, or webhooks, the tenant has that has most."""
        ...

    async def move_feed(self, position: Position) -> None: ...

    async def differences(self, kinds: Sequence[IncidentKind], limit: int) -> Differences: ...

    async def lock_latest_incidents(
        self, keys: Sequence[IncidentKey]
    ) -> Mapping[IncidentKey, Incident]:
        """The open one of each subject, or else the last."""
        ...

    async def last_errors(self, endpoint_ids: Sequence[UUID]) -> Mapping[UUID, str]:
        """What the last run of each said that failed, in brief."""
        ...

    async def recovered(self, endpoint_ids: Sequence[UUID]) -> frozenset[UUID]:
        """Those that do not fail now."""
        ...

    async def job_names(self, job_ids: Sequence[UUID]) -> Mapping[UUID, str]:
        """Of those that are there."""
        ...

    async def lock_incident(self, tenant_id: UUID, incident_id: UUID) -> Incident: ...

    async def save_incidents(self, incidents: Sequence[Incident]) -> None: ...

    async def watch_for_webhooks(self) -> None:
        """Runs that end well are events where a webhook wants them; for ten minutes."""
        ...


class NotificationRows(Protocol):
    async def insert_channel(self, channel: Channel, url: Secret) -> None: ...

    async def lock_channel(self, tenant_id: UUID, channel_id: UUID) -> Channel: ...

    async def save_channel(self, channel: Channel, url: Secret | None) -> None:
        """Its health stays; None: so does its URL."""
        ...

    async def delete_channel(self, tenant_id: UUID, channel_id: UUID) -> None:
        """With its routes and deliveries."""
        ...

    async def count_channels(self, tenant_id: UUID) -> int: ...

    async def insert_route(self, route: Route) -> None:
        """NotFound where the tenant has no such channel or job."""
        ...

    async def lock_route(self, tenant_id: UUID, route_id: UUID) -> Route: ...

    async def save_route(self, route: Route) -> None: ...

    async def delete_route(self, tenant_id: UUID, route_id: UUID) -> None: ...

    async def routes_of(self, tenant_ids: Sequence[UUID]) -> Sequence[Route]:
        """With a channel that is enabled."""
        ...

    async def announcements_of(
        self, route_ids: Sequence[UUID], keys: Sequence[IncidentKey]
    ) -> Mapping[tuple[UUID, IncidentKey], Announcement]: ...

    async def save_announcements(
        self, announcements: Sequence[tuple[Announcement, Incident]]
    ) -> None: ...

    async def plan_announcements_anew(self, route_id: UUID) -> None:
        """What it has yet to tell is judged at the next look: it may be held no longer."""
        ...

    async def take_due_announcements(self, limit: int) -> Sequence[DueAnnouncement]:
        """Of routes that have something to tell now: all that may be told with it."""
        ...


class DeliveryRows(Protocol):
    async def insert_subscription(self, subscription: Subscription) -> None: ...

    async def lock_subscription(self, tenant_id: UUID, subscription_id: UUID) -> Subscription: ...

    async def save_subscription(self, subscription: Subscription) -> None: ...

    async def delete_subscription(self, tenant_id: UUID, subscription_id: UUID) -> None: ...

    async def count_subscriptions(self, tenant_id: UUID) -> int: ...

    async def subscriptions_of(self, tenant_ids: Sequence[UUID]) -> Sequence[Subscription]:
        """Those that are enabled."""
        ...

    async def insert_deliveries(self, deliveries: Sequence[Delivery]) -> None: ...

    async def lock_delivery(self, tenant_id: UUID, delivery_id: UUID) -> Delivery: ...

    async def claim_deliveries(self, request: ClaimRequest) -> ClaimBatch[DeliveryClaim]:
        """Lease what is due, also what a lost notifier had; within the limits of tenants and of
        each channel and webhook."""
        ...

    async def renew_deliveries(
        self, claims: Sequence[DeliveryClaim], lease: timedelta
    ) -> frozenset[UUID]: ...

    async def settle_deliveries(self, settled: Sequence[SettledDelivery]) -> frozenset[UUID]:
        """Those that were still ours; also notes how channels and webhooks do."""
        ...

    async def free_deliveries(self, claims: Sequence[DeliveryClaim]) -> None:
        """Nothing was sent."""
        ...

    async def disable_failing_webhooks(
        self, failing_since_before: datetime, reason: str
    ) -> Sequence[Subscription]: ...


@dataclass(frozen=True, slots=True)
class IncidentSearch:
    is_open: bool | None = None
    kind: IncidentKind | None = None
    job_id: UUID | None = None
    after: TimeCursor | None = None
    limit: int = 50
    job_ids: frozenset[UUID] | None = None  # of whom may see these alone


@dataclass(frozen=True, slots=True)
class DeliverySearch:
    channel_id: UUID | None = None
    subscription_id: UUID | None = None
    status: DeliveryStatus | None = None
    after: TimeCursor | None = None
    limit: int = 50


class NotificationReads(Protocol):
    async def list_incidents(
        self, tenant_id: UUID, search: IncidentSearch
    ) -> Sequence[Incident]: ...

    async def get_incident(self, tenant_id: UUID, incident_id: UUID) -> Incident: ...

    async def list_channels(self, tenant_id: UUID) -> Sequence[Channel]:
        """By name."""
        ...

    async def list_routes(self, tenant_id: UUID) -> Sequence[Route]:
        """The oldest first."""
        ...

    async def list_subscriptions(self, tenant_id: UUID) -> Sequence[Subscription]:
        """By name."""
        ...

    async def list_deliveries(
        self, tenant_id: UUID, search: DeliverySearch
    ) -> Sequence[Delivery]: ...

    async def get_delivery(self, tenant_id: UUID, delivery_id: UUID) -> Delivery: ...


@dataclass(frozen=True, slots=True)
class CheckedUrl:
    service: str
    masked_url: str  # without what is secret


class ChannelSender(Protocol):
    """Whatever knows the services that messages go to."""

    async def check(self, url: Secret) -> CheckedUrl:
        """InvalidInput where no message can go there."""
        ...

    async def send(self, url: Secret, message: Message) -> Attempt:
        """Within its time; what goes wrong is a result, and says nothing secret."""
        ...
