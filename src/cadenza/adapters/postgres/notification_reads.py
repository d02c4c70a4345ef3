"""Incidents, channels, routes, webhooks and deliveries, as they are read."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from cadenza.adapters.postgres.database import OverDatabase
from cadenza.adapters.postgres.queries import one_row, query
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.storable import from_json, listed
from cadenza.application.ports.notifications import DeliverySearch, IncidentSearch
from cadenza.domain.delivery import Delivery, DeliveryStatus, Subscription
from cadenza.domain.incident import Incident, IncidentKind, Severity
from cadenza.domain.notification import Channel, ChannelHealth, QuietHours, Route


class PostgresNotificationReads(OverDatabase):
    async def list_incidents(self, tenant_id: UUID, search: IncidentSearch) -> Sequence[Incident]:
        wanted = (search.is_open, search.kind, search.job_id)
        rows = await self._database.fetch(
            query("list_incidents"),
            tenant_id,
            *wanted,
            *(search.after or (None, None)),
            search.limit,
            listed(search.job_ids),
        )
        return [incident_of(row) for row in rows]

    async def get_incident(self, tenant_id: UUID, incident_id: UUID) -> Incident:
        row = await one_row(self._database, "get_incident", "incident", tenant_id, incident_id)
        return incident_of(row)

    async def list_channels(self, tenant_id: UUID) -> Sequence[Channel]:
        rows = await self._database.fetch(query("list_channels"), tenant_id)
        return [channel_of(row) for row in rows]

    async def list_routes(self, tenant_id: UUID) -> Sequence[Route]:
        rows = await self._database.fetch(query("list_routes"), tenant_id)
        return [route_of(row) for row in rows]

    async def list_subscriptions(self, tenant_id: UUID) -> Sequence[Subscription]:
        rows = await self._database.fetch(query("list_webhooks"), tenant_id)
        return [subscription_of(row) for row in rows]

    async def list_deliveries(self, tenant_id: UUID, search: DeliverySearch) -> Sequence[Delivery]:
        wanted = (search.channel_id, search.subscription_id, search.status)
        rows = await self._database.fetch(
            query("list_deliveries"),
            tenant_id,
            *wanted,
            *(search.after or (None, None)),
            search.limit,
        )
        return [delivery_of(row) for row in rows]

    async def failing_receivers(self) -> Sequence[tuple[str, str, str, str | None]]:
        """Of the installation, for its doctor: what, whose, its name, and why."""
        rows = await self._database.fetch(query("failing_receivers"))
        return [(row["what"], row["tenant"], row["name"], row["error"]) for row in rows]

    async def get_delivery(self, tenant_id: UUID, delivery_id: UUID) -> Delivery:
        row = await one_row(self._database, "get_delivery", "delivery", tenant_id, delivery_id)
        return delivery_of(row)


def incident_of(row: Row) -> Incident:
    return Incident(
        id=row["id"],
        tenant_id=row["tenant_id"],
        kind=IncidentKind(row["kind"]),
        subject=row["subject"],
        name=row["name"],
        level=row["level"],
        severity=Severity(row["severity"]),
        opened_at=row["opened_at"],
        updated_at=row["updated_at"],
        detail=row["detail"],
        measure=row["measure"],
        job_id=row["job_id"],
        endpoint_id=row["endpoint_id"],
        times=row["times"],
        ends_at=row["ends_at"],
        acknowledged_at=row["acknowledged_at"],
        acknowledged_by=row["acknowledged_by"],
        resolved_at=row["resolved_at"],
        resolved_by=row["resolved_by"],
    )


def channel_of(row: Row) -> Channel:
    health = ChannelHealth(
        row["failing_since"], row["failures"], row["last_error"], row["last_sent_at"]
    )
    return Channel(
        row["id"],
        row["tenant_id"],
        row["name"],
        row["service"],
        row["shown"],
        row["created_at"],
        row["enabled"],
        health,
    )


def route_of(row: Row) -> Route:
    quiet = None
    if row["quiet_from"] is not None:
        quiet = QuietHours(row["quiet_from"], row["quiet_to"], row["quiet_timezone"])
    return Route(
        row["id"],
        row["tenant_id"],
        row["channel_id"],
        row["created_at"],
        job_id=row["job_id"],
        kinds=frozenset(map(IncidentKind, row["kinds"])),
        min_severity=Severity(row["min_severity"]),
        quiet=quiet,
        critical_passes=row["critical_passes"],
        group=timedelta(milliseconds=row["group_ms"]),
        cooldown=timedelta(milliseconds=row["cooldown_ms"]),
        tells_recovery=row["tells_recovery"],
        enabled=row["enabled"],
    )


def subscription_of(row: Row) -> Subscription:
    return Subscription(
        row["id"],
        row["tenant_id"],
        row["name"],
        row["url"],
        row["created_at"],
        kinds=tuple(row["kinds"]),
        job_id=row["job_id"],
        enabled=row["enabled"],
        failing_since=row["failing_since"],
        last_error=row["last_error"],
        last_sent_at=row["last_sent_at"],
        disabled_reason=row["disabled_reason"],
    )


def delivery_of(row: Row) -> Delivery:
    return Delivery(
        row["id"],
        row["tenant_id"],
        row["kind"],
        row["title"],
        from_json(row["payload"]),
        row["created_at"],
        row["due_at"],
        row["channel_id"],
        row["subscription_id"],
        status=DeliveryStatus(row["status"]),
        attempt=row["attempt"],
        error=row["error"],
        status_code=row["status_code"],
        finished_at=row["finished_at"],
    )
