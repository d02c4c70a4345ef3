"""`Retry-After`: a number of seconds or a date, from a target that may write anything there."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

MAX_LENGTH = 64
MOST = timedelta(days=1)


def retry_after(header: str, now: datetime) -> timedelta | None:
    """How long the target asks to wait; None where that is nothing, or not to be understood."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        wait = timedelta(seconds=int(text)) if len(text) <= 9 else MOST
    elif len(text) <= MAX_LENGTH and (at := _date(text)) is not None:
        wait = at - now
    else:
        return None
    return min(wait, MOST) if wait > timedelta(0) else None


def _date(text: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(text)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, TypeError, IndexError, ArithmeticError):
        return None  # the library raises all of them, for one text or another
