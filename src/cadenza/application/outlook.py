"""An endpoint's next runs, and why they come when they do."""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.ports.catalogue import EndpointReads, StoredEndpoint
from cadenza.application.ports.steering_history import SteeringReads
from cadenza.domain.cron import Cron
from cadenza.domain.definition import EndpointDefinition, check_schedule_part, warnings_of
from cadenza.domain.endpoint import CronLine, Endpoint
from cadenza.domain.explanation import Explanation, JobPause, explain
from cadenza.domain.instants import FOREVER
from cadenza.domain.preview import Upcoming, next_runs, next_runs_by_baseline
from cadenza.domain.steering_history import SteeringKind

NEXT_RUNS = 5
STANDING = 5  # hints and pauses at most stand at an endpoint, one of each kind
DRAFT = UUID(int=0)  # no endpoint has this id


@dataclass(frozen=True, slots=True)
class Outlook:
    endpoints: EndpointReads
    steering: SteeringReads
    cron: Cron

    async def explain(
        self, tenant_id: UUID, endpoint_id: UUID
    ) -> tuple[StoredEndpoint, Explanation]:
        stored = await self.endpoints.get_endpoint(tenant_id, endpoint_id)
        endpoint, now = stored.endpoint, stored.read_at
        pause = await self._job_pause(endpoint, now)
        return stored, explain(endpoint, now, self.cron, pause)

    async def _job_pause(self, endpoint: Endpoint, now: datetime) -> JobPause | None:
        """Who paused the job, and why; unknown where the audit entry is older than the
        retention."""
        until_at = endpoint.job_paused_until
        if until_at is None or until_at <= now or endpoint.archived_at is not None:
            return None
        standing = await self.steering.steering_between([endpoint.id], now, FOREVER, STANDING)
        for named in reversed(standing):
            if named.entry.kind is SteeringKind.JOB_PAUSE:
                return JobPause(named.user_name, named.entry.advice.reason)
        return None

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
        """The next runs of a definition that is not saved, and conflicts between baseline and
        guardrails. InvalidInput where it is invalid."""
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
        """The next runs, and conflicts between baseline and guardrails."""
        upcoming = next_runs(stored.endpoint, stored.read_at, self.cron, NEXT_RUNS)
        return upcoming, warnings_of(stored.definition, stored.read_at, self.cron)
