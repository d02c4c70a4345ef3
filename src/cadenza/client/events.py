"""Server-sent events, line by line."""

import json
from dataclasses import dataclass
from typing import Any, cast

from cadenza.client.errors import ApiProblem, NotCadenza, Unreachable

SILENCE = 45.0  # seconds; the server says something every fifteen
RETRY_SECONDS = 2.0
LONGEST_RETRY = 30.0
LONGEST_LINE = 1024 * 1024
BUSY, GONE = 429, 410


@dataclass(frozen=True, slots=True)
class Event:
    """What has happened; a stream goes on from its id."""

    kind: str
    data: dict[str, Any]
    id: str | None = None


class EventReader:
    """Knows the last id, with which a stream that broke off is taken up again."""

    def __init__(self, last_id: str | None = None) -> None:
        self.last_id = last_id
        self._fields: dict[str, str] = {}

    @property
    def headers(self) -> dict[str, str]:
        asked = {"Accept": "text/event-stream"}
        return asked if self.last_id is None else {**asked, "Last-Event-ID": self.last_id}

    def read(self, line: bytes) -> Event | None:
        """The event that this line completes. One that begins with a colon only says that the
        stream lives."""
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if not text:
            return self._completed()
        name, _, value = text.partition(":")
        if name:
            value = value.removeprefix(" ")
            before = self._fields.get("data") if name == "data" else None
            self._fields[name] = value if before is None else f"{before}\n{value}"
        return None

    def broken_off(self) -> None:
        """What is not complete never happened; it comes again."""
        self._fields = {}

    def _completed(self) -> Event | None:
        fields, self._fields = self._fields, {}
        self.last_id = fields.get("id", self.last_id)
        if "data" not in fields:
            return None
        return Event(fields.get("event", "message"), _data(fields["data"]), self.last_id)


def _data(text: str) -> dict[str, Any]:
    try:
        read: Any = json.loads(text)
    except ValueError:
        return {}
    return cast("dict[str, Any]", read) if isinstance(read, dict) else {}


class Reconnection:
    """How long to wait before a stream that broke off is opened again; one that never was open is
    an error, and so is what no waiting will mend."""

    def __init__(self) -> None:
        self._was_open = False
        self._pause = RETRY_SECONDS

    def heard(self) -> None:
        self._was_open, self._pause = True, RETRY_SECONDS

    def pause_after(self, error: BaseException | None) -> float:
        if error is not None and not (self._was_open and _passes(error)):
            raise error
        pause, self._pause = self._pause, min(2 * self._pause, LONGEST_RETRY)
        return pause


def _passes(error: BaseException) -> bool:
    """No server, a busy one, or what a proxy says while there is none behind it."""
    if isinstance(error, ApiProblem | NotCadenza):
        return error.status >= 500 or error.status == BUSY
    return isinstance(error, Unreachable)
