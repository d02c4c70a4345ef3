"""Grants, as they are read."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import Connection, Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.application.ports.grants import LoggedUse
from cadenza.application.ports.search_result import TimeCursor
from cadenza.domain.errors import NotFound
from cadenza.domain.grant import Grant, GrantRefusal, GrantUse


class PostgresGrants:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_grants(
        self, tenant_id: UUID, after: TimeCursor | None, limit: int
    ) -> Sequence[Grant]:
        rows = await self._database.fetch(
            query("list_grants"), tenant_id, *(after or (None, None)), limit
        )
        return [grant_of(row) for row in rows]

    async def get_grant(
        self, tenant_id: UUID, grant_id: UUID, uses: int
    ) -> tuple[Grant, Sequence[LoggedUse]]:
        row = await self._database.fetchrow(query("get_grant"), tenant_id, grant_id)
        if row is None:
            raise NotFound(f"no grant {grant_id}")
        rows = await self._database.fetch(query("last_grant_uses"), grant_id, uses)
        return grant_of(row), [_logged(use) for use in rows]


async def grants_by_id(connection: Connection, ids: Iterable[UUID]) -> Mapping[UUID, Grant]:
    """For runs that start."""
    rows = await connection.fetch(query("get_grants"), list(ids))
    return {row["id"]: grant_of(row) for row in rows}


def grant_of(row: Row) -> Grant:
    return Grant(
        row["id"],
        row["tenant_id"],
        row["user_id"],
        row["account_id"],
        tuple(row["scopes"]),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
        schedule_id=row["schedule_id"],
        endpoint_id=row["endpoint_id"],
    )


def _logged(row: Row) -> LoggedUse:
    refusal = None if row["refusal"] is None else GrantRefusal(row["refusal"])
    return LoggedUse(GrantUse(row["grant_id"], row["run_id"], row["graph_id"], refusal), row["at"])
