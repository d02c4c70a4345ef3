"""The end of runs: outcomes and next plans are stored in one transaction for a batch.

A result whose epoch still counts is applied to the endpoint as it is now, with the hints and pauses
written meanwhile. A result with an old epoch is only recorded.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from cadenza.application.ports.claims import ClaimBatch, ClaimRequest, Claims, FinishReport, Renewal
from cadenza.application.ports.store import Channel, EndpointChange, HeldRuns, Store
from cadenza.application.starting import LOCKED, Refusals, refused_starts
from cadenza.domain.audit import PendingEvent
from cadenza.domain.authority import author_of
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.instants import iso
from cadenza.domain.outcome import finish_run
from cadenza.domain.plan import Source
from cadenza.domain.run import Claim, Finish, FinishedRun, RunStatus
from cadenza.domain.steering import given_back


class ClaimedRuns:
    """The RunQueue of a scheduler: claims come from the store; starts and ends are decided here."""

    def __init__(self, claims: Claims[Claim], store: Store, cron: Cron) -> None:
        self._claims = claims
        self._store = store
        self._cron = cron

    async def claim_due(self, request: ClaimRequest) -> ClaimBatch[Claim]:
        return await self._claims.claim_due(request)

    async def claim_lost(self, request: ClaimRequest) -> Sequence[Claim]:
        return await self._claims.claim_lost(request)

    async def renew(self, claims: Sequence[Claim], lease: timedelta) -> Renewal:
        return await self._claims.renew(claims, lease)

    async def start(self, claims: Sequence[Claim]) -> Refusals:
        """For graphs: record the start; runs that are not returned may begin."""
        async with self._store.transaction() as tx:
            starting, locked = await tx.lock_starting_runs(claims)
            run_ids = [claim.run_id for claim in claims if claim.run_id not in locked]
            refusals = await refused_starts(tx, run_ids, starting)
            good = [claim for claim in claims if claim.run_id not in {*refusals, *locked}]
            if good:
                await tx.note_runs_started(good)
        return {**refusals, **dict.fromkeys(locked, LOCKED)}

    async def finish(self, finished: Sequence[FinishedRun]) -> FinishReport:
        async with self._store.transaction() as tx:
            held = await tx.lock_held([run.claim for run in finished])
            finishes, stale = self._settle(finished, held)
            if finishes:
                await tx.close_runs(finishes, held.now)
                if events := _events(finishes, held):
                    await tx.add_events(events)
            late = await tx.note_late(stale) if stale else frozenset[UUID]()
        due = [finish.plan.next_run_at for _, finish in finishes]
        next_due_at = min((at for at in due if at is not None), default=None)
        return FinishReport(late, next_due_at, held.locked)

    async def give_back(self, claims: Sequence[Claim]) -> None:
        async with self._store.transaction() as tx:
            held = await tx.lock_held(claims, with_plans=True)
            still_ours = [claim for claim in claims if claim.run_id in held.endpoints]
            await tx.undo_claims(still_ours)
            freed = [
                given_back(held.endpoints[claim.run_id], held.now, self._cron)
                for claim in still_ours
                if claim.attempt == 1  # an earlier worker's attempt stays for the next one
            ]
            if changes := [EndpointChange(endpoint, is_news=False) for endpoint in freed]:
                await tx.save_endpoints(changes)
            if still_ours:
                await tx.notify(Channel.DUE)
        if held.locked:
            raise StoreUnavailable("somebody else holds the rows of some: they are ours still")

    def _settle(
        self, finished: Sequence[FinishedRun], held: HeldRuns
    ) -> tuple[list[tuple[FinishedRun, Finish]], list[FinishedRun]]:
        """Apply each result to its endpoint; also returns the results that came too late."""
        endpoints = dict(held.endpoints)
        finishes: list[tuple[FinishedRun, Finish]] = []
        stale: list[FinishedRun] = []
        for run in finished:
            endpoint = endpoints.pop(run.claim.run_id, None)
            if endpoint is None:
                if run.claim.run_id not in held.locked:
                    stale.append(run)
            else:
                finishes.append((run, finish_run(endpoint, run, held.now, self._cron)))
        return finishes, stale


def _events(finishes: Sequence[tuple[FinishedRun, Finish]], held: HeldRuns) -> list[PendingEvent]:
    """Failures and recoveries always; other runs only where the tenant's events are followed."""
    events: list[PendingEvent] = []
    for run, finish in finishes:
        claim = run.claim
        kinds: list[str] = []
        if run.outcome.failed:
            kinds.append("run.failed")
        elif claim.tenant_id in held.watched_tenants:
            kinds.append("run.finished")
        endpoint = held.endpoints[claim.run_id]
        was_failing = endpoint.failure_count > 0
        if was_failing and run.outcome.status is RunStatus.SUCCESS:
            kinds.append("endpoint.recovered")
        ids = (claim.tenant_id, claim.job_id, claim.endpoint_id)
        events += [PendingEvent(kind, *ids, _data(run, finish, endpoint)) for kind in kinds]
    return events


def _data(run: FinishedRun, finish: Finish, endpoint: Endpoint) -> dict[str, Any]:
    claim, outcome = run.claim, run.outcome
    return {
        "run_id": str(claim.run_id),
        "endpoint_name": claim.endpoint_name,
        "slot_at": iso(claim.slot_at),
        "source": claim.source,
        "hint_by": _hint_by(claim.source, endpoint),
        "status": outcome.status,
        "status_code": outcome.status_code,
        "error_kind": outcome.error_kind,
        "failure_count": finish.settled.failure_count,
    }


def _hint_by(source: Source, endpoint: Endpoint) -> str | None:
    """Who wrote the hint that led to a run: a person, a rule, the model or a detector."""
    hints = {
        Source.AI_INTERVAL: endpoint.interval_hint,
        Source.AI_ONESHOT: endpoint.one_shot_hint,
    }
    hint = hints.get(source)
    return author_of(hint).name.lower() if hint is not None else None
