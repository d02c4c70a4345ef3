"""Cron with cronsim: five fields, Debian's rules at DST, zones from the IANA list.

Whatever is typed in ends as an occurrence or as InvalidCron, in bounded time.
"""

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
    """The Cron port."""

    def next_after(self, expression: str, timezone: str, after: datetime) -> datetime:
        fields = _five_fields(expression)
        try:
            local = after.astimezone(_zone(timezone))
            for occurrence in islice(CronSim(fields, local), MAX_PASSES):
                at = occurrence.astimezone(UTC)
                if at - after > HORIZON:
                    break
                if at > after:
                    return at
        except CronSimError as error:
            raise InvalidCron("cron", expression, f"{error}; {_EXPECTED}".lower()) from error
        except (AssertionError, ArithmeticError, LookupError, ValueError) as error:
            # Not documented by the library, but a hostile string must not find a new way out.
            raise InvalidCron("cron", expression, _EXPECTED) from error
        raise InvalidCron(
            "cron", expression, "it has no occurrence within five years; check day and month"
        )


_EXPECTED = "expected five fields: minute hour day-of-month month day-of-week"


def _five_fields(expression: str) -> str:
    if len(expression) > MAX_LENGTH:
        raise InvalidCron("cron", expression, f"it may have at most {MAX_LENGTH} characters")
    text = expression.replace("\t", " ").strip()
    if not text.isascii() or not text.isprintable():
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
        raise InvalidCron("timezone", name, _zone_advice(name))
    *folders, leaf = name.split("/")
    package = ".".join(["tzdata.zoneinfo", *folders])
    with resources.files(package).joinpath(leaf).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    return frozenset(resources.files("tzdata").joinpath("zones").read_text().split())


def _zone_advice(name: str) -> str:
    close = get_close_matches(name[:64], zone_names(), n=1)
    expected = "expected a name of the IANA list, like Europe/Paris"
    return f"{expected}; did you mean {close[0]}?" if close else expected
