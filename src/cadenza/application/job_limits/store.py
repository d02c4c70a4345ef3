"""The store for a person whose role is for single jobs. Every write goes through here.

A verb is guarded below, passed on (it concerns no job, or its subject was guarded before), or
refused: a new verb is refused until it is listed here.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from cadenza.application.job_limits.guard import OF_WHOLE_TENANT, Guard
from cadenza.application.ports.catalogue import StoredEndpoint, StoredJob
from cadenza.application.ports.store import EndpointChange, Store, Transaction
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import NotAllowed, NotFound
from cadenza.domain.incident import Incident
from cadenza.domain.schedule_difference import StoredSchedule
from cadenza.domain.suggestion import Suggestion
from cadenza.domain.target import Secret, Target

PASSED = frozenset(
    (
        *("time", "add_audit", "add_audits", "add_events", "notify", "take_idempotency_key"),
        *("lock_tenant", "lock_jobs"),  # a file is applied one at a time
        *("sibling_ids", "note_steering", "note_asked_run", "jobs_of_endpoints"),
        *("mark_accepted", "mark_dismissed"),  # of a suggestion that was locked
        *("save_incidents", "routes_of", "announcements_of", "save_announcements"),  # and of these
        *("take_old_reservations", "take_reservation", "insert_reservation"),
        *("lock_allowance", "save_allowance"),
    )
)


@dataclass(frozen=True, slots=True)
class LimitedStore:
    store: Store
    guard: Guard

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Transaction]:
        async with self.store.transaction() as tx:
            yield cast("Transaction", LimitedTransaction(tx, self.guard))


class LimitedTransaction:
    def __init__(self, tx: Transaction, guard: Guard) -> None:
        self._tx = tx
        self._guard = guard

    def __getattr__(self, verb: str) -> Any:
        if verb in PASSED:
            return getattr(self._tx, verb)
        raise NotAllowed(OF_WHOLE_TENANT)

    # --- Jobs -----------------------------------------------------------------------------

    async def get_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        self._guard.check_readable(job_id)
        return await self._tx.get_job(tenant_id, job_id)

    async def lock_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        self._guard.check_operable(job_id)
        return await self._tx.lock_job(tenant_id, job_id)

    async def share_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        self._guard.check_operable(job_id)
        return await self._tx.share_job(tenant_id, job_id)

    async def save_jobs(self, jobs: Sequence[StoredJob]) -> None:
        self._guard.check_all_operable(stored.job.id for stored in jobs)
        await self._tx.save_jobs(jobs)

    async def delete_job(self, job_id: UUID) -> None:
        self._guard.check_operable(job_id)
        await self._tx.delete_job(job_id)

    async def declared_jobs(self, tenant_id: UUID) -> Sequence[StoredJob]:
        jobs = await self._tx.declared_jobs(tenant_id)
        return [stored for stored in jobs if self._guard.is_readable(stored.job.id)]

    async def secrets_of_job(self, tenant_id: UUID, job_id: UUID) -> Sequence[Secret]:
        self._guard.check_operable(job_id)
        return await self._tx.secrets_of_job(tenant_id, job_id)

    async def endpoint_ids_of_job(self, tenant_id: UUID, job_id: UUID) -> Sequence[UUID]:
        self._guard.check_readable(job_id)
        return await self._tx.endpoint_ids_of_job(tenant_id, job_id)

    # --- Endpoints ------------------------------------------------------------------------

    async def insert_endpoints(self, endpoints: Sequence[tuple[Endpoint, Target]]) -> None:
        self._guard.check_all_operable(endpoint.job_id for endpoint, _ in endpoints)
        await self._tx.insert_endpoints(endpoints)

    async def get_endpoint(self, tenant_id: UUID, endpoint_id: UUID) -> StoredEndpoint:
        stored = await self._tx.get_endpoint(tenant_id, endpoint_id)
        self._guard.check_readable(stored.endpoint.job_id, f"no endpoint {endpoint_id}")
        return stored

    async def lock_endpoint(
        self, tenant_id: UUID, endpoint_id: UUID, *, with_secrets: bool = False
    ) -> StoredEndpoint:
        stored = await self._tx.lock_endpoint(tenant_id, endpoint_id, with_secrets=with_secrets)
        self._guard.check_operable(stored.endpoint.job_id, f"no endpoint {endpoint_id}")
        return stored

    async def lock_endpoints(self, endpoint_ids: Sequence[UUID]) -> Sequence[StoredEndpoint]:
        stored = await self._tx.lock_endpoints(endpoint_ids)
        self._guard.check_all_operable(row.endpoint.job_id for row in stored)
        return stored

    async def lock_own_endpoints(
        self, tenant_id: UUID, endpoint_ids: Sequence[UUID]
    ) -> Sequence[StoredEndpoint]:
        stored = await self._tx.lock_own_endpoints(tenant_id, endpoint_ids)
        return [row for row in stored if self._guard.is_operable(row.endpoint.job_id)]

    async def lock_endpoints_of_job(
        self, tenant_id: UUID, job_id: UUID
    ) -> Sequence[StoredEndpoint]:
        self._guard.check_operable(job_id)
        return await self._tx.lock_endpoints_of_job(tenant_id, job_id)

    async def lock_archived_endpoints(
        self, tenant_id: UUID, job_id: UUID, since_at: datetime
    ) -> Sequence[StoredEndpoint]:
        self._guard.check_operable(job_id)
        return await self._tx.lock_archived_endpoints(tenant_id, job_id, since_at)

    async def declared_endpoints(self, tenant_id: UUID) -> Sequence[StoredEndpoint]:
        stored = await self._tx.declared_endpoints(tenant_id)
        return [row for row in stored if self._guard.is_readable(row.endpoint.job_id)]

    async def save_endpoints(self, changes: Sequence[EndpointChange]) -> None:
        self._guard.check_all_operable(change.endpoint.job_id for change in changes)
        await self._tx.save_endpoints(changes)

    async def ask_for_analysis(self, endpoint_id: UUID) -> None:
        await self._check([endpoint_id])
        await self._tx.ask_for_analysis(endpoint_id)

    # --- What hangs on endpoints ----------------------------------------------------------

    async def count_history(self, endpoint_ids: Sequence[UUID], most: int) -> int:
        for job_id in await self._tx.jobs_of_endpoints(endpoint_ids):
            self._guard.check_readable(job_id)
        return await self._tx.count_history(endpoint_ids, most)

    async def delete_history(self, endpoint_ids: Sequence[UUID], most: int) -> int:
        await self._check(endpoint_ids)
        return await self._tx.delete_history(endpoint_ids, most)

    async def delete_endpoints(self, endpoint_ids: Sequence[UUID]) -> None:
        await self._check(endpoint_ids)
        await self._tx.delete_endpoints(endpoint_ids)

    async def revoke_grants_of_endpoints(self, endpoint_ids: Sequence[UUID]) -> Sequence[UUID]:
        await self._check(endpoint_ids)
        return await self._tx.revoke_grants_of_endpoints(endpoint_ids)

    async def lock_suggestion(self, tenant_id: UUID, session_id: UUID, call: int) -> Suggestion:
        suggestion = await self._tx.lock_suggestion(tenant_id, session_id, call)
        await self._check([suggestion.endpoint_id], f"no session {session_id}")
        return suggestion

    async def lock_incident(self, tenant_id: UUID, incident_id: UUID) -> Incident:
        incident = await self._tx.lock_incident(tenant_id, incident_id)
        missing = f"no incident {incident_id}"
        if incident.job_id is None:
            raise NotFound(missing)
        self._guard.check_operable(incident.job_id, missing)
        return incident

    async def declared_schedules(self, tenant_id: UUID) -> Sequence[StoredSchedule]:
        """None: schedules belong to no job."""
        if self._guard.limits.readable is not None:
            return ()
        return await self._tx.declared_schedules(tenant_id)

    async def _check(self, endpoint_ids: Sequence[UUID], missing: str | None = None) -> None:
        for job_id in await self._tx.jobs_of_endpoints(endpoint_ids):
            self._guard.check_operable(job_id, missing)
