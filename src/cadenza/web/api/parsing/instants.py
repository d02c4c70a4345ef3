"""Instants in requests: ISO 8601 with a zone, for without one it could mean any of forty."""

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

EXPECTED = "write an instant with its zone, like 2026-03-01T12:00:00Z"
_LAST_YEAR = 9998  # the far instants beyond mean "until resumed"


def parse_instant(text: Any) -> datetime:
    """ValueError with the fix where it cannot be read."""
    if not isinstance(text, str) or len(text) > 40 or not text.isascii():
        raise ValueError(EXPECTED)
    try:
        instant = datetime.fromisoformat(text)
        if instant.tzinfo is None or instant.year > _LAST_YEAR:
            raise ValueError(EXPECTED)
        return instant.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(EXPECTED) from error


Instant = Annotated[
    datetime, BeforeValidator(parse_instant), Field(description="ISO 8601 with a zone.")
]
