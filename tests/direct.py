"""Endpoints put into a store and changed by hand, with no caller, revision or audit entry."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

from cadenza.application.endpoints import add_endpoint
from cadenza.application.ports.catalogue import StoredJob
from cadenza.application.ports.store import Store
from cadenza.application.transitions import save_transitions
from cadenza.domain.access import Tenant
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.errors import NotFound
from cadenza.domain.planner_policy import PlannerPolicy
from cadenza.domain.rule import Modes, Rule
from cadenza.domain.steering_history import By
from cadenza.domain.target import Target

Transition = Callable[[Endpoint, datetime, Cron], Endpoint]


class Direct:
    def __init__(self, store: Store, cron: Cron) -> None:
        self._store = store
        self._cron = cron

    async def add_tenant(self, tenant_id: UUID, modes: Modes | None = None) -> None:
        """One that is there stays as it is."""
        async with self._store.transaction() as tx:
            try:
                await tx.lock_tenant(tenant_id)
            except NotFound:
                tenant = Tenant(tenant_id, str(tenant_id), await tx.time(), modes=modes or Modes())
                await tx.insert_tenant(tenant)

    async def add_job(self, job: Job) -> None:
        """One that is there only takes on its name and description."""
        async with self._store.transaction() as tx:
            try:
                stored = await tx.lock_job(job.tenant_id, job.id)
            except NotFound:
                now = await tx.time()
                await tx.insert_jobs([StoredJob(job, now, now)])
                return
            named = replace(stored.job, name=job.name, description=job.description)
            if named != stored.job:
                await tx.save_jobs([replace(stored, job=named)])

    async def add_endpoint(self, endpoint: Endpoint, target: Target) -> Endpoint:
        """With its first plan."""
        async with self._store.transaction() as tx:
            stored = await tx.share_job(endpoint.tenant_id, endpoint.job_id)
            paused_until = endpoint.job_paused_until or stored.job.paused_until
            job = replace(stored, job=replace(stored.job, paused_until=paused_until))
            return (await add_endpoint(tx, job, endpoint, target, self._cron)).endpoint

    async def get_endpoint(self, tenant_id: UUID, endpoint_id: UUID) -> Endpoint:
        async with self._store.transaction() as tx:
            return (await tx.get_endpoint(tenant_id, endpoint_id)).endpoint

    async def list_endpoints(self, tenant_id: UUID, job_id: UUID) -> Sequence[Endpoint]:
        """By name, without those that are archived."""
        async with self._store.transaction() as tx:
            endpoints = [stored.endpoint for stored in await tx.declared_endpoints(tenant_id)]
        return [endpoint for endpoint in endpoints if endpoint.job_id == job_id]

    async def change_endpoint(
        self, tenant_id: UUID, endpoint_id: UUID, transition: Transition
    ) -> Endpoint:
        async with self._store.transaction() as tx:
            stored = await tx.lock_endpoint(tenant_id, endpoint_id)
            changed = transition(stored.endpoint, stored.read_at, self._cron)
            await save_transitions(tx, [(stored.endpoint, changed)], By())
        return changed

    # --- What owners say about planners ---------------------------------------------------

    async def ask_for_analysis(self, endpoint: Endpoint) -> None:
        async with self._store.transaction() as tx:
            await tx.lock_endpoint(endpoint.tenant_id, endpoint.id)
            await tx.ask_for_analysis(endpoint.id)

    async def set_policy(self, endpoint: Endpoint, policy: PlannerPolicy) -> None:
        """Of its job."""
        await self._change_job(endpoint, lambda job: replace(job, planner=policy))

    async def set_job_rules(self, endpoint: Endpoint, *rules: Rule) -> None:
        """Of its job. A rule that has no id gets one."""
        identified = [rule if rule.id else replace(rule, id=uuid4()) for rule in rules]
        await self._change_job(endpoint, lambda job: replace(job, rules=tuple(identified)))

    async def set_tenant_modes(self, tenant_id: UUID, modes: Modes) -> None:
        async with self._store.transaction() as tx:
            tenant, _ = await tx.lock_tenant(tenant_id)
            await tx.save_tenant(replace(tenant, modes=modes))

    async def _change_job(self, endpoint: Endpoint, change: Callable[[Job], Job]) -> None:
        async with self._store.transaction() as tx:
            stored = await tx.lock_job(endpoint.tenant_id, endpoint.job_id)
            await tx.save_jobs([replace(stored, job=change(stored.job))])
