"""What an address asks for: filters, a range, a place in a list."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TypeVar
from urllib.parse import urlencode
from uuid import UUID
from zoneinfo import ZoneInfo

from fastapi import Request

from cadenza.domain.errors import InvalidInput
from cadenza.web.api.parsing.strict_json import check_text

Choice = TypeVar("Choice", bound=StrEnum)
PAGE = 50
MAX_WORD = 200
RANGES = {
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}


def word(request: Request, name: str) -> str | None:
    """None where it is left out or empty, as a form sends it."""
    text = request.query_params.get(name, "").strip()
    if len(text) > MAX_WORD:
        raise InvalidInput(name, text, f"at most {MAX_WORD} characters")
    check_text(name, text)
    return text or None


def choice(request: Request, name: str, choices: type[Choice]) -> Choice | None:
    text = word(request, name)
    if text is None:
        return None
    try:
        return choices(text)
    except ValueError as error:
        raise InvalidInput(name, text, f"one of {', '.join(choices)}") from error


def identifier(request: Request, name: str) -> UUID | None:
    text = word(request, name)
    try:
        return UUID(text) if text else None
    except ValueError as error:
        raise InvalidInput(name, text, "an id, as an address of ours has it") from error


def since(request: Request, now: datetime, name: str = "range") -> datetime | None:
    """The beginning of the range that was chosen; None for all of it."""
    text = word(request, name)
    if text is None:
        return None
    if text not in RANGES:
        raise InvalidInput(name, text, f"one of {', '.join(RANGES)}")
    return now - RANGES[text]


def local_instant(field: str, text: str, zone: ZoneInfo) -> datetime:
    """As a browser's field for day and time has it, where the person is."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(field, text, "a day and a time, like 2026-03-01T12:00") from error


def with_query(request: Request, **changes: object) -> str:
    """This address with some of what it asks for changed; None takes one away."""
    names = {**dict(request.query_params), **changes}
    wanted = {name: str(value) for name, value in names.items() if value not in (None, "")}
    return f"{request.url.path}?{urlencode(wanted)}" if wanted else request.url.path
