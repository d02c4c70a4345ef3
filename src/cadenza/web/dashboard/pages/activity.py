"""Who did what, and what happens now."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.ports.records import AuditRecord, AuditSearch
from cadenza.web.api.parsing.cursors import read_time_cursor
from cadenza.web.dashboard.pages.jobs import word_or_none
from cadenza.web.dashboard.pages.lists import Rows, rows_by_time
from cadenza.web.dashboard.query import since, word
from cadenza.web.dashboard.rendering import page
from cadenza.web.dashboard.visitor import PageDependencies, Reader

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
        search=search,
        range=request.query_params.get("range", ""),
    )
