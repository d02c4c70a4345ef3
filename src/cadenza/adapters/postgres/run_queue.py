"""Claims, leases, epochs and fencing, each one transaction over as many rows as there are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.database import Connection, Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import (
    Row,
    answer_hash,
    claim_of,
    endpoint_of,
    endpoint_values,
    plan_json,
    to_json,
    to_text,
)
from cadenza.adapters.postgres.secrets import with_secret_headers
from cadenza.adapters.postgres.telling import PendingEvents
from cadenza.application.ports.run_queue import ClaimBatch, ClaimRequest, FinishReport
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import MAX_SPREAD
from cadenza.domain.errors import SecretUnreadable
from cadenza.domain.outcome import finish_run
from cadenza.domain.run import Claim, FinishedRun
from cadenza.domain.steering import given_back
from cadenza.domain.target import HttpTarget

FIRST_TENANT = UUID(int=0)
TENANTS_AT_ONCE = 500
SPARE_SECONDS = 1.0  # that an id may wait for its run: ids sort by the time they were made


class PostgresRunQueue:
    def __init__(
        self,
        database: Database,
        cron: Cron,
        new_id: Callable[[], UUID],
        box: SecretBox,
        spread: timedelta = MAX_SPREAD,
        on_time: Callable[[datetime], None] = lambda _: None,
    ) -> None:
        """`on_time` hears what time the database says it is, with every claim."""
        self._database = database
        self._cron = cron
        self._new_id = new_id
        self._box = box
        self._spread = spread
        self._on_time = on_time
        self._backlog = False
        self._last_tenant_id = FIRST_TENANT
        self._spare_ids: list[UUID] = []
        self._spare_until = 0.0

    # --- Claim ----------------------------------------------------------------------------

    async def claim_due(self, request: ClaimRequest) -> ClaimBatch:
        """In the order of slots; with a backlog, a share for each tenant."""
        ids = self._enough_ids(request.limit)
        async with self._database.connection() as connection:
            rows = await connection.fetch(query("claim_due"), *self._claim_values(request, ids))
        meta = rows[0]
        self._on_time(meta["now"])
        self._last_tenant_id = meta["last_tenant_id"] or FIRST_TENANT
        claims = [self._claim_of(row) for row in rows if row["run_id"] is not None]
        taken = {claim.run_id for claim in claims}
        self._spare_ids = [each for each in ids if each not in taken]
        found = meta["found_count"]
        self._backlog = found >= request.limit or len(claims) < found
        return ClaimBatch(claims, meta["next_due_at"], self._backlog)

    async def claim_lost(self, request: ClaimRequest) -> Sequence[Claim]:
        async with self._database.connection() as connection:
            values = self._claim_values(request, ids=[], sweeps=True)  # what is lost has one
            rows = await connection.fetch(query("claim_due"), *values)
        return [self._claim_of(row) for row in rows if row["run_id"] is not None]

    def _enough_ids(self, count: int) -> list[UUID]:
        """Those that the claim before did not need, and new ones: most claims are small, and an id
        takes its time. They are spare again only when the store has said which it took."""
        now = monotonic()
        if now >= self._spare_until:
            self._spare_ids, self._spare_until = [], now + SPARE_SECONDS
        spare, self._spare_ids = self._spare_ids[:count], []
        return spare + [self._new_id() for _ in range(count - len(spare))]

    def _claim_of(self, row: Row) -> Claim:
        claim = claim_of(row)
        sealed = row["secret_headers"]
        if sealed is None or not isinstance(claim.target, HttpTarget):
            return claim
        try:
            target = with_secret_headers(
                self._box,
                claim.target,
                sealed,
                tenant_id=claim.tenant_id,
                endpoint_id=claim.endpoint_id,
            )
        except SecretUnreadable as error:
            return replace(claim, unreadable=str(error))  # its run says so; the others go on
        return replace(claim, target=target)

    def _claim_values(
        self, request: ClaimRequest, ids: list[UUID], *, sweeps: bool = False
    ) -> tuple[Any, ...]:
        tenants, hosts = request.busy_tenants, request.busy_hosts
        return (
            request.limit,
            request.lease,
            request.ahead,
            request.worker,
            ids,
            list(tenants),
            list(tenants.values()),
            list(hosts),
            list(hosts.values()),
            [each for each, count in tenants.items() if count >= request.per_tenant],
            [each for each, count in hosts.items() if count >= request.per_host],
            [request.per_tenant, request.per_host],
            self._backlog,
            self._last_tenant_id,
            TENANTS_AT_ONCE,
            sweeps,
        )

    # --- Renew and give back --------------------------------------------------------------

    async def renew(self, claims: Sequence[Claim], lease: timedelta) -> frozenset[UUID]:
        async with self._database.connection() as connection:
            rows = await connection.fetch(query("renew"), *_keys(claims), lease)
        return frozenset(row["running_run_id"] for row in rows)

    async def give_back(self, claims: Sequence[Claim]) -> None:
        """Undo them, and let acts that were made meanwhile take effect."""
        async with self._database.transaction() as connection:
            rows = await connection.fetch(query("lock_for_give_back"), *_keys(claims))
            await connection.execute(query("give_back"), *_keys(claims))
            undone = [row for row in rows if row["running_attempt"] == 1]
            freed = [
                given_back(endpoint_of(row, self._spread), row["now"], self._cron) for row in undone
            ]
            values = [(*endpoint_values(each), False) for each in freed]
            await connection.executemany(query("save_endpoint"), values)

    # --- Finish ---------------------------------------------------------------------------

    async def finish(self, finished: Sequence[FinishedRun]) -> FinishReport:
        """Lock what still counts, let the governor plan, write everything, tell the planners."""
        claims = [each.claim for each in finished]
        async with self._database.transaction() as connection:
            await connection.execute(query("prefer_indexes"))
            rows = await connection.fetch(query("lock_for_finish"), *_keys(claims))
            fresh = {row["running_run_id"]: row for row in rows}
            columns, pending_events = _FinishColumns(), PendingEvents()
            for each in finished:
                row = fresh.pop(each.claim.run_id, None)
                if row is not None:
                    pending_events.add(each, row, self._settle(each, row, columns))
            if rows:
                await connection.execute(query("finish"), rows[0]["now"], *columns.values())
                await pending_events.tell(connection, rows[0]["now"])
            stale = [each for each in finished if each.claim.run_id not in columns.run_ids]
            late = await self._note_late(connection, stale) if stale else frozenset[UUID]()
            await connection.execute(query("notify"), "cadenza_finished")
        next_runs = [at for at in columns.next_run_at if at is not None]
        return FinishReport(late, min(next_runs, default=None))

    def _settle(self, finished: FinishedRun, row: Any, columns: "_FinishColumns") -> int:
        """How many failures in a row there are now."""
        settled = finish_run(endpoint_of(row, self._spread), finished, row["now"], self._cron)
        endpoint, plan, outcome = settled.settled, settled.plan, finished.outcome
        body = None if outcome.body is None else to_json(outcome.body)
        message = outcome.error_message
        columns.add(
            finished.claim.run_id,
            (
                endpoint.id,
                finished.claim.slot_at,
                endpoint.failure_count,
                endpoint.not_before_at,
                settled.anchor_at,
                endpoint.last_slot_at,
                plan.next_run_at,
                plan.source,
                plan_json(plan),
                endpoint.interval_hint is not None,
                endpoint.one_shot_hint is not None,
                answer_hash(outcome.status, body),
                outcome.status,
                finished.started_at,
                outcome.status_code,
                outcome.error_kind,
                None if message is None else to_text(message),
                body,
                settled.skipped_slots,
                settled.skipped_reason,
                finished.claim.epoch,
            ),
        )
        return endpoint.failure_count

    async def _note_late(
        self, connection: Connection, stale: Sequence[FinishedRun]
    ) -> frozenset[UUID]:
        claims = [each.claim for each in stale]
        rows = await connection.fetch(
            query("note_late"),
            [claim.run_id for claim in claims],
            [claim.endpoint_id for claim in claims],
            [claim.tenant_id for claim in claims],
            [claim.epoch for claim in claims],
            [each.outcome.status for each in stale],
            [claim.slot_at for claim in claims],
        )
        return frozenset(row["run_id"] for row in rows)


@dataclass(slots=True)
class _FinishColumns:
    """Results as columns, which is how one statement takes many rows."""

    run_ids: set[UUID] = field(default_factory=set[UUID])
    rows: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])

    def add(self, run_id: UUID, row: tuple[Any, ...]) -> None:
        self.run_ids.add(run_id)
        self.rows.append(row)

    def values(self) -> list[list[Any]]:
        return [list(column) for column in zip(*self.rows, strict=True)]

    @property
    def next_run_at(self) -> list[datetime | None]:
        return [row[6] for row in self.rows]


def _keys(claims: Sequence[Claim]) -> tuple[list[UUID], list[int], list[UUID]]:
    return (
        [claim.endpoint_id for claim in claims],
        [claim.epoch for claim in claims],
        [claim.run_id for claim in claims],
    )
