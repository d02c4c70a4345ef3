"""Webhooks: which events are sent where, and what was sent of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from cadenza.application.notifications import send
from cadenza.application.ports.store import Store
from cadenza.application.recording import created_before, record
from cadenza.domain.access import Caller
from cadenza.domain.audit import IdempotencyRecord
from cadenza.domain.definition import check_name
from cadenza.domain.delivery import (
    MAX_SUBSCRIPTIONS,
    Delivery,
    DeliveryStatus,
    Subscription,
    check_kinds,
)
from cadenza.domain.errors import Refused, caught, refuse
from cadenza.domain.instants import iso
from cadenza.domain.target import HttpTarget
from cadenza.domain.target_validation import check_http_target


@dataclass(frozen=True, slots=True)
class NewWebhook:
    name: str
    url: str
    kinds: tuple[str, ...]
    job_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class WebhookPatch:
    name: str | None = None
    url: str | None = None
    kinds: tuple[str, ...] | None = None
    enabled: bool | None = None


class Webhooks:
    def __init__(
        self, store: Store, closed_ports: frozenset[int], new_id: Callable[[], UUID]
    ) -> None:
        self._store = store
        self._closed_ports = closed_ports
        self._new_id = new_id

    async def create(
        self, caller: Caller, wanted: NewWebhook, sent: IdempotencyRecord | None
    ) -> tuple[Subscription, bool]:
        self._check(wanted.name, wanted.url, wanted.kinds)
        webhook_id = self._new_id()
        async with self._store.transaction() as tx:
            existing = await created_before(tx, caller.tenant_id, sent, webhook_id)
            if existing is not None:
                return await tx.lock_subscription(caller.tenant_id, existing), True
            if await tx.count_subscriptions(caller.tenant_id) >= MAX_SUBSCRIPTIONS:
                raise Refused(
                    f"a tenant has at most {MAX_SUBSCRIPTIONS} webhooks; delete one first"
                )
            subscription = Subscription(
                webhook_id,
                caller.tenant_id,
                wanted.name,
                wanted.url,
                await tx.time(),
                kinds=wanted.kinds,
                job_id=wanted.job_id,
            )
            await tx.insert_subscription(subscription)
            await tx.watch_for_webhooks()
            data = {"name": wanted.name, "kinds": list(wanted.kinds)}
            await record(tx, caller.actor, caller.tenant_id, "webhook.create", webhook_id, data)
        return subscription, False

    async def change(self, caller: Caller, webhook_id: UUID, patch: WebhookPatch) -> Subscription:
        async with self._store.transaction() as tx:
            before = await tx.lock_subscription(caller.tenant_id, webhook_id)
            wanted = {
                name: getattr(patch, name)
                for name in ("name", "url", "kinds", "enabled")
                if getattr(patch, name) is not None
            }
            after = replace(before, **wanted)
            self._check(after.name, after.url, after.kinds)
            if after.enabled and (not before.enabled or after.url != before.url):
                after = replace(after, disabled_reason=None, failing_since=None, last_error=None)
            await tx.save_subscription(after)
            await tx.watch_for_webhooks()
            data = {"fields": sorted(wanted)}
            await record(tx, caller.actor, caller.tenant_id, "webhook.change", webhook_id, data)
        return after

    async def delete(self, caller: Caller, webhook_id: UUID) -> Subscription:
        """With its log; what waits for it is not sent."""
        async with self._store.transaction() as tx:
            webhook = await tx.lock_subscription(caller.tenant_id, webhook_id)
            await tx.delete_subscription(caller.tenant_id, webhook_id)
            await record(tx, caller.actor, caller.tenant_id, "webhook.delete", webhook_id)
        return webhook

    async def test(self, caller: Caller, webhook_id: UUID) -> Delivery:
        async with self._store.transaction() as tx:
            await tx.lock_subscription(caller.tenant_id, webhook_id)
            now = await tx.time()
            payload: dict[str, Any] = {"type": "webhook.test", "timestamp": iso(now), "data": {}}
            delivery = Delivery(
                self._new_id(),
                caller.tenant_id,
                "test",
                "webhook.test",
                payload,
                now,
                now,
                subscription_id=webhook_id,
            )
            await send(tx, delivery)
            await record(tx, caller.actor, caller.tenant_id, "webhook.test", webhook_id)
        return delivery

    async def send_again(self, caller: Caller, delivery_id: UUID) -> Delivery:
        """The same content once more, as a delivery of its own; messages of channels, too."""
        async with self._store.transaction() as tx:
            before = await tx.lock_delivery(caller.tenant_id, delivery_id)
            now = await tx.time()
            again = replace(
                before,
                id=self._new_id(),
                created_at=now,
                due_at=now,
                status=DeliveryStatus.WAITING,
                attempt=0,
                error=None,
                status_code=None,
                finished_at=None,
            )
            await send(tx, again)
            data: dict[str, Any] = {"again_as": str(again.id)}
            await record(tx, caller.actor, caller.tenant_id, "delivery.resend", delivery_id, data)
        return again

    def _check(self, name: str, url: str, kinds: tuple[str, ...]) -> None:
        target, closed = HttpTarget(url, method="POST"), self._closed_ports
        checks: tuple[Callable[[], None], ...] = (
            lambda: check_name("name", name),
            lambda: check_kinds(kinds),
            lambda: check_http_target(target, closed_ports=closed),
        )
        refuse(error for check in checks for error in caught(check))
