"""The planner stopped everywhere at once, and started again as it was: in one tenant, or in all."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from uuid import UUID

from cadenza.application.ports.accounts import TenantReads
from cadenza.application.ports.planner_stops import PlannerStopReads
from cadenza.application.ports.store import Store
from cadenza.application.recording import record
from cadenza.domain.access import INSTALLATION_ADMIN, Actor, Caller
from cadenza.domain.errors import NotFound
from cadenza.domain.planner_stop import ALL_OFF, PlannerStop, own_modes, switched_off
from cadenza.domain.rule import Modes

STOP, START = "planner.stop", "planner.start"
TENANTS = 500  # that are read at once


@dataclass(frozen=True, slots=True)
class Switched:
    """What a stop or a start changed in all tenants."""

    tenants: int = 0
    jobs: int = 0


@dataclass(frozen=True, slots=True)
class PlannerSwitch:
    store: Store
    tenants: TenantReads
    stops: PlannerStopReads

    async def state(self, tenant_id: UUID) -> tuple[Modes, PlannerStop | None]:
        """The tenant's modes, and what they were where the planner is stopped."""
        tenant = await self.tenants.get_tenant(tenant_id)
        return tenant.modes, await self.stops.planner_stop(tenant_id)

    async def stop(self, caller: Caller, reason: str = "") -> PlannerStop:
        return (await self._stop(caller.tenant_id, caller.actor, caller.user_id, reason))[0]

    async def start(self, caller: Caller) -> tuple[Modes, int]:
        """What the tenant's modes are then, and how many jobs got theirs back. Where it is not
        stopped, nothing changes."""
        return await self._start(caller.tenant_id, caller.actor)

    # --- Everywhere -----------------------------------------------------------------------

    async def stop_all(self, reason: str = "") -> Switched:
        """Tenant by tenant: each is stopped as a whole, and no tenant waits for another's."""
        switched = Switched()
        async for tenant_id in self._all_tenants():
            try:
                _, jobs = await self._stop(tenant_id, INSTALLATION_ADMIN, None, reason)
            except NotFound:  # it was deleted meanwhile
                continue
            switched = Switched(switched.tenants + 1, switched.jobs + jobs)
        return switched

    async def start_all(self) -> Switched:
        """Those that `stop_all` stopped; a tenant that has stopped its own stays as it is."""
        switched = Switched()
        async for tenant_id in self._all_tenants():
            stop = await self.stops.planner_stop(tenant_id)
            if stop is None or stop.stopped_by is not None:
                continue
            try:
                _, jobs = await self._start(tenant_id, INSTALLATION_ADMIN)
            except NotFound:
                continue
            switched = Switched(switched.tenants + 1, switched.jobs + jobs)
        return switched

    async def _all_tenants(self) -> AsyncIterator[UUID]:
        after: UUID | None = None
        while tenants := await self.tenants.list_tenants(after, TENANTS):
            for tenant in tenants:
                yield tenant.id
            after = tenants[-1].id

    # --- One tenant -----------------------------------------------------------------------

    async def _stop(
        self, tenant_id: UUID, actor: Actor, user_id: UUID | None, reason: str
    ) -> tuple[PlannerStop, int]:
        """And how many jobs had modes of their own that were not off."""
        async with self.store.transaction() as tx:
            tenant, now = await tx.lock_tenant(tenant_id)
            await tx.lock_jobs(tenant_id)
            stored = await tx.declared_jobs(tenant_id)
            busy = [row for row in stored if own_modes(row.job.planner)]
            jobs = {row.job.id: own_modes(row.job.planner) for row in busy}
            before = await tx.get_planner_stop(tenant_id)
            stop = PlannerStop(tenant_id, now, user_id, reason, tenant.modes, jobs)
            if before is not None:
                stop = before.again(tenant.modes, jobs)
            await tx.save_planner_stop(stop)
            await tx.save_tenant(replace(tenant, modes=ALL_OFF))
            if busy:
                await tx.save_jobs(
                    [
                        replace(row, job=replace(row.job, planner=switched_off(row.job.planner)))
                        for row in busy
                    ]
                )
            data = {"jobs": len(busy), "reason": reason}
            await record(tx, actor, tenant_id, STOP, tenant_id, data)
        return stop, len(busy)

    async def _start(self, tenant_id: UUID, actor: Actor) -> tuple[Modes, int]:
        async with self.store.transaction() as tx:
            tenant, _ = await tx.lock_tenant(tenant_id)
            stop = await tx.get_planner_stop(tenant_id)
            if stop is None:
                return tenant.modes, 0
            await tx.lock_jobs(tenant_id)
            changed = [
                replace(row, job=replace(row.job, planner=policy))
                for row in await tx.declared_jobs(tenant_id)
                if (policy := stop.given_back_to(row.job.id, row.job.planner)) != row.job.planner
            ]
            modes = stop.given_back(tenant.modes)
            await tx.save_tenant(replace(tenant, modes=modes))
            if changed:
                await tx.save_jobs(changed)
            await tx.delete_planner_stop(tenant_id)
            await record(tx, actor, tenant_id, START, tenant_id, {"jobs": len(changed)})
        return modes, len(changed)
