"""What lies ahead of an endpoint: why its next run, and the ones after it."""

import asyncio
from uuid import UUID

from cadenza.domain.endpoint import CronLine
from cadenza.domain.explanation import explain
from cadenza.domain.preview import Upcoming, next_runs, next_runs_by_baseline
from cadenza.web.api.access import ApiDependencies, Reader
from cadenza.web.api.parsing.query import Count
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.outlook import (
    ExplanationResponse,
    PreviewResponse,
    explanation_response,
    preview_response,
)

routes = router("Outlook", "/endpoints/{endpoint_id}")


@routes.get("/explain")
async def explain_next_run(
    endpoint_id: UUID, caller: Reader, dependencies: ApiDependencies
) -> ExplanationResponse:
    """Why it runs next when it does, what was considered, and what would change it."""
    stored = await dependencies.endpoints.get_endpoint(caller.tenant_id, endpoint_id)
    explanation = explain(stored.endpoint, stored.read_at, dependencies.cron)
    return explanation_response(endpoint_id, stored.read_at, explanation)


@routes.get("/preview")
async def preview(
    endpoint_id: UUID,
    caller: Reader,
    dependencies: ApiDependencies,
    count: Count = 10,
) -> PreviewResponse:
    """The next runs, if each of them goes well and takes no time."""
    stored = await dependencies.endpoints.get_endpoint(caller.tenant_id, endpoint_id)
    endpoint, now, cron = stored.endpoint, stored.read_at, dependencies.cron

    def ahead() -> tuple[list[Upcoming], list[Upcoming]]:
        planned = next_runs(endpoint, now, cron, count)
        return planned, next_runs_by_baseline(endpoint, now, cron, count)

    # A rare cron line takes long to walk, and others are waiting.
    walks = isinstance(endpoint.baseline, CronLine)
    planned, baseline = await asyncio.to_thread(ahead) if walks else ahead()
    return preview_response(endpoint_id, now, planned, baseline)
