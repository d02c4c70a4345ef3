"""Channels, routes and what they have told, in a transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.notification_reads import channel_of, incident_of, route_of
from cadenza.adapters.postgres.queries import one_row, query
from cadenza.adapters.postgres.record_rows import present, translated_unique_violations
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.storable import from_json, to_json
from cadenza.application.ports.notifications import DueAnnouncement
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.incident import Incident, IncidentKey, IncidentKind
from cadenza.domain.instants import from_iso, iso, milliseconds
from cadenza.domain.notification import Announcement, Channel, Route
from cadenza.domain.target import Secret

CHANNEL_URL = "notification_channels.sealed"


class PostgresNotificationRows:
    connection: Connection
    box: SecretBox

    async def insert_channel(self, channel: Channel, url: Secret) -> None:
        sealed = self._sealed(channel, url)
        async with translated_unique_violations(channel.name):
            await self.connection.execute(
                query("insert_channel"),
                channel.id,
                channel.tenant_id,
                channel.name,
                channel.service,
                channel.masked_url,
                sealed,
                channel.enabled,
                channel.created_at,
            )

    async def lock_channel(self, tenant_id: UUID, channel_id: UUID) -> Channel:
        ids = (tenant_id, channel_id)
        return channel_of(await one_row(self.connection, "lock_channel", "channel", *ids))

    async def save_channel(self, channel: Channel, url: Secret | None) -> None:
        sealed = None if url is None else self._sealed(channel, url)
        async with translated_unique_violations(channel.name):
            await self.connection.execute(
                query("save_channel"),
                channel.id,
                channel.name,
                channel.service,
                channel.masked_url,
                sealed,
                channel.enabled,
            )

    async def delete_channel(self, tenant_id: UUID, channel_id: UUID) -> None:
        await one_row(self.connection, "delete_channel", "channel", tenant_id, channel_id)

    async def count_channels(self, tenant_id: UUID) -> int:
        return await self.connection.fetchval(query("count_channels"), tenant_id)

    def _sealed(self, channel: Channel, url: Secret) -> str:
        ids = {"tenant_id": channel.tenant_id, "row_id": channel.id}
        return self.box.seal(url.value, **ids, column=CHANNEL_URL)

    async def insert_route(self, route: Route) -> None:
        async with present("no such channel or job"):
            await self.connection.execute(query("insert_route"), *_route_values(route))

    async def lock_route(self, tenant_id: UUID, route_id: UUID) -> Route:
        return route_of(await one_row(self.connection, "lock_route", "route", tenant_id, route_id))

    async def save_route(self, route: Route) -> None:
        async with present("no such channel or job"):
            await self.connection.execute(query("save_route"), *_route_values(route))

    async def delete_route(self, tenant_id: UUID, route_id: UUID) -> None:
        await one_row(self.connection, "delete_route", "route", tenant_id, route_id)

    async def routes_of(self, tenant_ids: Sequence[UUID]) -> Sequence[Route]:
        rows = await self.connection.fetch(query("routes_of"), list(tenant_ids))
        return [route_of(row) for row in rows]

    async def announcements_of(
        self, route_ids: Sequence[UUID], keys: Sequence[IncidentKey]
    ) -> Mapping[tuple[UUID, IncidentKey], Announcement]:
        kinds, subjects = [kind for _, kind, _ in keys], [subject for *_, subject in keys]
        rows = await self.connection.fetch(
            query("announcements_of"), list(route_ids), kinds, subjects
        )
        return {_key(row): _announcement(row) for row in rows}

    async def save_announcements(
        self, announcements: Sequence[tuple[Announcement, Incident]]
    ) -> None:
        rows = [
            (
                *(announcement.route_id, incident.kind, incident.subject),
                *(incident.tenant_id, incident.id),
                to_json({state: iso(at) for state, at in announcement.notified_at.items()}),
                *(announcement.notified_state, announcement.due_at, announcement.not_before_at),
            )
            for announcement, incident in announcements
        ]
        columns = zip(*rows, strict=True)
        async with present("no such route or incident"):
            await self.connection.execute(query("save_announcements"), *map(list, columns))

    async def plan_announcements_anew(self, route_id: UUID) -> None:
        await self.connection.execute(query("plan_announcements_anew"), route_id)

    async def take_due_announcements(self, limit: int) -> Sequence[DueAnnouncement]:
        rows = await self.connection.fetch(query("due_announcements"), limit)
        if not rows:
            return []
        incident_rows = await self.connection.fetch(
            query("get_incidents"), list({row["incident_id"] for row in rows})
        )
        incidents = {row["id"]: incident_of(row) for row in incident_rows}
        routes = await self._routes({row["route_id"] for row in rows})
        return [
            DueAnnouncement(
                routes[row["route_id"]], incidents[row["incident_id"]], _announcement(row)
            )
            for row in rows
            if row["route_id"] in routes and row["incident_id"] in incidents
        ]

    async def _routes(self, ids: set[UUID]) -> dict[UUID, Route]:
        rows = await self.connection.fetch(query("get_routes"), list(ids))
        return {row["id"]: replace(route_of(row), enabled=row["tells"]) for row in rows}


def _key(row: Row) -> tuple[UUID, IncidentKey]:
    return row["route_id"], (row["tenant_id"], IncidentKind(row["kind"]), row["subject"])


def _announcement(row: Row) -> Announcement:
    notified_at: dict[str, datetime] = {
        state: from_iso(at) for state, at in from_json(row["told"]).items()
    }
    return Announcement(
        row["route_id"],
        row["incident_id"],
        notified_at,
        row["told_state"],
        row["due_at"],
        row["not_before_at"],
    )


def _route_values(route: Route) -> tuple[object, ...]:
    quiet = route.quiet
    hours = (None, None, None) if quiet is None else (quiet.begins, quiet.ends, quiet.timezone)
    return (
        *(route.id, route.tenant_id, route.channel_id, route.job_id),
        sorted(route.kinds),
        *(route.min_severity, *hours, route.critical_passes),
        *(milliseconds(route.group), milliseconds(route.cooldown)),
        *(route.tells_recovery, route.enabled, route.created_at),
    )
