"""How the dashboard says times and durations, in the zone of who reads."""

import re
from datetime import UTC, datetime, timedelta, tzinfo

from markupsafe import Markup

from cadenza.domain.instants import FOREVER, iso

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")


def span(duration: timedelta) -> str:
    """The two largest parts of a duration: 2 d 3 h, 5 min 20 s, 340 ms."""
    seconds = abs(duration.total_seconds())
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    if seconds < 10:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    left, parts = int(seconds), list[str]()
    for size, unit in _UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts[:2])


def relative(at: datetime, now: datetime) -> str:
    if at >= FOREVER:
        return "until resumed"
    distance = at - now
    if abs(distance) < timedelta(seconds=1):
        return "now"
    seconds = timedelta(seconds=int(abs(distance).total_seconds()))
    return f"in {span(seconds)}" if distance > timedelta(0) else f"{span(seconds)} ago"


def absolute(at: datetime, zone: tzinfo, now: datetime) -> str:
    """As a clock there shows it, with the zone; with the day where that is not today."""
    if at >= FOREVER:
        return ""
    local, today = at.astimezone(zone), now.astimezone(zone)
    clock = f"{local:%H:%M:%S} {zone_name(local)}"
    if local.date() == today.date():
        return clock
    day = f"{local.day} {local:%b}" if local.year == today.year else f"{local:%Y-%m-%d}"
    return f"{day} {clock}"


def zone_name(local: datetime) -> str:
    """CET, or UTC+5 where a zone has no letters of its own."""
    name = local.tzname() or "UTC"
    return f"UTC{name}" if name[:1] in "+-" else name


def in_sentence(text: str, zone: tzinfo, now: datetime) -> Markup:
    """A sentence of ours, its instants as the person's clock shows them."""
    parts, last = list[Markup](), 0
    for match in _INSTANT.finditer(text):
        at = _instant(match[0])
        if at is None:
            continue
        parts.append(Markup.escape(text[last : match.start()]))
        clock_time = absolute(at, zone, now) or "the end of time"
        parts.append(Markup('<time datetime="{}">{}</time>').format(iso(at), clock_time))
        last = match.end()
    return Markup("").join([*parts, Markup.escape(text[last:])])


def _instant(text: str) -> datetime | None:
    """None of what only looks like one: reasons are what people and models wrote."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
