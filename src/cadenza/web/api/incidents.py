"""Incidents: what is not as it should be, acknowledged by people and resolved by state."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from cadenza.application.ports.notifications import IncidentSearch
from cadenza.domain.incident import IncidentKind
from cadenza.web.api.access import ApiDependencies, Operator, Reader
from cadenza.web.api.parsing.cursors import read_time_cursor, write_time_cursor
from cadenza.web.api.parsing.query import Cursor, Limit
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.notifications import IncidentResponse, incident_response
from cadenza.web.api.schemas.pages import Page, page_response

routes = router("Incidents", "/incidents")
Open = Annotated[
    bool | None, Query(alias="open", description="true: only open ones; false: only resolved ones.")
]


@routes.get("")
async def list_incidents(
    caller: Reader,
    dependencies: ApiDependencies,
    is_open: Open = None,
    kind: IncidentKind | None = None,
    job_id: UUID | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[IncidentResponse]:
    """The newest first."""
    search = IncidentSearch(is_open, kind, job_id, read_time_cursor(cursor), limit + 1)
    incidents = await dependencies.reads.notifications.list_incidents(caller.tenant_id, search)
    return page_response(
        incidents,
        limit,
        incident_response,
        lambda incident: write_time_cursor((incident.opened_at, incident.id)),
    )


@routes.get("/{incident_id}")
async def get_incident(
    incident_id: UUID, caller: Reader, dependencies: ApiDependencies
) -> IncidentResponse:
    reads = dependencies.reads.notifications
    return incident_response(await reads.get_incident(caller.tenant_id, incident_id))


@routes.post("/{incident_id}/acknowledge")
async def acknowledge_incident(
    incident_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> IncidentResponse:
    """Somebody is at it: no more is told of it unless it gets worse, or is over."""
    return incident_response(await dependencies.incidents.acknowledge(caller, incident_id))


@routes.post("/{incident_id}/resolve")
async def resolve_incident(
    incident_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> IncidentResponse:
    """By hand: it stays closed until the same begins anew. The state closes it by itself."""
    return incident_response(await dependencies.incidents.resolve(caller, incident_id))
