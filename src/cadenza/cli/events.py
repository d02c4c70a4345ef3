"""Server-sent events: read as they come, and taken up again where they broke off."""

import http.client
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from cadenza.cli.client import Api, Query
from cadenza.cli.errors import ApiError, CommandError, ExitCode

SILENCE = 45.0  # seconds; the server says something every fifteen
RETRY_SECONDS = 2.0
LONGEST_RETRY = 30.0
LONGEST_LINE = 1024 * 1024
GONE = 410


@dataclass(frozen=True, slots=True)
class Event:
    kind: str
    data: dict[str, Any]


@dataclass(slots=True)
class Stream:
    """The events of one server, for as long as somebody reads."""

    api: Api
    query: Query
    sleep: Callable[[float], None]
    note: Callable[[str], None]
    last_id: str | None = None
    _connected: bool = False
    _pause: float = field(default=RETRY_SECONDS)

    def events(self) -> Iterator[Event]:
        """Endless; an error where there is no server at first, or the key opens nothing."""
        while True:
            try:
                yield from self._follow()
            except CommandError as error:
                self._forgive(error)
            except (OSError, http.client.HTTPException):
                pass  # it broke off while it was read
            self.sleep(self._pause)
            self._pause = min(2 * self._pause, LONGEST_RETRY)

    def _follow(self) -> Iterator[Event]:
        headers = {"Accept": "text/event-stream"}
        if self.last_id is not None:
            headers["Last-Event-ID"] = self.last_id
        with self.api.open_stream("/events", self.query, headers, SILENCE) as answer:
            for fields in _blocks(answer):
                self._connected, self._pause = True, RETRY_SECONDS
                self.last_id = fields.get("id", self.last_id)
                if "data" in fields:
                    yield Event(fields.get("event", "message"), _data(fields["data"]))
        if not self._connected:
            raise CommandError(
                f"{self.api.server.url} broke the stream of events off before it began. Its log "
                "tells why.",
                ExitCode.UNREACHABLE,
            )

    def _forgive(self, error: CommandError) -> None:
        if isinstance(error, ApiError) and error.status == GONE:
            self.note("Some events are no longer kept, and are left out here.")
            self.last_id = None
        elif self._connected and error.exit_code is ExitCode.UNREACHABLE:
            self.note("The connection is lost; trying again …")
        else:
            raise error


def _blocks(answer: Any) -> Iterator[dict[str, str]]:
    """Each event as its fields; a line that begins with a colon only says that it lives."""
    fields: dict[str, str] = {}
    while line := answer.readline(LONGEST_LINE):
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if not text:
            if fields:
                yield fields
            fields = {}
            continue
        name, _, value = text.partition(":")
        if name:
            value = value.removeprefix(" ")
            fields[name] = f"{fields['data']}\n{value}" if name == "data" in fields else value


def _data(text: str) -> dict[str, Any]:
    try:
        read: Any = json.loads(text)
    except ValueError:
        return {}
    return cast("dict[str, Any]", read) if isinstance(read, dict) else {}
