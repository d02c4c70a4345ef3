"""Restoring archived jobs and endpoints, and deleting them permanently."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from cadenza.application.graph_targets import GraphTargets
from cadenza.application.jobs import job_after
from cadenza.application.ports.catalogue import StoredEndpoint, StoredJob
from cadenza.application.ports.store import Channel, EndpointChange, Store, Transaction
from cadenza.application.recording import record
from cadenza.domain import steering
from cadenza.domain.access import Caller
from cadenza.domain.analysis import changes_its_state
from cadenza.domain.billing import Account
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.errors import AlreadyRunning, Refused
from cadenza.domain.graph_target import GraphTarget

BATCH = 5000  # rows of history in one transaction, so that nobody waits for long
MOST_BATCHES = 20  # in one request: whoever wants more gone asks again
MOST_COUNTED = 100_000


@dataclass(frozen=True, slots=True)
class Removal:
    """What a deletion removes: endpoints, and rows of their history (counted up to a limit)."""

    endpoints: int
    history: int
    done: bool


@dataclass(frozen=True, slots=True)
class Archive:
    store: Store
    cron: Cron
    graphs: GraphTargets

    # --- Restored -----------------------------------------------------------------------------

    async def restore_endpoint(self, caller: Caller, endpoint_id: UUID) -> StoredEndpoint:
        accounts = await self.graphs.accounts(caller, ["graph"])
        async with self.store.transaction() as tx:
            seen = await tx.get_endpoint(caller.tenant_id, endpoint_id)
            job = await tx.share_job(caller.tenant_id, seen.endpoint.job_id)
            stored = await tx.lock_endpoint(caller.tenant_id, endpoint_id)
            if stored.endpoint.archived_at is None:
                return stored
            if job.job.archived_at is not None:
                raise Refused(f"its job {job.job.name!r} is archived: restore that")
            change = await self._restored(tx, caller, stored, job.job, accounts)
            await tx.save_endpoints([change])
            await tx.notify(Channel.DUE)
            await record(tx, caller.actor, caller.tenant_id, "endpoint.restore", change.endpoint)
        return replace(stored.after(change.endpoint, change.target), revision=stored.revision + 1)

    async def restore_job(self, caller: Caller, job_id: UUID) -> StoredJob:
        """Restores the endpoints that were archived with the job, not those archived before it."""
        accounts = await self.graphs.accounts(caller, ["graph"])
        async with self.store.transaction() as tx:
            stored = await tx.lock_job(caller.tenant_id, job_id)
            ended_at = stored.job.archived_at
            if ended_at is None:
                return stored
            job = replace(stored.job, archived_at=None)
            ended = await tx.lock_archived_endpoints(caller.tenant_id, job_id, ended_at)
            changes = [await self._restored(tx, caller, row, job, accounts) for row in ended]
            restored = job_after(stored, job, endpoint_count=len(changes))
            await tx.save_jobs([restored])
            if changes:
                await tx.save_endpoints(changes)
                await tx.notify(Channel.DUE)
            await record(tx, caller.actor, caller.tenant_id, "job.restore", job)
        return restored

    async def _restored(
        self,
        tx: Transaction,
        caller: Caller,
        stored: StoredEndpoint,
        job: Job,
        accounts: Sequence[Account],
    ) -> EndpointChange:
        """The restored endpoint; a graph whose grant was revoked gets a new one."""
        target = stored.target
        if isinstance(target, GraphTarget) and target.grant_id is None:
            endpoint_id, unpaid = stored.endpoint.id, replace(target, mandate=None)
            target = await self.graphs.authorised(tx, caller, endpoint_id, unpaid, accounts)
        held = replace(stored.endpoint, job_paused_until=job.paused_until)
        endpoint = steering.restore(held, stored.read_at, self.cron)
        is_news = changes_its_state(stored.endpoint, endpoint)
        changed = None if target == stored.target else target
        return EndpointChange(endpoint, is_news, changed, raises_revision=True)

    # --- Deleted ------------------------------------------------------------------------------

    async def what_goes(
        self, caller: Caller, *, job_id: UUID | None = None, endpoint_id: UUID | None = None
    ) -> Removal:
        """What deleting the job or endpoint would remove, whether or not it is archived."""
        async with self.store.transaction() as tx:
            ids = await self._ids(tx, caller, job_id, endpoint_id)
            return Removal(len(ids), await tx.count_history(ids, MOST_COUNTED), done=False)

    async def delete_endpoint(self, caller: Caller, endpoint_id: UUID) -> Removal:
        """Delete it with its history; audit entries and charges stay."""

        async def end(tx: Transaction) -> None:
            stored = await tx.lock_endpoint(caller.tenant_id, endpoint_id)
            _check_is_over([stored.endpoint])
            await tx.delete_endpoints([endpoint_id])
            data = {"name": stored.endpoint.name}
            await record(tx, caller.actor, caller.tenant_id, "endpoint.delete", endpoint_id, data)

        async with self.store.transaction() as tx:
            stored = await tx.get_endpoint(caller.tenant_id, endpoint_id)
            _check_is_over([stored.endpoint])
        return await self._deleted([endpoint_id], end)

    async def delete_job(self, caller: Caller, job_id: UUID) -> Removal:
        """Delete it with its endpoints and their history."""
        tenant_id = caller.tenant_id

        async def end(tx: Transaction) -> None:
            stored = await tx.lock_job(tenant_id, job_id)
            _check_is_archived(stored.job)
            locked = await tx.lock_endpoints(await tx.endpoint_ids_of_job(tenant_id, job_id))
            _check_is_over([row.endpoint for row in locked])
            await tx.delete_job(job_id)
            data = {"name": stored.job.name}
            await record(tx, caller.actor, tenant_id, "job.delete", job_id, data)

        async with self.store.transaction() as tx:
            _check_is_archived((await tx.get_job(tenant_id, job_id)).job)
            ids = await tx.endpoint_ids_of_job(tenant_id, job_id)
        return await self._deleted(ids, end)

    async def _deleted(
        self, endpoint_ids: Sequence[UUID], end: Callable[[Transaction], Awaitable[None]]
    ) -> Removal:
        """Deletes history in batches; what remains after a bounded number goes with the next
        request."""
        gone = 0
        for _ in range(MOST_BATCHES):
            async with self.store.transaction() as tx:
                batch = await tx.delete_history(endpoint_ids, BATCH)
            gone += batch
            if batch < BATCH:
                break
        else:
            return Removal(0, gone, done=False)
        async with self.store.transaction() as tx:
            await end(tx)
        return Removal(len(endpoint_ids), gone, done=True)

    async def _ids(
        self, tx: Transaction, caller: Caller, job_id: UUID | None, endpoint_id: UUID | None
    ) -> Sequence[UUID]:
        if endpoint_id is not None:
            return [(await tx.get_endpoint(caller.tenant_id, endpoint_id)).endpoint.id]
        assert job_id is not None
        await tx.get_job(caller.tenant_id, job_id)
        return await tx.endpoint_ids_of_job(caller.tenant_id, job_id)


def _check_is_archived(job: Job) -> None:
    if job.archived_at is None:
        raise Refused("archive it first: what is deleted is gone for good")


def _check_is_over(endpoints: Sequence[Endpoint]) -> None:
    for endpoint in endpoints:
        if endpoint.archived_at is None:
            raise Refused("archive it first: what is deleted is gone for good")
        if endpoint.in_flight:
            raise AlreadyRunning("a run of it is in flight; try again when that has finished")
