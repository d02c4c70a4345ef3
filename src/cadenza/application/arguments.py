"""Checked reading of tool arguments, which may be anything; each is valid or InvalidInput."""

from datetime import UTC, datetime, timedelta
from math import inf
from typing import Any, cast

from cadenza.application.sanitizing import clean_text
from cadenza.domain.errors import InvalidInput

MAX_REASON = 500
MAX_NAME, MAX_IGNORED = 50, 10  # of arguments that are only named
_MAX_MS = 366 * 24 * 3600 * 1000


class Arguments:
    """The arguments of one call; those that no tool parameter asked for are `ignored`."""

    def __init__(self, values: object) -> None:
        if not isinstance(values, dict):
            raise InvalidInput("arguments", values, "expected an object")
        self._values = cast(dict[str, Any], values)
        self._read: set[str] = set()

    def has(self, name: str) -> bool:
        return self._take(name, None) is not None

    def instant_or_null(self, name: str) -> datetime | None:
        """Null is a value here; a missing argument is an error."""
        if name not in self._values:
            raise InvalidInput(name, "nothing", "it is required: an ISO-8601 instant, or null")
        return self.instant(name) if self.has(name) else None

    @property
    def ignored(self) -> list[str]:
        """Unknown arguments, which models like to add: they are reported and do no harm."""
        unread = [name for name in self._values if name not in self._read]
        return [name[:MAX_NAME] for name in unread[:MAX_IGNORED]]

    def text(self, name: str, default: str = "", longest: int = MAX_REASON) -> str:
        value = self._take(name, default)
        if not isinstance(value, str):
            raise InvalidInput(name, value, "expected text")
        return clean_text(value[: 2 * longest])[:longest]

    def whole(self, name: str, lowest: int, highest: int, default: int | None = None) -> int:
        expected = f"expected a whole number from {lowest} to {highest}"
        value = self._number(name, default, lowest, highest, expected)
        if value != int(value):
            raise InvalidInput(name, value, expected)
        return int(value)

    def duration_ms(self, name: str) -> timedelta:
        expected = f"expected milliseconds from 0 to {_MAX_MS}"
        return timedelta(milliseconds=self._number(name, None, 0, _MAX_MS, expected))

    def minutes(self, name: str, default: int) -> timedelta:
        most = _MAX_MS / 60_000
        return timedelta(minutes=self._number(name, default, 0, most, "expected minutes"))

    def share(self, name: str) -> tuple[float | None, tuple[str, ...]]:
        """A number from 0 to 1, and how it was clamped, if it was."""
        if not self.has(name):
            return None, ()
        wanted = float(self._number(name, None, -inf, inf, "expected a number from 0 to 1"))
        share = min(max(wanted, 0.0), 1.0)
        verb = "raised" if share > wanted else "cut"
        return share, () if share == wanted else (f"{name} {verb} to {share:g}",)

    def instant(self, name: str) -> datetime:
        value = self._take(name, None)
        try:
            instant = datetime.fromisoformat(value)
            if instant.tzinfo is not None:
                return instant.astimezone(UTC)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInput(name, value, "expected an ISO-8601 instant") from None
        raise InvalidInput(name, value, "expected a zone, like 2026-01-31T12:00:00Z")

    def _take(self, name: str, default: Any) -> Any:
        self._read.add(name)
        value = self._values.get(name)
        return default if value is None else value  # models write null for what they leave out

    def _number(
        self, name: str, default: float | None, lowest: float, highest: float, expected: str
    ) -> float:
        value = self._take(name, default)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not abs(value) < 1e18:
            raise InvalidInput(name, value, "expected a number")
        if not lowest <= value <= highest:
            raise InvalidInput(name, value, expected)
        return value
