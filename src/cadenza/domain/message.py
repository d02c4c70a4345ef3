"""Messages: what a channel is sent about incidents. Names and errors in it may be anybody's."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.domain.incident import Incident, IncidentKind, Severity
from cadenza.domain.instants import humanize, iso

MAX_LISTED = 20
MAX_TITLE = 150
_WORDS = {
    IncidentKind.FAILING: "fails",
    IncidentKind.LATE: "is late",
    IncidentKind.PLANNER_PAUSE: "is paused by the planner",
    IncidentKind.SUGGESTION: "has a suggestion waiting",
    IncidentKind.QUOTA: "planner limit",
    IncidentKind.GRANT: "grant expires",
    IncidentKind.KEY: "key expires",
    IncidentKind.WORKER: "is lost",
    IncidentKind.CHANNEL: "channel fails",
    IncidentKind.WEBHOOK: "webhook is disabled",
}
# What would be markup, a mention or a new line where messages are shown. Look-alikes stay readable.
_HARMLESS = str.maketrans(
    {"<": "‹", ">": "›", "[": "［", "]": "］", "`": "ˋ", "@": "@\N{ZERO WIDTH SPACE}"}
)


@dataclass(frozen=True, slots=True)
class Message:
    title: str
    body: str
    severity: Severity


def plain(text: str, most: int = 300) -> str:
    """On one line, without markup, mentions and control characters."""
    line = "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(line.split()).translate(_HARMLESS)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def compose(
    incidents: Sequence[Incident], reference: str, now: datetime, page: str | None = None
) -> Message:
    """One message for all of them, the worst first; many are counted. `page` shows them all."""
    ordered = sorted(incidents, key=lambda one: (not one.is_open, -one.severity.rank, one.name))
    still_open = [incident for incident in ordered if incident.is_open]
    worst = ordered[0].severity if still_open else Severity.INFO
    lines = [_line(incident, now) for incident in ordered[:MAX_LISTED]]
    if len(ordered) > MAX_LISTED:
        lines.append(f"… and {len(ordered) - MAX_LISTED} more: cadenza incidents list")
    lines += ["", *([page] if page else []), f"ref {reference}"]
    return Message(_title(ordered, still_open, worst), "\n".join(lines), worst)


def _title(ordered: Sequence[Incident], still_open: Sequence[Incident], worst: Severity) -> str:
    if len(ordered) == 1:
        (one,) = ordered
        how = f"[{worst}] {one_line(one)}" if still_open else f"[resolved] {plain(one.name, 100)}"
        return plain_title(how)
    ended = len(ordered) - len(still_open)
    parts = [f"{len(still_open)} open"] if still_open else []
    parts += [f"{ended} resolved"] if ended else []
    return plain_title(f"[{worst if still_open else 'resolved'}] {', '.join(parts)}")


def plain_title(text: str) -> str:
    """A title is a header of mails; its brackets are ours."""
    line = "".join(char if char.isprintable() else " " for char in text)
    return f"Cadenza: {' '.join(line.split())}"[:MAX_TITLE]


def one_line(incident: Incident) -> str:
    return f"{plain(incident.name, 100)} {_WORDS[incident.kind]}"


def _line(incident: Incident, now: datetime) -> str:
    if not incident.is_open:
        ended = incident.resolved_at or now
        lasted = _roughly(ended - incident.opened_at)
        by = "" if incident.resolved_by in (None, "state") else ", closed by hand"
        return f"resolved: {one_line(incident)} no more, after {lasted}{by}"
    detail = f": {plain(incident.detail)}" if incident.detail else ""
    again = f", for the {incident.times}. time" if incident.times > 1 else ""
    since = f"since {iso(incident.opened_at.replace(microsecond=0))}{again}"
    return f"{incident.severity}: {one_line(incident)} {since}{detail}"


def _roughly(duration: timedelta) -> str:
    """To the second, and from two minutes on to the minute."""
    seconds = max(0, int(duration.total_seconds()))
    return humanize(timedelta(seconds=seconds if seconds < 120 else seconds - seconds % 60))
