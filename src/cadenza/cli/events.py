"""The stream of events for a person who watches: taken up again, with a note, where it broke."""

import http.client
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from cadenza.cli.client import Api, Query
from cadenza.cli.errors import ApiError, CommandError, ExitCode
from cadenza.client.events import (
    GONE,
    LONGEST_LINE,
    LONGEST_RETRY,
    RETRY_SECONDS,
    SILENCE,
    Event,
    EventReader,
)

__all__ = ["Event", "Stream"]


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
        reader = EventReader(self.last_id)
        with self.api.open_stream("/events", self.query, reader.headers, SILENCE) as answer:
            while line := answer.readline(LONGEST_LINE):
                event = reader.read(line)
                if not line.strip():  # the end of a block
                    self._connected, self._pause = True, RETRY_SECONDS
                    self.last_id = reader.last_id
                if event is not None:
                    yield event
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
