"""Incidents, channels and routes, in memory."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from cadenza.adapters.memory.conditions import conditions
from cadenza.adapters.memory.writes import Writes
from cadenza.application.ports.event_log import Position
from cadenza.application.ports.notifications import Differences, DueAnnouncement, FeedEvent
from cadenza.domain.delivery import wants
from cadenza.domain.errors import AlreadyThere, NotFound
from cadenza.domain.incident import (
    BY_STATE,
    Incident,
    IncidentKey,
    IncidentKind,
    level_of,
)
from cadenza.domain.notification import Announcement, Channel, ChannelHealth, Route
from cadenza.domain.run import RunStatus, error_text
from cadenza.domain.target import Secret

WATCHED_FOR = timedelta(minutes=10)


class MemoryIncidentRows(Writes):
    async def take_feed(self, limit: int) -> Sequence[FeedEvent] | None:
        position = self._tables.feed[None]
        events = [
            FeedEvent(tenant_id, event)
            for tenant_id, own in self._tables.events.items()
            for event in own
            if event.position > position
        ]
        return sorted(events, key=lambda entry: entry.event.position)[:limit]

    async def most_receivers(self) -> int:
        tables = self._tables
        routes = Counter(one.tenant_id for one in tables.routes.values() if one.enabled)
        webhooks = Counter(one.tenant_id for one in tables.subscriptions.values() if one.enabled)
        return max([*routes.values(), *webhooks.values()], default=0)

    async def move_feed(self, position: Position) -> None:
        self._put(self._tables.feed, None, position)

    async def differences(self, kinds: Sequence[IncidentKind], limit: int) -> Differences:
        now = self._now
        holding = {
            condition.key: condition
            for condition in conditions(self._tables)
            if condition.kind in kinds
        }
        is_open = {
            incident.key: incident
            for incident in self._tables.incidents.values()
            if incident.is_open
        }
        differing = [
            condition
            for key, condition in holding.items()
            if (level := level_of(condition.kind, condition.measure)) > 0
            and (key not in is_open or is_open[key].level != level)
            and not any(
                closed.key == key
                and closed.resolved_at is not None
                and closed.resolved_at >= condition.since
                and closed.resolved_by != BY_STATE
                for closed in self._tables.incidents.values()
            )
        ]
        gone = [
            incident
            for key, incident in is_open.items()
            if (incident.ends_at is not None and incident.ends_at <= now)
            or (
                incident.kind in kinds
                and incident.kind is not IncidentKind.QUOTA
                and key not in holding
            )
        ]
        return Differences(differing[:limit], gone[:limit])

    async def lock_latest_incidents(
        self, keys: Sequence[IncidentKey]
    ) -> Mapping[IncidentKey, Incident]:
        latest: dict[IncidentKey, Incident] = {}
        for incident in self._tables.incidents.values():
            if incident.key not in keys:
                continue
            other = latest.get(incident.key)
            if other is None or (not other.is_open and _ended(incident) >= _ended(other)):
                latest[incident.key] = incident
        return latest

    async def last_errors(self, endpoint_ids: Sequence[UUID]) -> Mapping[UUID, str]:
        failed = (RunStatus.FAILURE, RunStatus.TIMEOUT)
        errors: dict[UUID, str] = {}
        for endpoint_id in endpoint_ids:
            runs = [self._tables.runs[one] for one in self._tables.runs_of[endpoint_id].values()]
            for run in sorted(runs, key=lambda run: run.slot_at):
                if run.status in failed:
                    words = (run.status_code, run.error_kind, run.error_message)
                    errors[endpoint_id] = error_text(run.status, *words)
        return errors

    async def recovered(self, endpoint_ids: Sequence[UUID]) -> frozenset[UUID]:
        endpoints = self._tables.endpoints
        known = [id_ for id_ in endpoint_ids if id_ in endpoints]
        return frozenset(id_ for id_ in known if endpoints[id_].endpoint.failure_count == 0)

    async def job_names(self, job_ids: Sequence[UUID]) -> Mapping[UUID, str]:
        jobs = self._tables.jobs
        return {job_id: jobs[job_id].job.name for job_id in job_ids if job_id in jobs}

    async def lock_incident(self, tenant_id: UUID, incident_id: UUID) -> Incident:
        return self._tables.incident(tenant_id, incident_id)

    async def save_incidents(self, incidents: Sequence[Incident]) -> None:
        for incident in incidents:
            self._put(self._tables.incidents, incident.id, incident)

    async def watch_for_webhooks(self) -> None:
        for one in self._tables.subscriptions.values():
            if wants(one, "run.finished", one.job_id):
                self._put(self._tables.watched_until, one.tenant_id, self._now + WATCHED_FOR)


def _ended(incident: Incident) -> float:
    at = incident.resolved_at
    return float("inf") if at is None else at.timestamp()


class MemoryNotificationRows(Writes):
    async def insert_channel(self, channel: Channel, url: Secret) -> None:
        self._check_channel_name(channel)
        self._put(self._tables.channels, channel.id, channel)
        self._put(self._tables.channel_urls, channel.id, url)

    def _check_channel_name(self, channel: Channel) -> None:
        for other in self._tables.channels.values():
            is_same = (other.tenant_id, other.name) == (channel.tenant_id, channel.name)
            if is_same and other.id != channel.id:
                taken = "a channel of that name exists; choose another"
                raise AlreadyThere("name", channel.name, taken)

    async def lock_channel(self, tenant_id: UUID, channel_id: UUID) -> Channel:
        return self._tables.channel(tenant_id, channel_id)

    async def save_channel(self, channel: Channel, url: Secret | None) -> None:
        self._check_channel_name(channel)
        if url is not None:
            self._put(self._tables.channel_urls, channel.id, url)
            last = channel.health.last_sent_at
            channel = replace(channel, health=ChannelHealth(last_sent_at=last))
        self._put(self._tables.channels, channel.id, channel)

    async def delete_channel(self, tenant_id: UUID, channel_id: UUID) -> None:
        tables = self._tables
        tables.channel(tenant_id, channel_id)
        self._delete(tables.channels, channel_id)
        self._delete(tables.channel_urls, channel_id)
        for route in [one for one in tables.routes.values() if one.channel_id == channel_id]:
            await self.delete_route(tenant_id, route.id)
        self._delete_where(tables.deliveries, lambda _, row: row.delivery.channel_id == channel_id)

    async def count_channels(self, tenant_id: UUID) -> int:
        return sum(one.tenant_id == tenant_id for one in self._tables.channels.values())

    async def insert_route(self, route: Route) -> None:
        self._check_route(route)
        self._put(self._tables.routes, route.id, route)

    def _check_route(self, route: Route) -> None:
        try:
            self._tables.channel(route.tenant_id, route.channel_id)
            if route.job_id is not None:
                self._tables.job(route.tenant_id, route.job_id)
        except NotFound as error:
            raise NotFound("no such channel or job") from error

    async def lock_route(self, tenant_id: UUID, route_id: UUID) -> Route:
        return self._tables.route(tenant_id, route_id)

    async def save_route(self, route: Route) -> None:
        self._check_route(route)
        self._put(self._tables.routes, route.id, route)

    async def delete_route(self, tenant_id: UUID, route_id: UUID) -> None:
        self._tables.route(tenant_id, route_id)
        self._delete(self._tables.routes, route_id)
        self._delete_where(self._tables.announcements, lambda key, _: key[0] == route_id)

    async def routes_of(self, tenant_ids: Sequence[UUID]) -> Sequence[Route]:
        routes = self._tables.routes.values()
        return [one for one in routes if one.tenant_id in tenant_ids and self._tells(one)]

    def _tells(self, route: Route) -> bool:
        return route.enabled and self._tables.channels[route.channel_id].enabled

    async def announcements_of(
        self, route_ids: Sequence[UUID], keys: Sequence[IncidentKey]
    ) -> Mapping[tuple[UUID, IncidentKey], Announcement]:
        return {
            key: announcement
            for key, announcement in self._tables.announcements.items()
            if key[0] in route_ids and key[1] in keys
        }

    async def save_announcements(
        self, announcements: Sequence[tuple[Announcement, Incident]]
    ) -> None:
        for announcement, incident in announcements:
            key = (announcement.route_id, incident.key)
            current = replace(announcement, incident_id=incident.id)
            self._put(self._tables.announcements, key, current)

    async def plan_announcements_anew(self, route_id: UUID) -> None:
        now, announcements = self._now, self._tables.announcements
        for key, one in list(announcements.items()):
            if one.route_id == route_id and one.due_at is not None:
                self._put(announcements, key, replace(one, due_at=now, not_before_at=now))

    async def take_due_announcements(self, limit: int) -> Sequence[DueAnnouncement]:
        now, tables = self._now, self._tables
        waiting = [row for row in tables.announcements.values() if row.due_at is not None]
        due = {row.route_id for row in waiting if row.due_at and row.due_at <= now}
        ready = [
            row
            for row in waiting
            if row.route_id in due and row.not_before_at and row.not_before_at <= now
        ]
        routes = {id_: tables.routes[id_] for id_ in due}
        return [
            DueAnnouncement(
                replace(routes[row.route_id], enabled=self._tells(routes[row.route_id])),
                tables.incidents[row.incident_id],
                row,
            )
            for row in ready[:limit]
        ]
