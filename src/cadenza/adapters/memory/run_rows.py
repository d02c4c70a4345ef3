"""A transaction's verbs for runs: their end, and claims that are undone."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from cadenza.adapters.memory.run_reads import recent_response
from cadenza.adapters.memory.writes import Writes
from cadenza.application.ports.grants import Starting
from cadenza.application.ports.store import Channel, HeldRuns
from cadenza.domain.analysis import RECENT_RESPONSES, Response
from cadenza.domain.run import Claim, Finish, FinishedRun, LateResult, RunStatus
from cadenza.domain.value import replace


class MemoryRunRows(Writes):
    async def lock_held(
        self,
        claims: Sequence[Claim],
        *,
        with_plans: bool = False,  # noqa: ARG002 - they cost nothing here
    ) -> HeldRuns:
        endpoints = {
            claim.run_id: row.endpoint
            for claim in claims
            if (row := self._tables.endpoints.get(claim.endpoint_id)) and row.is_held_by(claim)
        }
        tenants = {endpoint.tenant_id for endpoint in endpoints.values()}
        watched = frozenset(filter(self._tables.is_watched, tenants))
        return HeldRuns(self._now, endpoints, watched)

    async def close_runs(
        self, finishes: Sequence[tuple[FinishedRun, Finish]], now: datetime
    ) -> None:
        for finished, finish in finishes:
            self._close_run(finished, finish, now)
        self._channels[Channel.FINISHED] = None

    def _close_run(self, finished: FinishedRun, finish: Finish, now: datetime) -> None:
        tables, claim, outcome = self._tables, finished.claim, finished.outcome
        row = tables.endpoints[claim.endpoint_id]
        run = replace(
            tables.runs[claim.run_id],
            status=outcome.status,
            started_at=finished.started_at,
            finished_at=now,
            status_code=outcome.status_code,
            error_kind=outcome.error_kind,
            error_message=outcome.error_message,
            body=outcome.body,
            skipped_slots=finish.skipped_slots,
            skipped_reason=finish.skipped_reason,
        )
        last = row.latest
        is_news = last is None or (last.status, last.body) != (run.status, run.body)
        streak_changed = bool(row.endpoint.failure_count) != bool(finish.endpoint.failure_count)
        closed = replace(
            row,
            endpoint=finish.endpoint,
            lease_until=None,
            run_id=None,
            started_at=None,
            latest=run,
            recent=_by_slot(recent_response(run), *row.recent),
            last_finished_at=now,
            last_failed_at=now if outcome.failed else row.last_failed_at,
            changed_at=now if is_news else row.changed_at,
            streak_changed_at=now if streak_changed else row.streak_changed_at,
        )
        self._put(tables.runs, run.id, run)
        self._put(tables.endpoints, claim.endpoint_id, closed)

    async def note_late(self, finished: Sequence[FinishedRun]) -> frozenset[UUID]:
        late = [run for run in finished if not self._is_known(run)]
        for run in late:
            claim = run.claim
            ids = (claim.run_id, claim.endpoint_id, claim.epoch)
            result = LateResult(*ids, run.outcome.status, self._now)
            results = self._tables.late_results.get(claim.run_id, ())
            self._put(self._tables.late_results, claim.run_id, (*results, result))
        return frozenset(run.claim.run_id for run in late)

    def _is_known(self, finished: FinishedRun) -> bool:
        """The same result once more, after an answer of the store got lost."""
        run = self._tables.runs.get(finished.claim.run_id)
        return run is not None and (
            run.epoch == finished.claim.epoch and run.status is not RunStatus.RUNNING
        )

    async def lock_starting_runs(
        self, claims: Sequence[Claim]
    ) -> tuple[Sequence[Starting], frozenset[UUID]]:
        rows = self._tables.endpoints
        starting = [
            self._starting(claim.request)
            for claim in claims
            if (row := rows.get(claim.endpoint_id))
            and row.is_held_by(claim)
            and not row.is_lost(self._now)
        ]
        return starting, frozenset()

    async def note_runs_started(self, claims: Sequence[Claim]) -> None:
        rows = self._tables.endpoints
        for claim in claims:
            started = replace(rows[claim.endpoint_id], started_at=self._now)
            self._put(rows, claim.endpoint_id, started)

    async def undo_claims(self, claims: Sequence[Claim]) -> None:
        for claim in claims:
            self._undo_claim(claim)

    def _undo_claim(self, claim: Claim) -> None:
        tables = self._tables
        row, run = tables.endpoints[claim.endpoint_id], tables.runs[claim.run_id]
        freed = replace(row, lease_until=None, epoch=row.epoch + 1)  # sent twice, it is done once
        if run.attempt > 1:
            self._put(tables.runs, run.id, replace(run, attempt=run.attempt - 1))
        else:
            self._delete(tables.runs, run.id)
            self._delete(tables.runs_of[run.endpoint_id], run.slot_at)
            endpoint = replace(
                row.endpoint,
                running_slot_at=None,
                running_is_manual=False,
                manual_slot_at=run.slot_at if run.is_manual else None,
            )
            freed = replace(freed, run_id=None, endpoint=endpoint)
        self._put(tables.endpoints, claim.endpoint_id, freed)


def _by_slot(*responses: Response) -> tuple[Response, ...]:
    """The latest first: a run that a person asked for may end before one of an earlier slot."""
    newest = sorted(responses, key=lambda response: response.slot_at, reverse=True)
    return tuple(newest[:RECENT_RESPONSES])
