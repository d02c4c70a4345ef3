"""What is not as it should be, since when, and who is at it."""

from enum import StrEnum
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.ports.notifications import IncidentSearch
from cadenza.domain.incident import Incident, IncidentKind
from cadenza.web.api.parsing.cursors import read_time_cursor, write_time_cursor
from cadenza.web.dashboard.pages.jobs import word_or_none
from cadenza.web.dashboard.pages.lists import PAGE, rows_of
from cadenza.web.dashboard.query import choice, identifier
from cadenza.web.dashboard.rendering import back_or, done, page
from cadenza.web.dashboard.visitor import Operator, PageDependencies, Reader, Sent

routes = APIRouter()
ENTRY = "/activity"
LIST = "/activity/incidents"


class Which(StrEnum):
    """Without one, those that are open."""

    RESOLVED = "resolved"
    ALL = "all"


_IS_OPEN = {None: True, Which.RESOLVED: False, Which.ALL: None}


@routes.get(LIST)
async def list_incidents(
    request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    which = choice(request, "state", Which)
    search = IncidentSearch(
        is_open=_IS_OPEN[which],
        kind=choice(request, "kind", IncidentKind),
        job_id=identifier(request, "job"),
        after=read_time_cursor(word_or_none(request, "cursor")),
        limit=PAGE + 1,
    )
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads
    incidents = await reads.notifications.list_incidents(tenant_id, search)
    return await page(
        request,
        "incidents.html",
        entry=ENTRY,
        rows=rows_of(request, incidents, _cursor_of),
        search=search,
        which=which,
        kinds=list(IncidentKind),
        job=await reads.jobs.get_job(tenant_id, search.job_id) if search.job_id else None,
    )


def _cursor_of(incident: Incident) -> str:
    return write_time_cursor((incident.opened_at, incident.id))


@routes.post("/activity/incidents/{incident_id}/acknowledge")
async def acknowledge_incident(
    incident_id: UUID, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    incident = await dependencies.incidents.acknowledge(visitor.caller, incident_id)
    return done(back_or(form, LIST), f"Acknowledged: {incident.name}.")


@routes.post("/activity/incidents/{incident_id}/resolve")
async def resolve_incident(
    incident_id: UUID, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    incident = await dependencies.incidents.resolve(visitor.caller, incident_id)
    return done(back_or(form, LIST), f"Resolved until it happens again: {incident.name}.")
