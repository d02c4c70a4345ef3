"""What people do about notifications: channels, routes and incidents."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from uuid import UUID

from cadenza.application.incident_news import incident_event, plan_announcements
from cadenza.application.ports.notifications import ChannelSender
from cadenza.application.ports.store import Channel as Woken
from cadenza.application.ports.store import Store, Transaction
from cadenza.application.recording import created_before, record
from cadenza.domain.access import Caller
from cadenza.domain.audit import IdempotencyRecord
from cadenza.domain.definition import check_name
from cadenza.domain.delivery import Delivery
from cadenza.domain.errors import Refused
from cadenza.domain.incident import (
    Incident,
    IncidentChange,
    Severity,
    acknowledged,
    resolved,
)
from cadenza.domain.notification import MAX_CHANNELS, MAX_ROUTES, Channel, Route, check_route
from cadenza.domain.target import Secret

TEST_TITLE = "Cadenza: a test"
TEST_BODY = "This channel works. Nothing is wrong: somebody asked for this message."


class Incidents:
    def __init__(self, store: Store, zone_of: Callable[[str], tzinfo]) -> None:
        self._store = store
        self._zone_of = zone_of

    async def acknowledge(self, caller: Caller, incident_id: UUID) -> Incident:
        """Somebody is at it: no more is told of it unless it gets worse, or is over."""
        return await self._change(caller, incident_id, "acknowledged", acknowledged)

    async def resolve(self, caller: Caller, incident_id: UUID) -> Incident:
        """By hand: it stays closed until the same begins anew."""
        return await self._change(caller, incident_id, "resolved", resolved)

    async def _change(
        self,
        caller: Caller,
        incident_id: UUID,
        what: str,
        change: Callable[[Incident, datetime, str], Incident],
    ) -> Incident:
        async with self._store.transaction() as tx:
            before = await tx.lock_incident(caller.tenant_id, incident_id)
            if not before.is_open:
                return before
            now = await tx.time()
            after = change(before, now, caller.actor.public_name)
            if after == before:
                return before
            await tx.save_incidents([after])
            await record(tx, caller.actor, caller.tenant_id, f"incident.{what}", incident_id)
            await tx.add_events([incident_event(IncidentChange(after, what))])
            await plan_announcements(tx, [after], now, self._zone_of)
        return after


@dataclass(frozen=True, slots=True)
class ChannelPatch:
    name: str | None = None
    url: Secret | None = None
    enabled: bool | None = None


class Channels:
    def __init__(self, store: Store, sender: ChannelSender, new_id: Callable[[], UUID]) -> None:
        self._store = store
        self._sender = sender
        self._new_id = new_id

    async def create(
        self, caller: Caller, name: str, url: Secret, sent: IdempotencyRecord | None
    ) -> tuple[Channel, bool]:
        check_name("name", name)
        checked = await self._sender.check(url)
        channel_id = self._new_id()
        async with self._store.transaction() as tx:
            existing = await created_before(tx, caller.tenant_id, sent, channel_id)
            if existing is not None:
                return await tx.lock_channel(caller.tenant_id, existing), True
            if await tx.count_channels(caller.tenant_id) >= MAX_CHANNELS:
                raise Refused(f"a tenant has at most {MAX_CHANNELS} channels; delete one first")
            channel = Channel(
                channel_id,
                caller.tenant_id,
                name,
                checked.service,
                checked.masked_url,
                await tx.time(),
            )
            await tx.insert_channel(channel, url)
            data = {"name": name, "service": checked.service}
            await record(tx, caller.actor, caller.tenant_id, "channel.create", channel_id, data)
        return channel, False

    async def change(self, caller: Caller, channel_id: UUID, patch: ChannelPatch) -> Channel:
        if patch.name is not None:
            check_name("name", patch.name)
        checked = None if patch.url is None else await self._sender.check(patch.url)
        async with self._store.transaction() as tx:
            channel = await tx.lock_channel(caller.tenant_id, channel_id)
            changed = replace(
                channel,
                name=channel.name if patch.name is None else patch.name,
                enabled=channel.enabled if patch.enabled is None else patch.enabled,
                service=channel.service if checked is None else checked.service,
                masked_url=channel.masked_url if checked is None else checked.masked_url,
            )
            await tx.save_channel(changed, patch.url)
            fields = [
                name for name in ("name", "url", "enabled") if getattr(patch, name) is not None
            ]
            data = {"fields": fields}
            await record(tx, caller.actor, caller.tenant_id, "channel.change", channel_id, data)
            return await tx.lock_channel(caller.tenant_id, channel_id)

    async def delete(self, caller: Caller, channel_id: UUID) -> Channel:
        """With its routes; what waits for it is not sent."""
        async with self._store.transaction() as tx:
            channel = await tx.lock_channel(caller.tenant_id, channel_id)
            await tx.delete_channel(caller.tenant_id, channel_id)
            await record(tx, caller.actor, caller.tenant_id, "channel.delete", channel_id)
        return channel

    async def test(self, caller: Caller, channel_id: UUID) -> Delivery:
        """Through the outbox, as every message goes."""
        async with self._store.transaction() as tx:
            await tx.lock_channel(caller.tenant_id, channel_id)
            delivery_id = self._new_id()
            payload = {
                "title": TEST_TITLE,
                "body": f"{TEST_BODY}\n\nref {delivery_id}",
                "severity": Severity.INFO,
            }
            now = await tx.time()
            delivery = Delivery(
                delivery_id,
                caller.tenant_id,
                "test",
                TEST_TITLE,
                payload,
                now,
                now,
                channel_id=channel_id,
            )
            await send(tx, delivery)
            await record(tx, caller.actor, caller.tenant_id, "channel.test", channel_id)
        return delivery


class Routes:
    def __init__(
        self, store: Store, zone_of: Callable[[str], tzinfo], new_id: Callable[[], UUID]
    ) -> None:
        self._store = store
        self._zone_of = zone_of
        self._new_id = new_id

    async def create(
        self,
        caller: Caller,
        wanted: Callable[[UUID, datetime], Route],
        sent: IdempotencyRecord | None,
    ) -> tuple[Route, bool]:
        route_id = self._new_id()
        async with self._store.transaction() as tx:
            existing = await created_before(tx, caller.tenant_id, sent, route_id)
            if existing is not None:
                return await tx.lock_route(caller.tenant_id, existing), True
            route = wanted(route_id, await tx.time())
            self._check(route)
            if len(await tx.routes_of([caller.tenant_id])) >= MAX_ROUTES:
                raise Refused(f"a tenant has at most {MAX_ROUTES} routes; delete one first")
            await tx.insert_route(route)
            data = {"channel_id": str(route.channel_id)}
            await record(tx, caller.actor, caller.tenant_id, "route.create", route_id, data)
        return route, False

    async def change(
        self, caller: Caller, route_id: UUID, patch: Callable[[Route], Route], fields: list[str]
    ) -> Route:
        async with self._store.transaction() as tx:
            route = patch(await tx.lock_route(caller.tenant_id, route_id))
            self._check(route)
            await tx.save_route(route)
            await tx.plan_announcements_anew(route_id)
            data = {"fields": fields}
            await record(tx, caller.actor, caller.tenant_id, "route.change", route_id, data)
        return route

    async def delete(self, caller: Caller, route_id: UUID) -> Route:
        async with self._store.transaction() as tx:
            route = await tx.lock_route(caller.tenant_id, route_id)
            await tx.delete_route(caller.tenant_id, route_id)
            await record(tx, caller.actor, caller.tenant_id, "route.delete", route_id)
        return route

    def _check(self, route: Route) -> None:
        check_route(route)
        if route.quiet is not None:
            self._zone_of(route.quiet.timezone)


async def send(tx: Transaction, delivery: Delivery) -> None:
    """Into the outbox, which notifiers work off."""
    await tx.insert_deliveries([delivery])
    await tx.notify(Woken.DELIVERIES)
