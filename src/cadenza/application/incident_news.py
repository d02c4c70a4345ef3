"""News of incidents: what routes have to tell of those that changed, and the events that say so."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo

from cadenza.application.ports.store import Transaction
from cadenza.domain.audit import PendingEvent
from cadenza.domain.errors import InvalidInput
from cadenza.domain.incident import Incident, IncidentChange
from cadenza.domain.instants import iso, iso_or_none
from cadenza.domain.notification import Announcement, QuietHours, planned


async def plan_announcements(
    tx: Transaction,
    incidents: Sequence[Incident],
    now: datetime,
    zone_of: Callable[[str], tzinfo],
) -> None:
    """What routes have to tell of these, now that they changed."""
    routes = await tx.routes_of(list({incident.tenant_id for incident in incidents}))
    if not routes:
        return
    keys = [incident.key for incident in incidents]
    before = await tx.announcements_of([route.id for route in routes], keys)
    saved: list[tuple[Announcement, Incident]] = []
    for incident in incidents:
        for route in routes:
            if route.tenant_id != incident.tenant_id:
                continue
            known = before.get((route.id, incident.key)) or Announcement(route.id, incident.id)
            after = planned(route, incident, known, now, zone_for(route.quiet, zone_of))
            if after != known and (after.due_at or (route.id, incident.key) in before):
                saved.append((after, incident))
    if saved:
        await tx.save_announcements(saved)


def zone_for(quiet: QuietHours | None, zone_of: Callable[[str], tzinfo]) -> tzinfo:
    try:
        return UTC if quiet is None else zone_of(quiet.timezone)
    except InvalidInput:  # a name that newer lists of time zones have no more
        return UTC


def incident_event(change: IncidentChange) -> PendingEvent:
    incident = change.incident
    data = {
        "incident_id": str(incident.id),
        "kind": incident.kind,
        "name": incident.name,
        "severity": incident.severity,
        "detail": incident.detail,
        "opened_at": iso(incident.opened_at),
        "resolved_at": iso_or_none(incident.resolved_at),
    }
    ids = (incident.tenant_id, incident.job_id, incident.endpoint_id)
    return PendingEvent(f"incident.{change.what}", *ids, data)
