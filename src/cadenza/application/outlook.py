"""What lies ahead of an endpoint: why its next run, and the ones after it."""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.ports.catalogue import EndpointReads, StoredEndpoint
from cadenza.domain.cron import Cron
from cadenza.domain.definition import EndpointDefinition, check_schedule_part, warnings_of
from cadenza.domain.endpoint import CronLine, Endpoint
from cadenza.domain.explanation import Explanation, explain
from cadenza.domain.preview import Upcoming, next_runs, next_runs_by_baseline

NEXT_RUNS = 5
DRAFT = UUID(int=0)  # no endpoint has this id


@dataclass(frozen=True, slots=True)
class Outlook:
    endpoints: EndpointReads
    cron: Cron

    async def explain(
        self, tenant_id: UUID, endpoint_id: UUID
    ) -> tuple[StoredEndpoint, Explanation]:
        stored = await self.endpoints.get_endpoint(tenant_id, endpoint_id)
        return stored, explain(stored.endpoint, stored.read_at, self.cron)

    async def preview(
        self, tenant_id: UUID, endpoint_id: UUID, count: int
    ) -> tuple[StoredEndpoint, list[Upcoming], list[Upcoming]]:
        """The next runs under the hints and pauses in force, and by the baseline alone."""
        stored = await self.endpoints.get_endpoint(tenant_id, endpoint_id)
        endpoint, now = stored.endpoint, stored.read_at

        def walk() -> tuple[list[Upcoming], list[Upcoming]]:
            planned = next_runs(endpoint, now, self.cron, count)
            return planned, next_runs_by_baseline(endpoint, now, self.cron, count)

        # A rare cron line takes long to walk, and others are waiting.
        is_cron = isinstance(endpoint.baseline, CronLine)
        planned, baseline = await asyncio.to_thread(walk) if is_cron else walk()
        return stored, planned, baseline

    async def preview_draft(
        self, definition: EndpointDefinition, now: datetime, count: int
    ) -> tuple[list[Upcoming], list[str]]:
        """The next runs of what is not saved yet, and where baseline and guardrails fight each
        other; InvalidInput where they cannot be."""
        check_schedule_part(definition, now, self.cron)
        endpoint = Endpoint(
            id=DRAFT,
            tenant_id=DRAFT,
            job_id=DRAFT,
            name=definition.name,
            baseline=definition.baseline,
            created_at=now,
            min_interval=definition.min_interval,
            max_interval=definition.max_interval,
            spread=timedelta(0),  # its phase depends on the id that it will have
        )

        def walk() -> tuple[list[Upcoming], list[str]]:
            upcoming = next_runs_by_baseline(endpoint, now, self.cron, count)
            return upcoming, warnings_of(definition, now, self.cron)

        return await asyncio.to_thread(walk)

    def next_runs(self, stored: StoredEndpoint) -> tuple[list[Upcoming], list[str]]:
        """The first runs ahead, and where baseline and guardrails fight each other."""
        upcoming = next_runs(stored.endpoint, stored.read_at, self.cron, NEXT_RUNS)
        return upcoming, warnings_of(stored.definition, stored.read_at, self.cron)
