"""Whose runs a search asks for."""

from collections.abc import Collection
from typing import Protocol
from uuid import UUID

from cadenza.adapters.postgres.queries import Source, query


class WhoseRuns(Protocol):
    @property
    def endpoint_id(self) -> UUID | None: ...
    @property
    def job_id(self) -> UUID | None: ...
    @property
    def job_ids(self) -> Collection[UUID] | None:
        """Those that the caller may see; None: all."""
        ...


async def endpoint_ids(
    database: Source, tenant_id: UUID, search: WhoseRuns, most: int | None = None
) -> list[UUID] | None:
    """None for all endpoints of the tenant; where jobs have more than `most`, their newest."""
    jobs = _jobs(search)
    if search.endpoint_id is None:
        if jobs is None:
            return None
        rows = await database.fetch(query("endpoint_ids_of_jobs"), tenant_id, jobs, most)
        return [row["id"] for row in rows]
    if jobs is not None:
        rows = await database.fetch(query("jobs_of_endpoints"), [search.endpoint_id])
        if not any(row["job_id"] in jobs for row in rows):
            return []
    return [search.endpoint_id]


def _jobs(search: WhoseRuns) -> list[UUID] | None:
    if search.job_ids is None:
        return None if search.job_id is None else [search.job_id]
    return [own for own in search.job_ids if search.job_id in (None, own)]
