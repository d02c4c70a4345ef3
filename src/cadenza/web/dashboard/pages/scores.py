"""The score's data for a page, and why one of its runs came when it did."""

from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.domain.plan import Plan
from cadenza.domain.score import RUNS_OF_A_LANE
from cadenza.web.api import scores
from cadenza.web.api.parsing.query import (
    Cursor,
    From,
    LaneCount,
    LaneIds,
    RunsOfALane,
    To,
    ValueChoices,
    WithFields,
)
from cadenza.web.api.schemas.score import ScoreResponse
from cadenza.web.dashboard.authorship import authors_of
from cadenza.web.dashboard.policy import HEADERS
from cadenza.web.dashboard.rendering import fragment
from cadenza.web.dashboard.visitor import PageDependencies, Reader

routes = APIRouter()


@routes.get("/jobs/{job_id}/score.json")
async def get_score(
    job_id: UUID,
    response: Response,
    visitor: Reader,
    dependencies: PageDependencies,
    from_at: From = None,
    to: To = None,
    lanes: LaneCount = 50,
    endpoint: LaneIds = None,
    runs: RunsOfALane = RUNS_OF_A_LANE,
    cursor: Cursor = None,
    value: ValueChoices = None,
    fields: WithFields = False,
) -> ScoreResponse:
    """As the API has it, for who comes with a cookie."""
    response.headers.update(HEADERS)
    asked = (from_at, to, lanes, endpoint, runs, cursor, value, fields)
    return await scores.get_score(job_id, visitor.caller, dependencies, *asked)


@routes.get("/runs/{run_id}/why")
async def show_why(
    run_id: UUID, request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads
    run = (await reads.runs.get_run(tenant_id, run_id)).run
    return await fragment(
        request,
        "runs/why.html",
        run=run,
        authors=await authors_of(dependencies, [run]),
        plan=Plan.from_record(run.plan) if run.plan else None,
        stored=await reads.endpoints.get_endpoint(tenant_id, run.endpoint_id),
    )
