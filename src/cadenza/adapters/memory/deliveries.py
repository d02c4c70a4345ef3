"""Webhooks and the outbox, in memory; and what is read of incidents, channels and routes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.adapters.memory.rows import DeliveryRow
from cadenza.adapters.memory.tables import OverTables
from cadenza.adapters.memory.writes import Writes
from cadenza.application.ports.claims import ClaimBatch, ClaimRequest
from cadenza.application.ports.notifications import (
    DeliverySearch,
    IncidentSearch,
    SettledDelivery,
)
from cadenza.domain.claiming import Candidate, fair_shares, first_of_hosts
from cadenza.domain.delivery import (
    OUTAGE,
    Delivery,
    DeliveryClaim,
    DeliveryStatus,
    Subscription,
)
from cadenza.domain.errors import AlreadyThere, NotFound
from cadenza.domain.incident import Incident
from cadenza.domain.notification import Channel, ChannelHealth, Route


class MemoryDeliveryRows(Writes):
    async def insert_subscription(self, subscription: Subscription) -> None:
        self._check_subscription(subscription)
        self._put(self._tables.subscriptions, subscription.id, subscription)

    def _check_subscription(self, subscription: Subscription) -> None:
        for other in self._tables.subscriptions.values():
            is_same = (other.tenant_id, other.name) == (subscription.tenant_id, subscription.name)
            if is_same and other.id != subscription.id:
                taken = "a webhook of that name exists; choose another"
                raise AlreadyThere("name", subscription.name, taken)
        if subscription.job_id is not None:
            try:
                self._tables.job(subscription.tenant_id, subscription.job_id)
            except NotFound as error:
                raise NotFound("no such job") from error

    async def lock_subscription(self, tenant_id: UUID, subscription_id: UUID) -> Subscription:
        return self._tables.subscription(tenant_id, subscription_id)

    async def save_subscription(self, subscription: Subscription) -> None:
        self._check_subscription(subscription)
        self._put(self._tables.subscriptions, subscription.id, subscription)

    async def delete_subscription(self, tenant_id: UUID, subscription_id: UUID) -> None:
        self._tables.subscription(tenant_id, subscription_id)
        self._delete(self._tables.subscriptions, subscription_id)
        self._delete_where(
            self._tables.deliveries, lambda _, row: row.delivery.subscription_id == subscription_id
        )

    async def count_subscriptions(self, tenant_id: UUID) -> int:
        return sum(one.tenant_id == tenant_id for one in self._tables.subscriptions.values())

    async def subscriptions_of(self, tenant_ids: Sequence[UUID]) -> Sequence[Subscription]:
        rows = self._tables.subscriptions.values()
        return [one for one in rows if one.tenant_id in tenant_ids and one.enabled]

    async def insert_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            if delivery.channel_id is not None:
                self._tables.channel(delivery.tenant_id, delivery.channel_id)
            self._put(self._tables.deliveries, delivery.id, DeliveryRow(delivery))

    async def lock_delivery(self, tenant_id: UUID, delivery_id: UUID) -> Delivery:
        return self._tables.delivery(tenant_id, delivery_id).delivery

    async def claim_deliveries(self, request: ClaimRequest) -> ClaimBatch[DeliveryClaim]:
        now, tables = self._now, self._tables
        waiting = [
            row
            for row in tables.deliveries.values()
            if row.delivery.status is DeliveryStatus.WAITING
        ]
        due = (
            Candidate(row.delivery.id, row.tenant_id, str(row.delivery.to), row.delivery.due_at)
            for row in waiting
            if row.delivery.due_at <= now + request.ahead and not row.is_leased(now)
        )
        claims = [
            self._lease_delivery(tables.deliveries[chosen.endpoint_id], request)
            for chosen in fair_shares(first_of_hosts(due, request.per_host), request)
        ]
        left = [tables.deliveries[row.delivery.id] for row in waiting]
        nexts = [max(row.delivery.due_at, row.lease_until or row.delivery.due_at) for row in left]
        later = [at for at in nexts if at > now]
        return ClaimBatch(claims, min(later, default=None), backlog=len(later) < len(nexts))

    def _lease_delivery(self, row: DeliveryRow, request: ClaimRequest) -> DeliveryClaim:
        delivery = replace(row.delivery, attempt=row.delivery.attempt + 1)
        until = self._now + request.lease
        self._put(
            self._tables.deliveries,
            delivery.id,
            DeliveryRow(delivery, epoch=row.epoch + 1, lease_until=until),
        )
        if delivery.channel_id is not None:
            channel = self._tables.channels[delivery.channel_id]
            url = self._tables.channel_urls[channel.id].value
            return DeliveryClaim(delivery, row.epoch + 1, channel.name, url)
        assert delivery.subscription_id is not None
        one = self._tables.subscriptions[delivery.subscription_id]
        return DeliveryClaim(delivery, row.epoch + 1, one.name, one.url)

    def _held_delivery(self, claim: DeliveryClaim) -> DeliveryRow | None:
        row = self._tables.deliveries.get(claim.run_id)
        if row is None or row.epoch != claim.epoch:
            return None
        return row if row.delivery.status is DeliveryStatus.WAITING else None

    async def renew_deliveries(
        self, claims: Sequence[DeliveryClaim], lease: timedelta
    ) -> frozenset[UUID]:
        held: set[UUID] = set()
        for claim in claims:
            row = self._held_delivery(claim)
            if row is not None and row.is_leased(self._now):
                changed = replace(row, lease_until=self._now + lease)
                self._put(self._tables.deliveries, claim.run_id, changed)
                held.add(claim.run_id)
        return frozenset(held)

    async def settle_deliveries(self, settled: Sequence[SettledDelivery]) -> frozenset[UUID]:
        stored: set[UUID] = set()
        for outcome in settled:
            row = self._held_delivery(outcome.claim)
            if row is None:
                continue
            is_over = outcome.status is not DeliveryStatus.WAITING
            delivery = replace(
                row.delivery,
                status=outcome.status,
                due_at=outcome.due_at,
                error=outcome.result.error,
                status_code=outcome.result.status_code,
                finished_at=self._now if is_over else None,
            )
            changed = DeliveryRow(delivery, epoch=row.epoch)
            self._put(self._tables.deliveries, delivery.id, changed)
            if outcome.result.error is None:
                self._hasten(delivery.to)
            self._note_health(delivery, outcome.result.error)
            stored.add(delivery.id)
        return frozenset(stored)

    def _hasten(self, to: UUID) -> None:
        """What waits for a receiver that took nothing for long, and now does: the oldest first."""
        tables = self._tables
        channel, webhook = tables.channels.get(to), tables.subscriptions.get(to)
        since = channel.health.failing_since if channel else webhook and webhook.failing_since
        if since is None or since >= self._now - OUTAGE:
            return
        for row in list(tables.deliveries.values()):
            delivery = row.delivery
            if (
                delivery.to == to
                and delivery.status is DeliveryStatus.WAITING
                and not row.lease_until
            ):
                sooner = replace(delivery, due_at=delivery.created_at)
                self._put(tables.deliveries, delivery.id, replace(row, delivery=sooner))

    def _note_health(self, delivery: Delivery, error: str | None) -> None:
        now, tables = self._now, self._tables
        if delivery.channel_id is not None:
            channel = tables.channels[delivery.channel_id]
            old = channel.health
            health = ChannelHealth(
                None if error is None else old.failing_since or now,
                0 if error is None else old.failures + 1,
                error,
                now if error is None else old.last_sent_at,
            )
            self._put(tables.channels, channel.id, replace(channel, health=health))
        elif delivery.subscription_id is not None:
            one = tables.subscriptions[delivery.subscription_id]
            changed = replace(
                one,
                failing_since=None if error is None else one.failing_since or now,
                last_error=error,
                last_sent_at=now if error is None else one.last_sent_at,
            )
            self._put(tables.subscriptions, one.id, changed)

    async def free_deliveries(self, claims: Sequence[DeliveryClaim]) -> None:
        for claim in claims:
            row = self._held_delivery(claim)
            if row is not None:
                delivery = replace(row.delivery, attempt=row.delivery.attempt - 1)
                freed = replace(row, delivery=delivery, lease_until=None)
                self._put(self._tables.deliveries, claim.run_id, freed)

    async def disable_failing_webhooks(
        self, failing_since_before: datetime, reason: str
    ) -> Sequence[Subscription]:
        disabled: list[Subscription] = []
        for one in list(self._tables.subscriptions.values()):
            since = one.failing_since
            if one.enabled and since is not None and since < failing_since_before:
                changed = replace(one, enabled=False, disabled_reason=reason)
                self._put(self._tables.subscriptions, one.id, changed)
                disabled.append(changed)
        return disabled


class MemoryNotificationReads(OverTables):
    async def list_incidents(self, tenant_id: UUID, search: IncidentSearch) -> Sequence[Incident]:
        rows = [
            one
            for one in self._tables.incidents.values()
            if one.tenant_id == tenant_id
            and search.is_open in (None, one.is_open)
            and search.kind in (None, one.kind)
            and search.job_id in (None, one.job_id)
            and (search.job_ids is None or one.job_id in search.job_ids)
            and (search.after is None or (one.opened_at, one.id) < search.after)
        ]
        rows.sort(key=lambda one: (one.opened_at, one.id), reverse=True)
        return rows[: search.limit]

    async def get_incident(self, tenant_id: UUID, incident_id: UUID) -> Incident:
        return self._tables.incident(tenant_id, incident_id)

    async def list_channels(self, tenant_id: UUID) -> Sequence[Channel]:
        rows = self._tables.channels.values()
        return sorted((one for one in rows if one.tenant_id == tenant_id), key=lambda one: one.name)

    async def list_routes(self, tenant_id: UUID) -> Sequence[Route]:
        rows = [one for one in self._tables.routes.values() if one.tenant_id == tenant_id]
        return sorted(rows, key=lambda one: (one.created_at, one.id))

    async def list_subscriptions(self, tenant_id: UUID) -> Sequence[Subscription]:
        rows = self._tables.subscriptions.values()
        return sorted((one for one in rows if one.tenant_id == tenant_id), key=lambda one: one.name)

    async def list_deliveries(self, tenant_id: UUID, search: DeliverySearch) -> Sequence[Delivery]:
        rows = [
            row.delivery
            for row in self._tables.deliveries.values()
            if row.tenant_id == tenant_id
            and search.channel_id in (None, row.delivery.channel_id)
            and search.subscription_id in (None, row.delivery.subscription_id)
            and search.status in (None, row.delivery.status)
            and (search.after is None or (row.delivery.created_at, row.delivery.id) < search.after)
        ]
        rows.sort(key=lambda one: (one.created_at, one.id), reverse=True)
        return rows[: search.limit]

    async def get_delivery(self, tenant_id: UUID, delivery_id: UUID) -> Delivery:
        return self._tables.delivery(tenant_id, delivery_id).delivery
