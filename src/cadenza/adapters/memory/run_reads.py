"""Runs, as their owners look for them."""

from uuid import UUID

from cadenza.adapters.memory.health import health_now
from cadenza.adapters.memory.searching import newest_first
from cadenza.adapters.memory.tables import Tables
from cadenza.application.ports.run_search import ListedRun, RunInFull, RunSearch
from cadenza.application.ports.search_result import SearchResult, TimeCursor
from cadenza.domain.errors import NotFound
from cadenza.domain.health import Health
from cadenza.domain.run import Run


class MemoryRunReads:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def search_runs(self, tenant_id: UUID, search: RunSearch) -> SearchResult[ListedRun]:
        matches = newest_first(
            (run for run in self._tables.runs.values() if self._is_wanted(run, tenant_id, search)),
            _cursor_of,
            from_at=search.from_at,
            to_at=search.to_at,
            after=search.after,
            limit=search.limit,
        )
        return SearchResult([_listed(run) for run in matches.items], matches.reached)

    def _is_wanted(self, run: Run, tenant_id: UUID, search: RunSearch) -> bool:
        job_id = self._tables.endpoints[run.endpoint_id].endpoint.job_id
        return (
            run.tenant_id == tenant_id
            and search.endpoint_id in (None, run.endpoint_id)
            and search.job_id in (None, job_id)
            and (not search.statuses or run.status in search.statuses)
            and (not search.sources or run.source in search.sources)
            and search.is_manual in (None, run.is_manual)
        )

    async def get_run(self, tenant_id: UUID, run_id: UUID) -> RunInFull:
        run = self._tables.runs.get(run_id)
        if run is None or run.tenant_id != tenant_id:
            raise NotFound(f"no run {run_id}")
        lost = self._tables.lost_attempts.get(run_id, ())
        return RunInFull(run, lost, self._tables.late_results.get(run_id, ()))

    async def health_of(self, tenant_id: UUID, endpoint_id: UUID) -> Health:
        return health_now(self._tables, self._tables.endpoint(tenant_id, endpoint_id))


def _cursor_of(run: Run) -> TimeCursor:
    return run.slot_at, run.id


def _listed(run: Run) -> ListedRun:
    return ListedRun(
        run.id,
        run.endpoint_id,
        run.slot_at,
        run.source,
        run.status,
        run.attempt,
        run.is_manual,
        run.started_at,
        run.finished_at,
        run.status_code,
        run.error_kind,
        run.error_message,
        run.skipped_slots,
        run.skipped_reason,
    )
