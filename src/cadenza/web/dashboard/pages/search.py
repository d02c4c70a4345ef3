"""The search field of every page: jobs, endpoints, runs, sessions; anything by its id."""

from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from cadenza.domain.errors import NotFound
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.dashboard.authorship import authors_of
from cadenza.web.dashboard.policy import HEADERS
from cadenza.web.dashboard.query import word
from cadenza.web.dashboard.rendering import page
from cadenza.web.dashboard.visitor import PageDependencies, Reader

routes = APIRouter()
MOST = 10


@routes.get("/search")
async def search_all(request: Request, visitor: Reader, dependencies: PageDependencies) -> Response:
    text, tenant_id = word(request, "q"), visitor.caller.tenant_id
    matches = None
    if text is not None:
        if (path := await _path_of_id(dependencies, tenant_id, text)) is not None:
            return RedirectResponse(path, 303, HEADERS)
        now = dependencies.around.clock.now()
        matches = await dependencies.search.everywhere(tenant_id, text, now, MOST)
    authors = await authors_of(dependencies, matches.runs if matches else ())
    return await page(request, "search.html", text=text or "", found=matches, authors=authors)


async def _path_of_id(dependencies: Dependencies, tenant_id: UUID, text: str) -> str | None:
    """Of whatever has this id; None where it is no id, or of nothing."""
    try:
        wanted = UUID(text)
    except ValueError:
        return None
    reads = dependencies.reads
    for path, read in (
        ("runs", reads.runs.get_run),
        ("endpoints", reads.endpoints.get_endpoint),
        ("jobs", reads.jobs.get_job),
        ("planner", reads.records.get_session),
        ("graphs/schedules", reads.schedules.get_schedule),
    ):
        try:
            await read(tenant_id, wanted)
        except NotFound:
            continue
        return f"/{path}/{wanted}"
    return None
