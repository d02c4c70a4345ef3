"""One tenant with one job in a store of its own: the start of a replay or a demo."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from cadenza.application.endpoints import add_endpoint, new_endpoint
from cadenza.application.ports.catalogue import StoredJob
from cadenza.application.ports.store import Store
from cadenza.domain.access import Tenant
from cadenza.domain.cron import Cron
from cadenza.domain.definition import JobDefinition, with_declared
from cadenza.domain.endpoint import Job


async def populate(
    store: Store, cron: Cron, new_id: Callable[[], UUID], definition: JobDefinition
) -> None:
    """Without phase and jitter: there is no other load to spread out."""
    async with store.transaction() as tx:
        now = await tx.time()
        tenant = Tenant(new_id(), definition.name, now)
        job = Job(new_id(), tenant.id, definition.name)
        stored = StoredJob(with_declared(job, definition, new_id), now, now)
        await tx.insert_tenant(tenant)
        await tx.insert_jobs([stored])
        for wanted in definition.endpoints:
            endpoint = replace(new_endpoint(new_id(), stored, wanted), spread=timedelta(0))
            await add_endpoint(tx, stored, endpoint, wanted.target, cron)
