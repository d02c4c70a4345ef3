"""What a tenant uses, and what it may use."""

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from uuid import UUID

from cadenza.adapters.memory.tables import OverTables, key_of
from cadenza.application.ports.usage import RunCounts, Usage
from cadenza.domain.quota import Allowance, Period, day_of, month_of
from cadenza.domain.run import RunStatus

STEP = timedelta(minutes=5)  # runs are counted from the beginning of one
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class MemoryUsage(OverTables):
    async def usage(self, tenant_id: UUID) -> Usage:
        jobs, endpoints = self._tables.jobs.values(), self._tables.endpoints.values()
        return Usage(
            sum(row.tenant_id == tenant_id and row.job.archived_at is None for row in jobs),
            sum(
                row.tenant_id == tenant_id and row.endpoint.archived_at is None for row in endpoints
            ),
            self._counts(tenant_id, timedelta(hours=1)),
            self._counts(tenant_id, timedelta(days=1)),
        )

    def _counts(self, tenant_id: UUID, length: timedelta) -> RunCounts:
        passed = self._tables.clock.now() - length - EPOCH
        since_at = EPOCH + passed // STEP * STEP
        ended = Counter(
            run.status
            for run in self._tables.runs.values()
            if run.tenant_id == tenant_id
            and run.finished_at is not None
            and run.finished_at >= since_at
        )
        rows = self._tables.endpoints.values()
        running = sum(row.tenant_id == tenant_id and row.endpoint.in_flight for row in rows)
        counts = {status: ended[status] for status in RunStatus}
        return RunCounts(since_at, {**counts, RunStatus.RUNNING: running})

    async def quota(self, tenant_id: UUID) -> tuple[str, Allowance]:
        period = Period(tenant_id, month_of(self._tables.clock.now()))
        return period.name, self._tables.allowances.get(key_of(period), Allowance(None))

    async def quotas_of_jobs(
        self, tenant_id: UUID, job_ids: Collection[UUID]
    ) -> Mapping[UUID, tuple[str, Allowance]]:
        day, allowances = day_of(self._tables.clock.now()), self._tables.allowances
        keys = {job_id: key_of(Period(tenant_id, day, job_id)) for job_id in job_ids}
        return {job_id: (day, allowances.get(key, Allowance(None))) for job_id, key in keys.items()}


class MemoryReadiness:
    async def check(self) -> Mapping[str, str]:
        """The parts that an installation with a database has."""
        return {"database": "ok", "schema": "ok"}
