"""The end of runs in a transaction: set-based, however many there are."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.grants import grants_by_id
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import endpoint_of, plan_json
from cadenza.adapters.postgres.storable import answer_hash, to_json, to_text
from cadenza.application.ports.grants import Starting
from cadenza.application.ports.store import HeldRuns
from cadenza.domain.run import Claim, Finish, FinishedRun

_NO_TIME = datetime.min.replace(tzinfo=UTC)  # nothing is held: nobody asks


class PostgresRunRows:
    connection: Connection
    spread: timedelta

    async def lock_held(self, claims: Sequence[Claim], *, with_plans: bool = False) -> HeldRuns:
        await self.connection.execute(query("prefer_indexes"))
        rows = await self.connection.fetch(query("lock_held"), *claim_keys(claims), with_plans)
        endpoints = {row["running_run_id"]: endpoint_of(row, self.spread) for row in rows}
        locked = await self._still_held(endpoints.keys(), claims, leased=False)
        if not rows:
            return HeldRuns(_NO_TIME, {}, locked=locked)
        watched = frozenset(rows[0]["watched_tenants"] or ())
        return HeldRuns(rows[0]["now"], endpoints, watched, locked)

    async def _still_held(
        self, run_ids: AbstractSet[UUID], claims: Sequence[Claim], *, leased: bool
    ) -> frozenset[UUID]:
        """Still ours, but passed over: somebody else has their rows."""
        missing = [claim for claim in claims if claim.run_id not in run_ids]
        if not missing:
            return frozenset()
        rows = await self.connection.fetch(query("still_held"), *claim_keys(missing), leased)
        return frozenset(row["run_id"] for row in rows)

    async def close_runs(
        self, finishes: Sequence[tuple[FinishedRun, Finish]], now: datetime
    ) -> None:
        columns = zip(*(_values(run, finish) for run, finish in finishes), strict=True)
        await self.connection.execute(query("close_runs"), now, *map(list, columns))

    async def note_late(self, finished: Sequence[FinishedRun]) -> frozenset[UUID]:
        claims = [run.claim for run in finished]
        rows = await self.connection.fetch(
            query("note_late"),
            [claim.run_id for claim in claims],
            [claim.endpoint_id for claim in claims],
            [claim.tenant_id for claim in claims],
            [claim.epoch for claim in claims],
            [run.outcome.status for run in finished],
            [claim.slot_at for claim in claims],
        )
        return frozenset(row["run_id"] for row in rows)

    async def lock_starting_runs(
        self, claims: Sequence[Claim]
    ) -> tuple[Sequence[Starting], frozenset[UUID]]:
        requests = {claim.run_id: claim.request for claim in claims}
        grant_ids = [request.caller.grant_id for request in requests.values()]
        keys = (*claim_keys(claims), grant_ids)
        rows = await self.connection.fetch(query("lock_starting_runs"), *keys)
        grants = await grants_by_id(self.connection, set(grant_ids))
        starting = [
            Starting(
                request := requests[row["run_id"]],
                grants.get(request.caller.grant_id),
                row["balance"],
            )
            for row in rows
        ]
        locked = await self._still_held({row["run_id"] for row in rows}, claims, leased=True)
        return starting, locked

    async def note_runs_started(self, claims: Sequence[Claim]) -> None:
        ids = [claim.endpoint_id for claim in claims]
        await self.connection.execute(query("note_runs_started"), ids)

    async def undo_claims(self, claims: Sequence[Claim]) -> None:
        await self.connection.execute(query("undo_claims"), *claim_keys(claims))


def claim_keys(claims: Sequence[Claim]) -> tuple[list[UUID], list[int], list[UUID]]:
    return (
        [claim.endpoint_id for claim in claims],
        [claim.epoch for claim in claims],
        [claim.run_id for claim in claims],
    )


def _values(run: FinishedRun, finish: Finish) -> tuple[Any, ...]:
    """One result, in the order of close_runs."""
    endpoint, plan, outcome = finish.settled, finish.plan, run.outcome
    body = None if outcome.body is None else to_json(outcome.body)
    message = outcome.error_message
    return (
        endpoint.id,
        run.claim.slot_at,
        endpoint.failure_count,
        endpoint.not_before_at,
        finish.anchor_at,
        endpoint.last_slot_at,
        plan.next_run_at,
        plan.source,
        plan_json(plan),
        endpoint.interval_hint is not None,
        endpoint.one_shot_hint is not None,
        answer_hash(outcome.status, body),
        outcome.status,
        run.started_at,
        outcome.status_code,
        outcome.error_kind,
        None if message is None else to_text(message),
        body,
        finish.skipped_slots,
        finish.skipped_reason,
        run.claim.epoch,
    )
