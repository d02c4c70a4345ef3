"""A transaction's verbs for jobs."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from cadenza.adapters.memory.rows import JobRow
from cadenza.adapters.memory.unique_names import Name, NamedRows
from cadenza.adapters.memory.views import stored_job
from cadenza.application.ports.catalogue import StoredJob
from cadenza.domain.endpoint import Job


class MemoryJobRows(NamedRows):
    async def insert_jobs(self, jobs: Sequence[StoredJob]) -> None:
        for stored in jobs:
            self._tables.tenant(stored.job.tenant_id)
            self._put_job(None, JobRow(stored.job, stored.created_at))

    async def get_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        return stored_job(self._tables, self._tables.job(tenant_id, job_id))

    async def lock_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        return await self.get_job(tenant_id, job_id)

    async def share_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        return await self.get_job(tenant_id, job_id)

    async def save_jobs(self, jobs: Sequence[StoredJob]) -> None:
        for stored in jobs:
            row = self._tables.jobs[stored.job.id]
            self._put_job(row, replace(row, job=stored.job, revision=row.revision + 1))

    async def declared_jobs(self, tenant_id: UUID) -> Sequence[StoredJob]:
        rows = [
            row
            for row in self._tables.jobs.values()
            if row.tenant_id == tenant_id and row.job.archived_at is None
        ]
        rows.sort(key=lambda row: row.job.name)
        return [stored_job(self._tables, row) for row in rows]

    def _put_job(self, before: JobRow | None, after: JobRow) -> None:
        old_name = _name_of(before.job) if before is not None else None
        new_name, is_taken = _name_of(after.job), "a job of that name exists"
        self._move_name(self._tables.job_names, old_name, new_name, after.job.id, is_taken)
        self._put(self._tables.jobs, after.job.id, after)


def _name_of(job: Job) -> Name | None:
    return (job.tenant_id, job.name) if job.archived_at is None else None
