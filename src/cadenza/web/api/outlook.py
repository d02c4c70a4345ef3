"""What lies ahead of an endpoint: why its next run, and the ones after it."""

from uuid import UUID

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
    stored, explanation = await dependencies.outlook.explain(caller.tenant_id, endpoint_id)
    return explanation_response(endpoint_id, stored.read_at, explanation)


@routes.get("/preview")
async def preview(
    endpoint_id: UUID,
    caller: Reader,
    dependencies: ApiDependencies,
    count: Count = 10,
) -> PreviewResponse:
    """The next runs, if each of them goes well and takes no time."""
    stored, planned, baseline = await dependencies.outlook.preview(
        caller.tenant_id, endpoint_id, count
    )
    return preview_response(endpoint_id, stored.read_at, planned, baseline)
