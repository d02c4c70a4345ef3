"""Who runs what: leases and epochs. What may be claimed is decided in domain/claiming.py."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.adapters.memory.rows import EndpointRow
from cadenza.adapters.memory.tables import OverTables
from cadenza.application.ports.claims import ClaimBatch, ClaimRequest, Renewal
from cadenza.domain.claiming import Candidate, fair_shares, slot_to_claim
from cadenza.domain.instants import TICK
from cadenza.domain.plan import Source
from cadenza.domain.run import Claim, LostAttempt, Run, RunStatus


class MemoryClaims(OverTables):
    async def claim_due(self, request: ClaimRequest) -> ClaimBatch[Claim]:
        now = self._tables.clock.now()
        horizon = now + request.ahead
        candidates: list[Candidate] = []
        lost_by_hand: list[UUID] = []  # nothing is sent: no limit of tenant or host holds them up
        next_due_at = None
        for row in self._tables.endpoints.values():
            if row.target.runs_on != request.runs_on:
                continue
            endpoint = row.endpoint
            slot_at = slot_to_claim(endpoint, row.lease_until, now, horizon)
            if slot_at is not None and endpoint.running_is_manual:
                lost_by_hand.append(endpoint.id)
            elif slot_at is not None:
                ids = (endpoint.id, endpoint.tenant_id)
                candidates.append(Candidate(*ids, row.target.host, slot_at))
            elif (next_run_at := endpoint.next_run_at) is not None and next_run_at > horizon:
                next_due_at = min(next_run_at, next_due_at or next_run_at)
        chosen = fair_shares(candidates, request) if candidates else []
        ids = [*(candidate.endpoint_id for candidate in chosen), *lost_by_hand]
        claims = [self._claim(endpoint_id, request.lease, now) for endpoint_id in ids]
        return ClaimBatch(claims, next_due_at, backlog=len(chosen) < len(candidates))

    async def claim_lost(self, request: ClaimRequest) -> Sequence[Claim]:
        now = self._tables.clock.now()
        lost = [
            endpoint_id
            for endpoint_id, row in self._tables.endpoints.items()
            if row.is_lost(now) and row.target.runs_on == request.runs_on
        ]
        return [
            self._claim(endpoint_id, request.lease, now) for endpoint_id in lost[: request.limit]
        ]

    async def renew(self, claims: Sequence[Claim], lease: timedelta) -> Renewal:
        rows, now = self._tables.endpoints, self._tables.clock.now()
        held: set[UUID] = set()
        for claim in claims:
            row = rows.get(claim.endpoint_id)
            if row is not None and row.is_held_by(claim) and not row.is_lost(now):
                rows[claim.endpoint_id] = replace(row, lease_until=now + lease)
                held.add(claim.run_id)
        return Renewal(frozenset(held))

    # --- One row at a time ----------------------------------------------------------------

    def _claim(self, endpoint_id: UUID, lease: timedelta, now: datetime) -> Claim:
        row = self._tables.endpoints[endpoint_id]
        epoch = row.epoch + 1
        run = self._take_over(row, epoch, now) if row.run_id else self._start(row, epoch, now)
        endpoint = replace(
            row.endpoint,
            running_slot_at=run.slot_at,
            running_is_manual=run.is_manual,
            manual_slot_at=None,
        )
        self._tables.endpoints[endpoint_id] = replace(
            row, endpoint=endpoint, epoch=epoch, lease_until=now + lease, run_id=run.id
        )
        return Claim(
            run_id=run.id,
            endpoint_id=endpoint.id,
            tenant_id=endpoint.tenant_id,
            job_id=endpoint.job_id,
            endpoint_name=endpoint.name,
            target=row.target,
            slot_at=run.slot_at,
            source=run.source,
            epoch=epoch,
            first_claimed_at=run.claimed_at,
            host=row.target.host,
            attempt=run.attempt,
            is_manual=run.is_manual,
            is_paused=endpoint.paused_until(now) is not None,
            is_archived=endpoint.archived_at is not None,
            started_at=row.started_at,
        )

    def _start(self, row: EndpointRow, epoch: int, now: datetime) -> Run:
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
            epoch=epoch,
            claimed_at=now,
            plan=endpoint.plan.record() if endpoint.plan and not is_manual else None,
            is_manual=is_manual,
        )
        run_ids = self._tables.runs_of[endpoint.id]
        while slot_at in run_ids:  # of before the clock stepped back
            slot_at += TICK
        run = replace(run, slot_at=slot_at)
        is_out_of_order = bool(run_ids) and slot_at < next(reversed(run_ids))
        run_ids[slot_at] = run.id
        if is_out_of_order:  # a run that a person asked for came before a slot that was due
            self._tables.runs_of[endpoint.id] = dict(sorted(run_ids.items()))
        self._tables.runs[run.id] = run
        return run

    def _take_over(self, row: EndpointRow, epoch: int, now: datetime) -> Run:
        """The same slot under the same key, as the next attempt; no failure is counted. What was
        started is only to be closed: that is no other attempt."""
        assert row.run_id is not None
        run = self._tables.runs[row.run_id]
        lost = self._tables.lost_attempts.get(run.id, ())
        if run.attempt not in {attempt.attempt for attempt in lost}:  # else it was given back
            attempt = LostAttempt(run.id, run.attempt, now)
            self._tables.lost_attempts[run.id] = (*lost, attempt)
        run = replace(run, attempt=run.attempt + (row.started_at is None), epoch=epoch)
        self._tables.runs[run.id] = run
        return run
