"""Cron with cronsim: five fields, Debian's rules at DST, zones from the IANA list.

Whatever is typed in ends as an occurrence or as InvalidCron, in bounded time.
"""

from bisect import bisect_left
from datetime import UTC, datetime, timedelta, tzinfo
from difflib import get_close_matches
from functools import lru_cache
from importlib import resources
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from cadenza.domain.errors import InvalidCron

MAX_LENGTH = 128
HORIZON = timedelta(days=5 * 366)
# In the second pass of an overlap the library starts again at the first: at most an hour of
# minutes, and the widest overlaps in the database of zones are a day.
MAX_PASSES = 24 * 60 + 1
SECOND = timedelta(seconds=1)

NICKNAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


class CronsimCron:
    def next_after(self, expression: str, timezone: str, after: datetime) -> datetime:
        fields, zone = _five_fields(expression), _zone(timezone)
        minute, hour, *_ = fields.split()
        is_elapsed = minute.startswith("*") or hour.startswith("*")
        find = _next_elapsed if is_elapsed and zone is not UTC else _next_fixed
        try:
            at = find(fields, zone, after)
        except CronSimError as error:
            if (why := _never(fields)) is not None:
                raise InvalidCron("cron", expression, why) from error
            raise InvalidCron("cron", expression, _what_fits(fields, str(error))) from error
        except (AssertionError, ArithmeticError, LookupError, ValueError) as error:
            # Not documented by the library, but no hostile string may raise anything else.
            raise InvalidCron("cron", expression, _EXPECTED) from error
        if at is None or at - after > HORIZON:
            next_time = "" if at is None else f": it next comes on {at.astimezone(zone):%Y-%m-%d}"
            fix = f"it has no occurrence within five years{next_time}; check day and month"
            raise InvalidCron("cron", expression, fix)
        return at


def _never(fields: str) -> str | None:
    """Why it never comes, where each field alone is right."""
    minute, hour, days, months, weekdays = fields.split()
    try:
        CronSim(" ".join((minute, hour, days, "*", weekdays)), datetime(2000, 1, 1, tzinfo=UTC))
        CronSim(" ".join((minute, hour, "*", months, weekdays)), datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError:
        return None
    return f"it never comes: no month of {months} has a day {days}"


def _what_fits(fields: str, error: str) -> str:
    """The library says "Bad minute": which one, and what would be good."""
    name = error.lower().removeprefix("bad ")
    if name not in _FIELDS:
        return _EXPECTED
    written = fields.split()[list(_FIELDS).index(name)]
    return f"bad {name} {written!r}: expected {_FIELDS[name]}, *, a list, a range or a step (*/5)"


def _next_fixed(fields: str, zone: tzinfo, after: datetime) -> datetime | None:
    occurrences = islice(CronSim(fields, after.astimezone(zone)), MAX_PASSES)
    instants = (occurrence.astimezone(UTC) for occurrence in occurrences)
    return next((at for at in instants if at > after), None)


def _next_elapsed(fields: str, zone: tzinfo, after: datetime) -> datetime | None:
    """Between two changes of its clock a zone has one offset, and its local time is plain.

    Across a change the library steps by whole hours: where the change is half an hour (Lord Howe)
    or not on the hour (Chatham), it would miss slots, or never come out of the overlap.
    """
    after_at, since_at = after, after
    while since_at - after <= HORIZON:
        offset = _offset(zone, since_at)
        local = next(CronSim(fields, (after_at + offset).replace(tzinfo=None)), None)
        if local is None:
            return None
        at = local.replace(tzinfo=UTC) - offset
        if at - after > HORIZON:
            return at
        change_at = _first_change(zone, since_at, at)
        if change_at is None:
            return at
        after_at, since_at = change_at - SECOND, change_at
    return None


def _first_change(zone: tzinfo, since_at: datetime, until_at: datetime) -> datetime | None:
    """The first instant of another offset, to the second."""
    offset, day_at = _offset(zone, since_at), since_at.replace(microsecond=0)
    while day_at < until_at:
        next_at = min(day_at + timedelta(days=1), until_at)
        if _offset(zone, next_at) != offset:
            seconds = range((next_at - day_at) // SECOND + 1)
            changed = bisect_left(
                seconds, True, key=lambda count: _offset(zone, day_at + count * SECOND) != offset
            )
            return day_at + changed * SECOND
        day_at = next_at
    return None


def _offset(zone: tzinfo, at: datetime) -> timedelta:
    return zone.utcoffset(at.astimezone(zone)) or timedelta(0)


_FIELDS = {
    "minute": "0 to 59",
    "hour": "0 to 23",
    "day-of-month": "1 to 31, L",
    "month": "1 to 12, jan to dec",
    "day-of-week": "0 to 7, sun to sat",
}
_EXPECTED = f"expected five fields: {' '.join(_FIELDS)}"


def _five_fields(expression: str) -> str:
    if len(expression) > MAX_LENGTH:
        raise InvalidCron("cron", expression, f"it may have at most {MAX_LENGTH} characters")
    text = expression.replace("\t", " ").strip()
    if not expression.isascii() or not text.isprintable():
        raise InvalidCron("cron", expression, "only printable ASCII characters are allowed")
    if text.startswith("@"):
        if text.lower() not in NICKNAMES:
            raise InvalidCron("cron", expression, f"expected one of {', '.join(NICKNAMES)}")
        return NICKNAMES[text.lower()]
    count = len(text.split())
    if count == 6:
        raise InvalidCron("cron", expression, "seconds are not supported; leave the first one out")
    if count != 5:
        raise InvalidCron("cron", expression, f"{_EXPECTED}, got {count}")
    return text


@lru_cache(maxsize=1024)
def _zone(name: str) -> tzinfo:
    """A zone from the tzdata package, so that every worker has the same rules."""
    if name == "UTC":
        return UTC
    if name not in zone_names():
        close = get_close_matches(name[:64], zone_names(), n=1)
        advice = f"; did you mean {close[0]}?" if close else ""
        expected = "expected a name of the IANA list, like Europe/Paris"
        raise InvalidCron("timezone", name, f"{expected}{advice}")
    *folders, leaf = name.split("/")
    package = ".".join(["tzdata.zoneinfo", *folders])
    with resources.files(package).joinpath(leaf).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    names = resources.files("tzdata").joinpath("zones").read_text().split()
    return frozenset(names) - {"Factory"}  # which means that nobody has chosen one
