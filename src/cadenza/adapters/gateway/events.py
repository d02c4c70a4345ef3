"""Server-sent events, cut out of the bytes of a stream; linear, and bounded for each event."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_EVENT = 1024 * 1024  # bytes
_END = re.compile(rb"\r\n\r\n|\n\n|\r\r|\n\r\n")
_LONGEST_END = 4
_LINES = re.compile(rb"\r\n|\n|\r")


class EventTooLong(ValueError):
    """A provider that sends without ever ending an event."""


@dataclass(frozen=True, slots=True)
class Event:
    raw: bytes  # as it came, with the empty line that ends it

    @property
    def data(self) -> bytes:
        lines = (line for line in _LINES.split(self.raw) if line.startswith(b"data:"))
        return b"\n".join(line.removeprefix(b"data:").removeprefix(b" ") for line in lines)


class EventBuffer:
    def __init__(self, limit: int = MAX_EVENT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._searched = 0  # no event ends before this

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that are complete now."""
        self._buffer += chunk
        begin = 0
        while end := _END.search(self._buffer, max(begin, self._searched)):
            yield Event(bytes(self._buffer[begin : end.end()]))
            begin = self._searched = end.end()
        del self._buffer[:begin]
        self._searched = max(0, len(self._buffer) - _LONGEST_END + 1)
        if len(self._buffer) > self._limit:
            raise EventTooLong(f"an event of more than {self._limit} bytes")

    def rest(self) -> Event | None:
        """What came last, where the provider left out the empty line that ends it."""
        return Event(bytes(self._buffer)) if self._buffer else None
