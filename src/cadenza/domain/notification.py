"""Notifications: which incidents a route tells of, when, and what has been told already.

A channel is told of the state of an incident when it differs from what it was last told: what
flaps, what fails a thousand times, and what ends while nobody was to be woken makes no message of
its own. The same news is never told twice within the route's cooldown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta, tzinfo
from uuid import UUID

from cadenza.domain.errors import InvalidInput
from cadenza.domain.incident import Incident, IncidentKind, Severity

GROUP = timedelta(seconds=15)
MAX_GROUP = timedelta(minutes=15)
COOLDOWN = timedelta(hours=1)
MAX_COOLDOWN = timedelta(days=7)
MAX_CHANNELS = 100
MAX_ROUTES = 200
EARLIER = "earlier"  # was told: that an incident before this one is open


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From one time of day to another, in a zone; over midnight where the end is the earlier."""

    begins: time
    ends: time
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class ChannelHealth:
    failing_since: datetime | None = None
    failures: int = 0  # in a row
    last_error: str | None = None
    last_sent_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Channel:
    """Where messages go; its URL is a secret, of which only `masked_url` leaves the store."""

    id: UUID
    tenant_id: UUID
    name: str
    service: str  # such as Slack
    masked_url: str  # the URL without what is secret
    created_at: datetime
    enabled: bool = True
    health: ChannelHealth = field(default_factory=ChannelHealth)


@dataclass(frozen=True, slots=True)
class Route:
    id: UUID
    tenant_id: UUID
    channel_id: UUID
    created_at: datetime
    job_id: UUID | None = None  # None: whatever it is about
    kinds: frozenset[IncidentKind] = frozenset()  # none: all of them
    min_severity: Severity = Severity.WARNING
    quiet: QuietHours | None = None
    critical_passes: bool = False  # through quiet hours
    group: timedelta = GROUP  # that news waits for company
    cooldown: timedelta = COOLDOWN
    tells_recovery: bool = True
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Announcement:
    """What a route has told of one subject, and when it is to tell more."""

    route_id: UUID
    incident_id: UUID
    notified_at: Mapping[str, datetime] = field(default_factory=dict[str, datetime])  # by state
    notified_state: str | None = None
    due_at: datetime | None = None  # at the latest
    not_before_at: datetime | None = None  # it may join others from then on


def check_route(route: Route) -> None:
    if not timedelta(0) <= route.group <= MAX_GROUP:
        raise InvalidInput("group", str(route.group), "from 0 to 15 minutes")
    if not timedelta(0) <= route.cooldown <= MAX_COOLDOWN:
        raise InvalidInput("cooldown", str(route.cooldown), "from 0 to 7 days")
    if route.quiet is not None and route.quiet.begins == route.quiet.ends:
        fix = "an end that differs from the beginning; to be told nothing, disable the route"
        raise InvalidInput("quiet.to", route.quiet.ends.isoformat("minutes"), fix)


def matches(route: Route, incident: Incident) -> bool:
    return (
        route.enabled
        and route.tenant_id == incident.tenant_id
        and route.job_id in (None, incident.job_id)
        and (not route.kinds or incident.kind in route.kinds)
        and incident.severity.rank >= route.min_severity.rank
    )


def quiet_until(quiet: QuietHours, now: datetime, zone: tzinfo) -> datetime | None:
    """The end of the quiet hours that `now` lies in; None outside of them. By the clock on the
    wall: where that is set back, quiet hours come twice."""
    local = now.astimezone(zone)
    at, over_midnight = local.time(), quiet.ends < quiet.begins
    if over_midnight:
        if quiet.ends <= at < quiet.begins:
            return None
        days = 1 if at >= quiet.begins else 0
    elif quiet.begins <= at < quiet.ends:
        days = 0
    else:
        return None
    end = datetime.combine(local.date() + timedelta(days=days), quiet.ends, tzinfo=zone)
    if (first := end.astimezone(now.tzinfo)) > now:
        return first
    return max(end.replace(fold=1).astimezone(now.tzinfo), now + timedelta(minutes=1))


def planned(
    route: Route, incident: Incident, announcement: Announcement, now: datetime, zone: tzinfo
) -> Announcement:
    """When the state of an incident is told; without a time where there is nothing to tell."""
    if announcement.incident_id != incident.id and _tells_open(announcement):
        announcement = replace(announcement, notified_state=EARLIER)
    nothing = replace(announcement, incident_id=incident.id, due_at=None, not_before_at=None)
    state = incident.state
    if state == announcement.notified_state:
        return nothing
    until = _held_until(route, incident, now, zone)
    if incident.is_open:
        if not matches(route, incident) or incident.acknowledged_at is not None:
            return nothing
    elif not route.enabled:
        return nothing
    elif not route.tells_recovery:  # as good as told: what begins anew is news
        return replace(nothing, notified_state=state)
    elif announcement.notified_state is None and (
        not matches(route, incident) or until is not None
    ):
        return nothing  # it began and ended while nobody was to be told
    last_at = announcement.notified_at.get(state)
    not_before = max(now, until or now, now if last_at is None else last_at + route.cooldown)
    due_at = not_before
    if not_before <= now:  # it waits for company, but no longer than what waits already
        due_at = min(now + route.group, announcement.due_at or now + route.group)
    return replace(nothing, due_at=due_at, not_before_at=not_before)


def _tells_open(announcement: Announcement) -> bool:
    return announcement.notified_state is not None and announcement.notified_state.startswith(
        "open"
    )


def _held_until(route: Route, incident: Incident, now: datetime, zone: tzinfo) -> datetime | None:
    if route.quiet is None:
        return None
    if route.critical_passes and incident.severity is Severity.CRITICAL:
        return None
    return quiet_until(route.quiet, now, zone)


def notified(announcement: Announcement, incident: Incident, now: datetime) -> Announcement:
    return replace(
        announcement,
        incident_id=incident.id,
        notified_at={**announcement.notified_at, incident.state: now},
        notified_state=incident.state,
        due_at=None,
        not_before_at=None,
    )
