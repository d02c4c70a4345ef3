"""Time zones by name."""

from datetime import tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from cadenza.domain.errors import InvalidInput


@cache
def zone_of(name: str) -> tzinfo:
    if name not in _known():
        fix = "a zone of the IANA list, such as Europe/Berlin or UTC"
        raise InvalidInput("quiet.timezone", name, fix)
    return ZoneInfo(name)


@cache
def _known() -> frozenset[str]:
    return frozenset(available_timezones())
