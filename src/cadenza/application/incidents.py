"""Incidents, notifications and webhook events, derived from events and the state of endpoints.

One transaction takes the next events of all tenants, compares incidents with the present state,
plans notifications, and fills the outbox. A notifier that is lost in the middle has changed
nothing; only one notifier at a time does this.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from uuid import UUID

from cadenza.application.incident_feed import (
    QUOTA,
    concerned,
    failures,
    jobs_with_limits,
    payload_of,
    quotas,
    with_error,
)
from cadenza.application.incident_news import incident_event, plan_announcements, zone_for
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.notifications import DueAnnouncement, FeedEvent
from cadenza.application.ports.store import Channel, Store, Transaction
from cadenza.application.waiting import until_set
from cadenza.domain.audit import PendingEvent
from cadenza.domain.delivery import DISABLED_AFTER, Delivery, Subscription, wants
from cadenza.domain.errors import NotFound, StoreUnavailable
from cadenza.domain.incident import (
    Condition,
    Incident,
    IncidentChange,
    IncidentKey,
    IncidentKind,
    changes,
    opened,
    resolved,
)
from cadenza.domain.instants import humanize
from cadenza.domain.message import compose
from cadenza.domain.notification import Announcement, Route, notified, planned

GATHERED = timedelta(seconds=1)
LOOK_EVERY = timedelta(seconds=2)
EVERYTHING_EVERY = timedelta(minutes=1)
REST = 5  # times as long as a look took
FEED = 1000  # events that are taken at once
AT_ONCE = 2000  # incidents that change at once
TOLD_AT_ONCE = 5_000  # of these, times the routes or webhooks of the tenant that has most
ANNOUNCED_AT_ONCE = 5000  # news that one look gathers into messages
MAX_NAMED = 100  # incidents whose ids a message carries
LONG_FAILING = f"every delivery failed for {humanize(DISABLED_AFTER)}"


@dataclass(frozen=True, slots=True)
class Looked:
    """The result of one pass."""

    is_ours: bool = True  # else another notifier was at it
    changed: int = 0
    sent: int = 0
    is_more: bool = False
    is_partial: bool = False  # of what differs from the state of things there is more


async def watch_incidents(
    watch: "IncidentWatch",
    woken: asyncio.Event,
    clock: Clock,
    on_trouble: Callable[[StoreUnavailable], None],
) -> None:
    """Run a pass after new events (at most one a second), every two seconds for what has become
    due, and a full pass every minute. Slow passes run less often, to spare the database."""
    everything_at, loop = clock.now(), asyncio.get_running_loop()
    while True:
        woken.clear()
        began = loop.time()
        try:
            is_due = clock.now() >= everything_at
            looked = await (watch.look_at_everything() if is_due else watch.look())
            if is_due and not looked.is_partial:
                everything_at = clock.now() + EVERYTHING_EVERY
            if looked.is_more:
                continue
        except StoreUnavailable as error:
            on_trouble(error)
        await clock.sleep(max(GATHERED, REST * timedelta(seconds=loop.time() - began)))
        await until_set(woken, at_most=LOOK_EVERY)


class IncidentWatch:
    def __init__(
        self,
        store: Store,
        zone_of: Callable[[str], tzinfo],
        new_id: Callable[[], UUID],
        page: str | None = None,
        told_at_once: int = TOLD_AT_ONCE,
    ) -> None:
        """`page` is the URL where people see all incidents."""
        self._store = store
        self._zone_of = zone_of
        self._new_id = new_id
        self._page = page
        self._told_at_once = told_at_once

    async def look_at_everything(self) -> Looked:
        """A pass that also covers what no event announces, such as a run that never starts."""
        async with self._store.transaction() as tx:
            await tx.watch_for_webhooks()
            long_ago = await tx.time() - DISABLED_AFTER
            disabled = await tx.disable_failing_webhooks(long_ago, LONG_FAILING)
            if disabled:
                data = [{"webhook_id": str(one.id), "name": one.name} for one in disabled]
                events = [
                    PendingEvent("webhook.disabled", one.tenant_id, None, None, own)
                    for one, own in zip(disabled, data, strict=True)
                ]
                await tx.add_events(events)
        return await self.look(tuple(IncidentKind))

    async def look(self, kinds: Iterable[IncidentKind] = ()) -> Looked:
        """A pass over the next events, and over incidents of these kinds."""
        try:
            return await self._look(kinds)
        except NotFound:  # a tenant, a route or a receiver was deleted while we looked
            return Looked(is_partial=True)

    async def _look(self, kinds: Iterable[IncidentKind]) -> Looked:
        async with self._store.transaction() as tx:
            at_once = max(1, self._told_at_once // max(1, await tx.most_receivers()))
            feed = await tx.take_feed(min(FEED, at_once))
            if feed is None:
                return Looked(is_ours=False)
            now = await tx.time()
            looked_at = {*kinds, *concerned(feed)}
            made, is_partial = await self._changes(tx, feed, looked_at, now, min(AT_ONCE, at_once))
            if made:
                await self._keep(tx, made, now)
            sent = await self._send_events(tx, feed, now) + await self._announce(tx, now)
            if feed:
                await tx.move_feed(feed[-1].event.position)
            if sent:
                await tx.notify(Channel.DELIVERIES)
        is_more = is_partial or len(feed) == min(FEED, at_once)
        return Looked(True, len(made), sent, is_more, is_partial)

    # --- Incidents ------------------------------------------------------------------------

    async def _changes(
        self,
        tx: Transaction,
        feed: Sequence[FeedEvent],
        kinds: set[IncidentKind],
        now: datetime,
        at_most: int,
    ) -> tuple[list[IncidentChange], bool]:
        if not kinds and not any(entry.event.kind in QUOTA for entry in feed):
            return [], False
        differing = await tx.differences(sorted(kinds), at_most)
        jobs = jobs_with_limits(feed)
        names = await tx.job_names(jobs) if jobs else dict[UUID, str]()
        conditions = [*differing.conditions, *quotas(feed, names)]
        over = await self._over_already(tx, feed, conditions, now)
        keys = {condition.key for condition in [*conditions, *(blip for blip, _ in over)]}
        latest = (
            await tx.lock_latest_incidents(list(keys)) if keys else dict[IncidentKey, Incident]()
        )
        failing = [
            condition.endpoint_id
            for condition in [*conditions, *(blip for blip, _ in over)]
            if condition.kind is IncidentKind.FAILING and condition.endpoint_id is not None
        ]
        errors = await tx.last_errors(failing) if failing else dict[UUID, str]()
        conditions = [with_error(condition, errors) for condition in conditions]
        ids = [self._new_id() for _ in conditions]
        made = changes(conditions, latest, differing.gone, now, ids)
        made += self._ended_already(
            [(with_error(condition, errors), at) for condition, at in over], latest
        )
        return made, at_most in (len(differing.conditions), len(differing.gone))

    async def _over_already(
        self,
        tx: Transaction,
        feed: Sequence[FeedEvent],
        conditions: Sequence[Condition],
        now: datetime,
    ) -> list[tuple[Condition, datetime]]:
        """What failed and has recovered since, though the event that says so may come later. Asked
        after the conditions: what recovers in between has its incident by them."""
        lasting = {condition.key for condition in conditions}
        failed = [(one, at) for one, at in failures(feed) if one.key not in lasting]
        ids = [condition.endpoint_id for condition, _ in failed if condition.endpoint_id]
        well = await tx.recovered(ids) if ids else frozenset[UUID]()
        return [(one, at or now) for one, at in failed if one.endpoint_id in well]

    def _ended_already(
        self,
        blips: Sequence[tuple[Condition, datetime]],
        latest: Mapping[IncidentKey, Incident],
    ) -> list[IncidentChange]:
        """A failure that ended before this pass is still an incident."""
        made: list[IncidentChange] = []
        for blip, ended_at in blips:
            before = latest.get(blip.key)
            is_known = before is not None and (
                before.resolved_at is None or before.resolved_at >= blip.since
            )
            if not is_known:
                incident = opened(blip, before, ended_at, self._new_id())
                made.append(IncidentChange(resolved(incident, ended_at), "resolved"))
        return made

    async def _keep(self, tx: Transaction, made: Sequence[IncidentChange], now: datetime) -> None:
        await tx.save_incidents([change.incident for change in made])
        await tx.add_events([incident_event(change) for change in made])
        await plan_announcements(tx, [change.incident for change in made], now, self._zone_of)

    # --- Outbox ---------------------------------------------------------------------------

    async def _send_events(self, tx: Transaction, feed: Sequence[FeedEvent], now: datetime) -> int:
        tenants = {entry.tenant_id for entry in feed}
        subscriptions = (
            await tx.subscriptions_of(list(tenants)) if tenants else list[Subscription]()
        )
        deliveries = [
            Delivery(
                self._new_id(),
                entry.tenant_id,
                "event",
                entry.event.kind,
                payload_of(entry),
                now,
                now,
                subscription_id=subscription.id,
            )
            for entry in feed
            for subscription in subscriptions
            if subscription.tenant_id == entry.tenant_id
            and wants(subscription, entry.event.kind, entry.event.job_id)
        ]
        if deliveries:
            await tx.insert_deliveries(deliveries)
        return len(deliveries)

    async def _announce(self, tx: Transaction, now: datetime) -> int:
        """One message per route for everything it has to announce now."""
        by_route = defaultdict[UUID, list[DueAnnouncement]](list)
        for due in await tx.take_due_announcements(ANNOUNCED_AT_ONCE):
            by_route[due.route.id].append(due)
        deliveries: list[Delivery] = []
        saved: list[tuple[Announcement, Incident]] = []
        for of_route in by_route.values():
            incidents: list[Incident] = []
            for due in of_route:
                again, is_news = self._judge(due, now)
                saved.append((again, due.incident))
                if is_news:
                    incidents.append(due.incident)
            if incidents:
                deliveries.append(self._message(of_route[0].route, incidents, now))
        if saved:
            await tx.save_announcements(saved)
        if deliveries:
            await tx.insert_deliveries(deliveries)
        return len(deliveries)

    def _judge(self, due: DueAnnouncement, now: datetime) -> tuple[Announcement, bool]:
        """Plan again: incident and route may have changed since."""
        route, incident = due.route, due.incident
        again = planned(
            route, incident, due.announcement, now, zone_for(route.quiet, self._zone_of)
        )
        if again.not_before_at is None or again.not_before_at > now:
            return again, False
        return notified(again, incident, now), True

    def _message(self, route: Route, incidents: Sequence[Incident], now: datetime) -> Delivery:
        delivery_id = self._new_id()
        message = compose(incidents, str(delivery_id), now, self._page)
        payload = {
            "title": message.title,
            "body": message.body,
            "severity": message.severity,
            "incident_ids": [str(incident.id) for incident in incidents[:MAX_NAMED]],
        }
        return Delivery(
            delivery_id,
            route.tenant_id,
            "notification",
            message.title,
            payload,
            now,
            now,
            route.channel_id,
        )
