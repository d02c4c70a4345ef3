"""The history of runs."""

from collections.abc import Sequence
from uuid import UUID

from cadenza.adapters.memory.tables import Tables
from cadenza.domain.run import LateResult, LostAttempt, Run


class MemoryRunHistory:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def list_runs(
        self, tenant_id: UUID, endpoint_id: UUID, *, limit: int = 50, offset: int = 0
    ) -> Sequence[Run]:
        self._tables.row(tenant_id, endpoint_id)
        runs = [self._tables.runs[run_id] for run_id in self._tables.runs_of[endpoint_id]]
        newest_first = sorted(runs, key=lambda run: run.slot_at, reverse=True)
        return newest_first[offset : offset + limit]

    async def list_lost_attempts(self, tenant_id: UUID, run_id: UUID) -> Sequence[LostAttempt]:
        run = self._tables.runs.get(run_id)
        if run is None or run.tenant_id != tenant_id:
            return []
        lost = self._tables.lost_attempts.values()
        return [attempt for attempt in lost if attempt.run_id == run_id]

    async def list_late_results(self, tenant_id: UUID, endpoint_id: UUID) -> Sequence[LateResult]:
        self._tables.row(tenant_id, endpoint_id)
        return [late for late in self._tables.late_results if late.endpoint_id == endpoint_id]
