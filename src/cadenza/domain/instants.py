"""Instants and durations: special ones, and how they are written."""

from datetime import UTC, datetime, timedelta

# The end of a pause that has none. Far, but an ordinary instant, so that it sorts and compares.
FOREVER = datetime(9999, 1, 1, tzinfo=UTC)

TICK = timedelta(microseconds=1)
_MILLISECOND = timedelta(milliseconds=1)


def iso(instant: datetime) -> str:
    """ISO-8601 in UTC with a `Z`, to the microsecond where there is one."""
    utc = instant if instant.tzinfo is UTC else instant.astimezone(UTC)
    return f"{utc.isoformat()[:-6]}Z"


def iso_or_none(instant: datetime | None) -> str | None:
    return None if instant is None else iso(instant)


def stamp(instant: datetime) -> str:
    """For names of folders and databases: digits to the second, in UTC."""
    return instant.astimezone(UTC).strftime("%Y%m%d%H%M%S")


def from_iso(text: str) -> datetime:
    return datetime.fromisoformat(text)


def milliseconds(duration: timedelta) -> int:
    return duration // _MILLISECOND


def latest(*instants: datetime | None) -> datetime | None:
    last = None  # without a generator: a run asks several times
    for instant in instants:
        if instant is not None and (last is None or instant > last):
            last = instant
    return last


def humanize(duration: timedelta) -> str:
    """A duration as a person says it: 90 s, 5 min, 1 h 30 min."""
    total = duration.total_seconds()
    if total < 120 or total % 60:
        return f"{total:g} s"
    minutes = int(total) // 60
    hours, minutes = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min"
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def humanize_until(instant: datetime) -> str:
    return "until resumed" if instant >= FOREVER else f"until {iso(instant)}"
