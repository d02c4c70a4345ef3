"""Incidents in a transaction, and the events that they and webhooks are fed with."""

import json
from collections.abc import Mapping, Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.notification_reads import incident_of
from cadenza.adapters.postgres.queries import one_row, query
from cadenza.adapters.postgres.record_rows import present
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.storable import to_text
from cadenza.application.ports.event_log import Position, StoredEvent
from cadenza.application.ports.notifications import Differences, FeedEvent
from cadenza.domain.incident import LEVELS, Condition, Incident, IncidentKey, IncidentKind
from cadenza.domain.run import error_text


class PostgresIncidentRows:
    connection: Connection

    async def take_feed(self, limit: int) -> Sequence[FeedEvent] | None:
        at = await self.connection.fetchrow(query("lock_feed"))
        if at is None:
            return None
        if at["are_of_another_server"]:
            # Events are read in the order of the transactions that wrote them. A server that a dump
            # was restored into counts anew: what it wrote would come before all that was looked at.
            await self.connection.execute(query("renumber_events"))
            return []
        rows = await self.connection.fetch(query("read_feed"), at["xact"], at["id"], limit)
        return [_feed_event(row) for row in rows]

    async def most_receivers(self) -> int:
        return await self.connection.fetchval(query("most_receivers"))

    async def move_feed(self, position: Position) -> None:
        await self.connection.execute(query("move_feed"), str(position.xact), position.id)

    async def differences(self, kinds: Sequence[IncidentKind], limit: int) -> Differences:
        steps = [(kind, least) for kind in kinds for least, _ in LEVELS[kind]]
        await self.connection.execute(query("no_whole_tables"))
        rows = await self.connection.fetch(
            query("differing_conditions"),
            list(kinds),
            [kind for kind, _ in steps],
            [least for _, least in steps],
            limit,
        )
        stated = [kind for kind in kinds if kind is not IncidentKind.QUOTA]
        gone = await self.connection.fetch(query("lock_gone_incidents"), stated, limit)
        return Differences([_condition(row) for row in rows], [incident_of(row) for row in gone])

    async def lock_latest_incidents(
        self, keys: Sequence[IncidentKey]
    ) -> Mapping[IncidentKey, Incident]:
        columns = map(list, zip(*keys, strict=True))
        rows = await self.connection.fetch(query("lock_latest_incidents"), *columns)
        incidents = [incident_of(row) for row in rows]
        return {incident.key: incident for incident in incidents}

    async def last_errors(self, endpoint_ids: Sequence[UUID]) -> Mapping[UUID, str]:
        rows = await self.connection.fetch(query("last_errors"), list(endpoint_ids))
        return {row["endpoint_id"]: _error(row) for row in rows}

    async def recovered(self, endpoint_ids: Sequence[UUID]) -> frozenset[UUID]:
        rows = await self.connection.fetch(query("recovered"), list(endpoint_ids))
        return frozenset(row["id"] for row in rows)

    async def job_names(self, job_ids: Sequence[UUID]) -> Mapping[UUID, str]:
        rows = await self.connection.fetch(query("job_names"), list(job_ids))
        return {row["id"]: row["name"] for row in rows}

    async def lock_incident(self, tenant_id: UUID, incident_id: UUID) -> Incident:
        ids = (tenant_id, incident_id)
        return incident_of(await one_row(self.connection, "lock_incident", "incident", *ids))

    async def save_incidents(self, incidents: Sequence[Incident]) -> None:
        columns = zip(*map(_values, incidents), strict=True)
        async with present("no such tenant"):
            await self.connection.execute(query("save_incidents"), *map(list, columns))

    async def watch_for_webhooks(self) -> None:
        await self.connection.execute(query("watch_for_webhooks"))


def _feed_event(row: Row) -> FeedEvent:
    event = StoredEvent(
        Position(int(row["xact"]), row["id"]),
        row["at"],
        row["kind"],
        row["job_id"],
        row["endpoint_id"],
        json.loads(row["data"]),
    )
    return FeedEvent(row["tenant_id"], event)


def _condition(row: Row) -> Condition:
    return Condition(
        row["tenant_id"],
        IncidentKind(row["kind"]),
        row["subject"],
        row["name"],
        row["since"],
        row["measure"],
        row["job_id"],
        row["endpoint_id"],
        row["detail"],
    )


def _error(row: Row) -> str:
    return error_text(row["status"], row["status_code"], row["error_kind"], row["error_message"])


def _values(incident: Incident) -> tuple[object, ...]:
    """In the order of save_incidents."""
    return (
        *(incident.id, incident.tenant_id, incident.kind, to_text(incident.subject)),
        *(to_text(incident.name), incident.job_id, incident.endpoint_id, incident.level),
        *(incident.severity, incident.measure, to_text(incident.detail), incident.times),
        *(incident.opened_at, incident.updated_at, incident.ends_at),
        *(incident.acknowledged_at, incident.acknowledged_by),
        *(incident.resolved_at, incident.resolved_by),
    )
