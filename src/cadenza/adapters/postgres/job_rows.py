"""Jobs in a transaction."""

from collections.abc import Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.jobs import job_values, stored_job
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.record_rows import translated_unique_violations
from cadenza.application.ports.catalogue import StoredJob
from cadenza.domain.errors import NotFound


class PostgresJobRows:
    connection: Connection

    async def insert_jobs(self, jobs: Sequence[StoredJob]) -> None:
        values = [
            (*job_values(stored.job), stored.job.tenant_id, stored.created_at) for stored in jobs
        ]
        async with translated_unique_violations(*(stored.job.name for stored in jobs)):
            await self.connection.executemany(query("insert_job"), values)

    async def get_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        return await read_job(self.connection, "get_job", tenant_id, job_id)

    async def lock_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        return await read_job(self.connection, "lock_job", tenant_id, job_id)

    async def share_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        return await read_job(self.connection, "share_job", tenant_id, job_id)

    async def save_jobs(self, jobs: Sequence[StoredJob]) -> None:
        async with translated_unique_violations(*(stored.job.name for stored in jobs)):
            await self.connection.executemany(
                query("save_job"), [job_values(stored.job) for stored in jobs]
            )

    async def declared_jobs(self, tenant_id: UUID) -> Sequence[StoredJob]:
        rows = await self.connection.fetch(query("declared_jobs"), tenant_id)
        return [stored_job(row) for row in rows]


async def read_job(
    connection: Connection, statement: str, tenant_id: UUID, job_id: UUID
) -> StoredJob:
    row = await connection.fetchrow(query(statement), tenant_id, job_id)
    if row is None:
        raise NotFound(f"no job {job_id}")
    return stored_job(row)
