"""Who did what, and what happens now."""

from collections.abc import Sequence
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.ports.records import AuditRecord, AuditSearch
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.parsing.cursors import read_time_cursor
from cadenza.web.dashboard.pages.jobs import word_or_none
from cadenza.web.dashboard.pages.lists import Rows, endpoint_names, rows_by_time
from cadenza.web.dashboard.query import since, word
from cadenza.web.dashboard.rendering import page
from cadenza.web.dashboard.visitor import PageDependencies, Reader, Visitor

routes = APIRouter()
ENTRY = "/activity"


@routes.get("/activity")
async def show_activity(
    request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    search = AuditSearch(
        from_at=since(request, dependencies.around.clock.now()),
        after=read_time_cursor(word_or_none(request, "cursor")),
        actor=word(request, "actor"),
        action=word(request, "action"),
        subjects=tuple(filter(None, [word(request, "subject")])),
    )
    rows: Rows[AuditRecord] = Rows(())
    if visitor.may_admin:  # the log names keys, which are the admins' matter
        reads = dependencies.reads.records
        rows = rows_by_time(request, await reads.search_audit(visitor.caller.tenant_id, search))
    return await page(
        request,
        "activity.html",
        entry=ENTRY,
        rows=rows,
        names=await _names(rows.items, visitor, dependencies),
        search=search,
        range=request.query_params.get("range", ""),
    )


async def _names(
    entries: Sequence[AuditRecord], visitor: Visitor, dependencies: Dependencies
) -> dict[str, str]:
    """Of the endpoints that something was done to, by id, in one query."""
    ids = {UUID(entry.subject) for entry in entries if entry.action.startswith("endpoint.")}
    names = await endpoint_names(dependencies, visitor, ids)
    return {str(endpoint_id): name.name for endpoint_id, name in names.items()}
