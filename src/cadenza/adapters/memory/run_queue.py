"""Claims, leases, epochs and fencing."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.adapters.memory.responses import recent_response
from cadenza.adapters.memory.tables import EndpointRow, Tables, Topic
from cadenza.application.ports.claims import ClaimBatch, ClaimRequest, FinishReport
from cadenza.domain.analysis import RECENT_RESPONSES
from cadenza.domain.outcome import finish_run
from cadenza.domain.plan import Source
from cadenza.domain.run import Claim, FinishedRun, LateResult, LostAttempt, Run, RunStatus
from cadenza.domain.steering import given_back


class MemoryRunQueue:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def claim_due(self, request: ClaimRequest) -> ClaimBatch:
        now = self._tables.clock.now()
        horizon = now + request.ahead
        due: list[EndpointRow] = []
        next_due_at = None
        for row in self._tables.endpoints.values():
            next_run_at = row.endpoint.next_run_at
            if _is_claimable(row, now, horizon):
                due.append(row)
            elif next_run_at is not None and next_run_at > horizon:
                next_due_at = min(next_run_at, next_due_at or next_run_at)
        chosen = _within_limits(due, request)
        claims = [self._claim(row, request.lease, now) for row in chosen]
        return ClaimBatch(claims, next_due_at, backlog=len(claims) < len(due))

    async def claim_lost(self, request: ClaimRequest) -> Sequence[Claim]:
        now = self._tables.clock.now()
        lost = [row for row in self._tables.endpoints.values() if row.is_lost(now)]
        chosen = _within_limits(lost, request)
        return [self._claim(row, request.lease, now) for row in chosen]

    async def renew(self, claims: Sequence[Claim], lease: timedelta) -> frozenset[UUID]:
        now = self._tables.clock.now()
        rows = self._tables.endpoints
        held = [
            claim
            for claim in claims
            if self._holds(claim) and not rows[claim.endpoint_id].is_lost(now)
        ]
        for claim in held:
            rows[claim.endpoint_id].lease_until = now + lease
        return frozenset(claim.run_id for claim in held)

    async def finish(self, finished: Sequence[FinishedRun]) -> FinishReport:
        now = self._tables.clock.now()
        late = frozenset(each.claim.run_id for each in finished if not self._finish(each, now))
        ids = {each.claim.endpoint_id for each in finished if each.claim.run_id not in late}
        planned = (self._tables.endpoints[each].endpoint.next_run_at for each in ids)
        next_due_at = min((at for at in planned if at is not None), default=None)
        self._tables.notify(Topic.FINISHED)
        return FinishReport(late, next_due_at)

    async def give_back(self, claims: Sequence[Claim]) -> None:
        for claim in claims:
            if self._holds(claim):
                self._give_back(claim)
        self._tables.notify(Topic.DUE)

    # --- One row at a time ----------------------------------------------------------------

    def _claim(self, row: EndpointRow, lease: timedelta, now: datetime) -> Claim:
        row.epoch += 1
        row.lease_until = now + lease
        run = self._take_over(row, now) if row.endpoint.in_flight else self._start(row, now)
        endpoint = row.endpoint
        return Claim(
            run_id=run.id,
            endpoint_id=endpoint.id,
            tenant_id=endpoint.tenant_id,
            job_id=endpoint.job_id,
            endpoint_name=endpoint.name,
            target=row.target,
            slot_at=run.slot_at,
            source=run.source,
            epoch=row.epoch,
            first_claimed_at=run.claimed_at,
            host=row.target.host,
            attempt=run.attempt,
            is_manual=run.is_manual,
            is_paused=endpoint.paused_until(now) is not None,
            is_archived=endpoint.archived_at is not None,
        )

    def _start(self, row: EndpointRow, now: datetime) -> Run:
        endpoint = row.endpoint
        is_manual = endpoint.manual_slot_at is not None
        slot_at = endpoint.manual_slot_at or endpoint.next_run_at
        source = Source.MANUAL if is_manual else endpoint.next_source
        assert slot_at is not None
        assert source is not None
        run = Run(
            id=self._tables.new_id(),
            endpoint_id=endpoint.id,
            tenant_id=endpoint.tenant_id,
            slot_at=slot_at,
            source=source,
            status=RunStatus.RUNNING,
            attempt=1,
            epoch=row.epoch,
            claimed_at=now,
            plan=endpoint.plan.record() if endpoint.plan and not is_manual else None,
            is_manual=is_manual,
        )
        self._tables.add_run(run)
        row.run_id = run.id
        row.endpoint = replace(
            endpoint, running_slot_at=slot_at, running_is_manual=is_manual, manual_slot_at=None
        )
        return run

    def _take_over(self, row: EndpointRow, now: datetime) -> Run:
        """The same slot under the same key, as the next attempt; no failure is counted."""
        assert row.run_id is not None
        run = self._tables.runs[row.run_id]
        self._tables.lost_attempts.setdefault(
            (run.id, run.attempt), LostAttempt(run.id, run.attempt, now)
        )
        run = replace(run, attempt=run.attempt + 1, epoch=row.epoch)
        self._tables.runs[run.id] = run
        return run

    def _holds(self, claim: Claim) -> bool:
        row = self._tables.endpoints.get(claim.endpoint_id)
        return row is not None and row.epoch == claim.epoch and row.run_id == claim.run_id

    def _finish(self, finished: FinishedRun, now: datetime) -> bool:
        """False where the result came too late to count."""
        claim = finished.claim
        if not self._holds(claim):
            return self._note_late(finished, now)
        row = self._tables.endpoints[claim.endpoint_id]
        settled = finish_run(row.endpoint, finished, now, self._tables.cron)
        outcome = finished.outcome
        run = replace(
            self._tables.runs[claim.run_id],
            status=outcome.status,
            started_at=finished.started_at,
            finished_at=now,
            status_code=outcome.status_code,
            error_kind=outcome.error_kind,
            error_message=outcome.error_message,
            body=outcome.body,
            skipped_slots=settled.skipped_slots,
            skipped_reason=settled.skipped_reason,
        )
        self._tables.runs[run.id] = run
        if row.latest is None or (row.latest.status, row.latest.body) != (run.status, run.body):
            row.changed_at = now
        if outcome.failed:
            row.last_failed_at = now
        row.endpoint, row.latest = settled.endpoint, run
        row.recent = (recent_response(run), *row.recent[: RECENT_RESPONSES - 1])
        row.run_id, row.lease_until = None, None
        return True

    def _note_late(self, finished: FinishedRun, now: datetime) -> bool:
        claim = finished.claim
        run = self._tables.runs.get(claim.run_id)
        if run is not None and run.epoch == claim.epoch and run.status is not RunStatus.RUNNING:
            return True  # the same result once more, after an answer of the store got lost
        self._tables.late_results.append(
            LateResult(claim.run_id, claim.endpoint_id, claim.epoch, finished.outcome.status, now)
        )
        return False

    def _give_back(self, claim: Claim) -> None:
        row = self._tables.endpoints[claim.endpoint_id]
        run = self._tables.runs[claim.run_id]
        row.lease_until = None
        row.epoch += 1  # told twice, it is done once
        if claim.attempt > 1:
            # An earlier worker did send it: it stays in flight, for the next one to take over.
            self._tables.runs[run.id] = replace(run, attempt=run.attempt - 1)
            return
        self._tables.remove_run(run)
        row.run_id = None
        row.endpoint = given_back(row.endpoint, self._tables.clock.now(), self._tables.cron)


def _is_claimable(row: EndpointRow, now: datetime, horizon: datetime) -> bool:
    endpoint = row.endpoint
    if endpoint.in_flight:
        return row.is_lost(now) and not endpoint.running_is_manual
    if endpoint.archived_at is not None:
        return False
    if endpoint.manual_slot_at is not None:
        return True
    is_due = endpoint.next_run_at is not None and endpoint.next_run_at <= horizon
    return is_due and endpoint.paused_until(now) is None


def _slot_order(row: EndpointRow) -> tuple[datetime, UUID]:
    endpoint = row.endpoint
    slot_at = endpoint.running_slot_at or endpoint.manual_slot_at or endpoint.next_run_at
    assert slot_at is not None
    return slot_at, endpoint.id


def _within_limits(rows: Sequence[EndpointRow], request: ClaimRequest) -> list[EndpointRow]:
    """The oldest slots first."""
    if not rows:
        return []
    tenants, hosts = Counter(request.busy_tenants), Counter(request.busy_hosts)
    chosen: list[EndpointRow] = []
    for row in sorted(rows, key=_slot_order):
        tenant_id, host = row.endpoint.tenant_id, row.target.host
        if tenants[tenant_id] >= request.per_tenant or hosts[host] >= request.per_host:
            continue
        if len(chosen) == request.limit:
            break
        tenants[tenant_id] += 1
        hosts[host] += 1
        chosen.append(row)
    return chosen
