"""What lies ahead of an endpoint: why its next run, and the ones after it."""

import asyncio
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query
from pydantic import Field

from cadenza.domain.endpoint import CronLine
from cadenza.domain.explanation import Explanation, explain
from cadenza.domain.instants import FOREVER
from cadenza.domain.preview import Upcoming, next_runs, next_runs_by_baseline
from cadenza.web.api.access import ApiDependencies, Reader
from cadenza.web.api.routes import router
from cadenza.web.api.schemas import Shown, UpcomingShown, upcoming_shown

routes = router("Outlook", "/endpoints/{endpoint_id}")


class ExplanationShown(Shown):
    endpoint_id: UUID
    at: datetime = Field(description="When this was said.")
    summary: str
    next_run_at: datetime | None
    source: str | None
    plan: dict[str, Any] | None = Field(
        description="The record: every candidate and why it was excluded, the winner, clamps, "
        "inputs."
    )
    because: list[str] = Field(description="How it was chosen, in sentences.")
    would_change: list[str] = Field(description="What would change it, in sentences.")


class PreviewShown(Shown):
    endpoint_id: UUID
    at: datetime
    planned: list[UpcomingShown] = Field(description="Under the hints and pauses in force.")
    baseline: list[UpcomingShown] = Field(
        description="As if there were no hints and no planner's pause."
    )


@routes.get("/explain")
async def explain_next_run(
    endpoint_id: UUID, caller: Reader, dependencies: ApiDependencies
) -> ExplanationShown:
    """Why it runs next when it does, what was considered, and what would change it."""
    stored = await dependencies.endpoints.get_endpoint(caller.tenant_id, endpoint_id)
    said = explain(stored.endpoint, stored.read_at, dependencies.cron)
    return _explanation_shown(endpoint_id, stored.read_at, said)


@routes.get("/preview")
async def preview(
    endpoint_id: UUID,
    caller: Reader,
    dependencies: ApiDependencies,
    count: Annotated[int, Query(ge=1, le=100, description="How many runs ahead.")] = 10,
) -> PreviewShown:
    """The next runs, if each of them goes well and takes no time."""
    stored = await dependencies.endpoints.get_endpoint(caller.tenant_id, endpoint_id)
    endpoint, now, cron = stored.endpoint, stored.read_at, dependencies.cron

    def ahead() -> tuple[list[Upcoming], list[Upcoming]]:
        planned = next_runs(endpoint, now, cron, count)
        return planned, next_runs_by_baseline(endpoint, now, cron, count)

    # A rare cron line takes long to walk, and others are waiting.
    walks = isinstance(endpoint.baseline, CronLine)
    planned, baseline = await asyncio.to_thread(ahead) if walks else ahead()
    return PreviewShown(
        endpoint_id=endpoint_id,
        at=now,
        planned=upcoming_shown(planned),
        baseline=upcoming_shown(baseline),
    )


def _explanation_shown(endpoint_id: UUID, at: datetime, said: Explanation) -> ExplanationShown:
    plan = said.plan
    next_run_at = plan.next_run_at if plan else None
    endless = next_run_at is not None and next_run_at >= FOREVER
    return ExplanationShown(
        endpoint_id=endpoint_id,
        at=at,
        summary=said.summary,
        next_run_at=None if endless else next_run_at,
        source=plan.source if plan else None,
        plan=plan.record() if plan else None,
        because=list(said.because),
        would_change=list(said.would_change),
    )
