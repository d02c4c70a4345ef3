"""Claims and leases, each one statement over as many rows as there are."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from time import monotonic
from typing import Any
from uuid import UUID

import asyncpg

from cadenza.adapters.postgres.clock import Asking
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.run_rows import claim_keys
from cadenza.adapters.postgres.targets import open_headers, target_of
from cadenza.application.ports.claims import ClaimBatch, ClaimRequest, Renewal
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.errors import SecretUnreadable
from cadenza.domain.plan import SOURCES, Source
from cadenza.domain.run import Claim
from cadenza.domain.target import Target, with_secrets

FIRST_TENANT = UUID(int=0)
TENANTS_AT_ONCE = 500
MOVES = 5  # of a slot that is taken, until it is free
SPARE_SECONDS = 1.0  # that an id may wait for its run: ids sort by the time they were made


class PostgresClaims:
    def __init__(
        self,
        database: Database,
        new_id: Callable[[], UUID],
        box: SecretBox,
        asking: Asking = lambda: lambda _: None,
    ) -> None:
        """`asking` hears with every claim what time the database says it is."""
        self._database = database
        self._new_id = new_id
        self._box = box
        self._asking = asking
        self._backlog = False
        self._last_tenant_id = FIRST_TENANT
        self._spare_ids: list[UUID] = []
        self._spare_until = 0.0

    async def claim_due(self, request: ClaimRequest) -> ClaimBatch[Claim]:
        """In the order of slots; with a backlog, a share for each tenant."""
        ids, hear = self._enough_ids(request.limit), self._asking()
        rows = await self._claim(request, ids, is_sweep=False)
        meta = rows[0]
        hear(meta["now"])
        self._last_tenant_id = meta["last_tenant_id"] or FIRST_TENANT
        claims = [self._claim_of(row) for row in rows if row["run_id"] is not None]
        taken = {claim.run_id for claim in claims}
        self._spare_ids = [run_id for run_id in ids if run_id not in taken]
        candidates, closed = meta["found_count"], sum(claim.must_close for claim in claims)
        self._backlog = candidates >= request.limit or len(claims) - closed < candidates
        return ClaimBatch(claims, meta["next_due_at"], self._backlog)

    async def claim_lost(self, request: ClaimRequest) -> Sequence[Claim]:
        rows = await self._claim(request, [], is_sweep=True)  # what is lost has an id
        return [self._claim_of(row) for row in rows if row["run_id"] is not None]

    async def _claim(
        self, request: ClaimRequest, ids: list[UUID], *, is_sweep: bool
    ) -> Sequence[Row]:
        walk = self._backlog, self._last_tenant_id, TENANTS_AT_ONCE
        values = _values(request, ids)
        values = (*values, *walk, is_sweep, request.runs_on, _owners(request))
        for _ in range(MOVES):
            with suppress(asyncpg.UniqueViolationError):
                return await self._lease(values)
            # A slot that has a run already, as after a clock that stepped back and forth.
            await self._database.execute(query("move_taken_slots"), request.ahead)
        return await self._lease(values)

    async def _lease(self, values: Sequence[Any]) -> Sequence[Row]:
        async with self._database.transaction() as connection:
            await connection.execute(query("walk_indexes"))
            return await connection.fetch(query("claim_due"), *values)

    async def renew(self, claims: Sequence[Claim], lease: timedelta) -> Renewal:
        rows = await self._database.fetch(query("renew"), *claim_keys(claims), lease)
        renewed = frozenset(row["run_id"] for row in rows if row["is_renewed"])
        return Renewal(renewed, frozenset(row["run_id"] for row in rows) - renewed)

    def _enough_ids(self, count: int) -> list[UUID]:
        """Those that the claim before did not need, and new ones: most claims are small, and an id
        takes its time. They are spare again only when the store has said which it took."""
        now = monotonic()
        if now >= self._spare_until:
            self._spare_ids, self._spare_until = [], now + SPARE_SECONDS
        spare, self._spare_ids = self._spare_ids[:count], []
        return spare + [self._new_id() for _ in range(count - len(spare))]

    def _claim_of(self, row: Row) -> Claim:
        target, unreadable = self._target(row)
        return Claim(
            run_id=row["run_id"],
            endpoint_id=row["endpoint_id"],
            tenant_id=row["tenant_id"],
            job_id=row["job_id"],
            endpoint_name=row["endpoint_name"],
            target=target,
            slot_at=row["slot_at"],
            source=Source.MANUAL if row["is_manual"] else SOURCES[row["next_source"]],
            epoch=row["epoch"],
            first_claimed_at=row["first_claimed_at"],
            host=row["host"],
            attempt=row["attempt"],
            is_manual=row["is_manual"],
            is_paused=bool(row["is_paused"]),
            is_archived=row["is_archived"],
            unreadable=unreadable,
            started_at=row["started_at"],
        )

    def _target(self, row: Row) -> tuple[Target, str | None]:
        """With its secrets; why they do not open is for its own run to say, the others go on."""
        target, sealed = target_of(row["target"]), row["secret_headers"]
        if sealed is None:
            return target, None
        ids = {"tenant_id": row["tenant_id"], "endpoint_id": row["endpoint_id"]}
        try:
            return with_secrets(target, open_headers(self._box, sealed, **ids)), None
        except SecretUnreadable as error:
            return target, str(error)


def _values(request: ClaimRequest, ids: list[UUID]) -> tuple[Any, ...]:
    tenants, hosts = request.busy_tenants, request.busy_hosts
    return (
        request.limit,
        request.lease,
        request.ahead,
        request.worker,
        ids,
        list(tenants),
        list(tenants.values()),
        [host for _, host in hosts],
        list(hosts.values()),
        [tenant for tenant, count in tenants.items() if count >= request.per_tenant],
        [host for (_, host), count in hosts.items() if count >= request.per_host],
        [request.per_tenant, request.per_host],
    )


def _owners(request: ClaimRequest) -> list[UUID]:
    return [tenant_id for tenant_id, _ in request.busy_hosts]
