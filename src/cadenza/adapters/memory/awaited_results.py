"""Results that are reported to us."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from cadenza.adapters.memory.tables import OverTables
from cadenza.adapters.memory.writes import Writes
from cadenza.domain.result import AwaitedResult, Report, reported


class MemoryResults(OverTables):
    async def reports_of(self, run_ids: Collection[UUID]) -> Mapping[UUID, Report]:
        table = self._tables.awaited_results
        reports = {run_id: reported(table.get(run_id, ())) for run_id in run_ids}
        return {run_id: report for run_id, report in reports.items() if report is not None}


class MemoryResultRows(Writes):
    """A transaction's verbs."""

    async def insert_awaited(self, awaited: AwaitedResult) -> None:
        others = [one for one in self._of(awaited.run_id) if one.attempt != awaited.attempt]
        self._put_all(awaited.run_id, [*others, awaited])

    async def lock_awaited(self, run_id: UUID) -> tuple[Sequence[AwaitedResult], bool]:
        attempts = self._of(run_id)
        rows = [self._tables.endpoints.get(one.endpoint_id) for one in attempts]
        is_running = any(row is not None and row.run_id == run_id for row in rows)
        return attempts, is_running

    async def save_report(self, awaited: AwaitedResult, report: Report) -> None:
        attempts = self._of(awaited.run_id)
        self._put_all(
            awaited.run_id,
            [
                replace(one, report=report) if one.attempt == awaited.attempt else one
                for one in attempts
            ],
        )

    async def close_awaited(self, run_id: UUID) -> None:
        if attempts := self._of(run_id):
            now = self._now
            closed = [replace(one, closed_at=one.closed_at or now) for one in attempts]
            self._put_all(run_id, closed)

    def _of(self, run_id: UUID) -> tuple[AwaitedResult, ...]:
        return self._tables.awaited_results.get(run_id, ())

    def _put_all(self, run_id: UUID, attempts: Sequence[AwaitedResult]) -> None:
        ordered = tuple(sorted(attempts, key=lambda one: one.attempt))
        self._put(self._tables.awaited_results, run_id, ordered)
