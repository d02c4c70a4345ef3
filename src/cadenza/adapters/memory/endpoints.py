"""Jobs and endpoints, and acts on them."""

from collections.abc import Sequence
from uuid import UUID

from cadenza.adapters.memory.tables import EndpointRow, Tables, Topic
from cadenza.application.ports.endpoints import Act
from cadenza.domain import steering
from cadenza.domain.analysis import changes_its_state
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.target import Target


class MemoryEndpointStore:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def add_job(self, job: Job) -> None:
        self._tables.jobs[job.id] = job

    async def add_endpoint(self, endpoint: Endpoint, target: Target) -> Endpoint:
        tables = self._tables
        planned = steering.begin(endpoint, tables.clock.now(), tables.cron)
        tables.add_endpoint(EndpointRow(planned, target))
        tables.notify(Topic.DUE)
        return planned

    async def get_endpoint(self, tenant_id: UUID, endpoint_id: UUID) -> Endpoint:
        return self._tables.row(tenant_id, endpoint_id).endpoint

    async def list_endpoints(self, tenant_id: UUID, job_id: UUID) -> Sequence[Endpoint]:
        ids = self._tables.ids_of_job[job_id]
        found = (self._tables.endpoints[each].endpoint for each in ids)
        return sorted(
            (each for each in found if each.tenant_id == tenant_id), key=lambda each: each.name
        )

    async def change_endpoint(self, tenant_id: UUID, endpoint_id: UUID, act: Act) -> Endpoint:
        row = self._tables.row(tenant_id, endpoint_id)
        now = self._tables.clock.now()
        changed = act(row.endpoint, now, self._tables.cron)
        before, row.endpoint = row.endpoint, changed
        if changes_its_state(before, changed):
            row.changed_at = now
        if changed.plan != before.plan or changed.manual_slot_at != before.manual_slot_at:
            self._tables.notify(Topic.DUE)
        return changed
