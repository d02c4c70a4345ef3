"""Webhooks and the outbox, in a transaction: claimed, renewed and settled as runs are."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from uuid import UUID

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.notification_reads import delivery_of, subscription_of
from cadenza.adapters.postgres.notification_rows import CHANNEL_URL
from cadenza.adapters.postgres.queries import one_row, query
from cadenza.adapters.postgres.record_rows import present, translated_unique_violations
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.storable import to_json, to_text
from cadenza.application.ports.claims import ClaimBatch, ClaimRequest
from cadenza.application.ports.notifications import SettledDelivery
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.delivery import OUTAGE, Delivery, DeliveryClaim, Subscription
from cadenza.domain.errors import SecretUnreadable

IdOf = Callable[[Delivery], UUID | None]


class PostgresDeliveryRows:
    connection: Connection
    box: SecretBox

    async def insert_subscription(self, subscription: Subscription) -> None:
        async with translated_unique_violations(subscription.name), present("no such job"):
            await self.connection.execute(
                query("insert_webhook"),
                subscription.id,
                subscription.tenant_id,
                subscription.name,
                subscription.url,
                list(subscription.kinds),
                subscription.job_id,
                subscription.enabled,
                subscription.created_at,
            )

    async def lock_subscription(self, tenant_id: UUID, subscription_id: UUID) -> Subscription:
        ids = (tenant_id, subscription_id)
        return subscription_of(await one_row(self.connection, "lock_webhook", "webhook", *ids))

    async def save_subscription(self, subscription: Subscription) -> None:
        async with translated_unique_violations(subscription.name), present("no such job"):
            await self.connection.execute(
                query("save_webhook"),
                subscription.id,
                subscription.name,
                subscription.url,
                list(subscription.kinds),
                subscription.job_id,
                subscription.enabled,
                subscription.disabled_reason,
                subscription.failing_since,
                subscription.last_error,
            )

    async def delete_subscription(self, tenant_id: UUID, subscription_id: UUID) -> None:
        await one_row(self.connection, "delete_webhook", "webhook", tenant_id, subscription_id)

    async def count_subscriptions(self, tenant_id: UUID) -> int:
        return await self.connection.fetchval(query("count_webhooks"), tenant_id)

    async def subscriptions_of(self, tenant_ids: Sequence[UUID]) -> Sequence[Subscription]:
        rows = await self.connection.fetch(query("webhooks_of"), list(tenant_ids))
        return [subscription_of(row) for row in rows]

    async def insert_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        rows = [
            (
                *(delivery.id, delivery.tenant_id, delivery.kind),
                *(delivery.channel_id, delivery.subscription_id),
                *(to_text(delivery.title), to_json(delivery.payload)),
                *(delivery.created_at, delivery.due_at),
            )
            for delivery in deliveries
        ]
        columns = zip(*rows, strict=True)
        async with present("no such channel or webhook"):
            await self.connection.execute(query("insert_deliveries"), *map(list, columns))

    async def lock_delivery(self, tenant_id: UUID, delivery_id: UUID) -> Delivery:
        ids = (tenant_id, delivery_id)
        return delivery_of(await one_row(self.connection, "get_delivery", "delivery", *ids))

    async def claim_deliveries(self, request: ClaimRequest) -> ClaimBatch[DeliveryClaim]:
        hosts = {UUID(host): count for (_, host), count in request.busy_hosts.items()}
        rows = await self.connection.fetch(
            query("claim_deliveries"),
            request.limit,
            request.ahead,
            request.lease,
            request.worker,
            request.per_tenant,
            request.per_host,
            *_busy(request.busy_tenants),
            *_busy(hosts),
        )
        claims = [self._claim(row) for row in rows]
        following = await self.connection.fetchrow(query("next_delivery"))
        assert following is not None
        return ClaimBatch(claims, following["at"], backlog=following["is_backlog"])

    def _claim(self, row: Row) -> DeliveryClaim:
        delivery, url, unreadable = delivery_of(row), row["url"], None
        if row["sealed"] is not None:
            ids = {"tenant_id": delivery.tenant_id, "row_id": delivery.to}
            try:
                url = self.box.open(row["sealed"], **ids, column=CHANNEL_URL)
            except SecretUnreadable as error:
                unreadable = str(error)
        return DeliveryClaim(delivery, row["epoch"], row["to_name"] or "", url or "", unreadable)

    async def renew_deliveries(
        self, claims: Sequence[DeliveryClaim], lease: timedelta
    ) -> frozenset[UUID]:
        rows = await self.connection.fetch(query("renew_deliveries"), *_keys(claims), lease)
        return frozenset(row["id"] for row in rows)

    async def settle_deliveries(self, settled: Sequence[SettledDelivery]) -> frozenset[UUID]:
        rows = await self.connection.fetch(
            query("settle_deliveries"),
            *_keys([outcome.claim for outcome in settled]),
            [outcome.status for outcome in settled],
            [outcome.due_at for outcome in settled],
            [outcome.result.error and to_text(outcome.result.error) for outcome in settled],
            [outcome.result.status_code for outcome in settled],
        )
        stored = frozenset(row["id"] for row in rows)
        ours = [outcome for outcome in settled if outcome.claim.run_id in stored]
        taken_by = {outcome.claim.subject_id for outcome in ours if outcome.result.error is None}
        if taken_by:
            await self.connection.execute(query("hasten_deliveries"), list(taken_by), OUTAGE)
        await self._note_health("note_channel_health", ours, lambda one: one.channel_id)
        await self._note_health("note_webhook_health", ours, lambda one: one.subscription_id)
        return stored

    async def _note_health(
        self, name: str, settled: Sequence[SettledDelivery], id_of: IdOf
    ) -> None:
        errors: dict[UUID, list[str | None]] = {}
        for outcome in settled:
            to, error = id_of(outcome.claim.delivery), outcome.result.error
            if to is not None:
                errors.setdefault(to, []).append(error and to_text(error))
        if errors:
            ordered = sorted(errors)
            results = [errors[receiver] for receiver in ordered]
            await self.connection.execute(
                query(name),
                ordered,
                [some[-1] for some in results],
                [None in some for some in results],
                [_failures_at_the_end(some) for some in results],
            )

    async def free_deliveries(self, claims: Sequence[DeliveryClaim]) -> None:
        await self.connection.execute(query("free_deliveries"), *_keys(claims))

    async def disable_failing_webhooks(
        self, failing_since_before: datetime, reason: str
    ) -> Sequence[Subscription]:
        rows = await self.connection.fetch(
            query("disable_failing_webhooks"), failing_since_before, reason
        )
        return [subscription_of(row) for row in rows]


def _failures_at_the_end(errors: Sequence[str | None]) -> int:
    return len(list(takewhile(lambda error: error is not None, reversed(errors))))


def _keys(claims: Sequence[DeliveryClaim]) -> tuple[list[UUID], list[int]]:
    return [claim.run_id for claim in claims], [claim.epoch for claim in claims]


def _busy(counts: Mapping[UUID, int]) -> tuple[list[UUID], list[int]]:
    return list(counts), list(counts.values())
