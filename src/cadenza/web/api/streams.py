"""Server-sent events: who follows what happens, and how they are told.

Each stream reads the log by itself, from where its client has come to, and holds one batch at most:
a slow client waits for itself alone. NOTIFY only wakes; a stream looks every other second anyway.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from cadenza.application.ports.event_log import EventLog, Position, StoredEvent
from cadenza.application.waiting import until_set
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.instants import iso
from cadenza.web.api.problems import TooManyRequests

BATCH = 200
RETRY_MS = 2000


@dataclass(frozen=True, slots=True)
class Pace:
    poll: timedelta = timedelta(seconds=2)
    at_least: timedelta = timedelta(milliseconds=100)  # between two looks, however often woken
    again: timedelta = timedelta(milliseconds=200)
    keep_alive: timedelta = timedelta(seconds=15)
    check_key: timedelta = timedelta(seconds=60)
    slowest: timedelta = timedelta(seconds=30)  # a client that takes nothing for so long is let go
    per_key: int = 10
    per_process: int = 500


@dataclass(frozen=True, slots=True)
class Wanted:
    """A filter; each part that is given must fit."""

    tenant_id: UUID
    kinds: frozenset[str] = frozenset()
    job_id: UUID | None = None
    endpoint_id: UUID | None = None

    def fits(self, event: StoredEvent) -> bool:
        group = event.kind.partition(".")[0]
        return (
            (not self.kinds or event.kind in self.kinds or group in self.kinds)
            and self.job_id in (None, event.job_id)
            and self.endpoint_id in (None, event.endpoint_id)
        )


class Streams:
    def __init__(self, log: EventLog, monotonic: Callable[[], float], pace: Pace) -> None:
        self.log = log
        self.pace = pace
        self._monotonic = monotonic
        self._open: Counter[UUID] = Counter()
        self._woken: set[asyncio.Event] = set()
        self._ended = False

    def wake(self) -> None:
        for each in self._woken:
            each.set()

    def end(self) -> None:
        """The process stops: every stream says goodbye, and its client comes back elsewhere."""
        self._ended = True
        self.wake()

    @contextmanager
    def place(self, key_id: UUID) -> Generator[None]:
        """A stream's own; TooManyRequests where there is none left."""
        pace, headers = self.pace, {"Retry-After": "10"}
        if self._open[key_id] >= pace.per_key:
            raise TooManyRequests(f"a key may hold {pace.per_key} event streams open", headers)
        if self._open.total() >= pace.per_process:
            raise TooManyRequests("too many event streams are open here; try again", headers)
        self._open[key_id] += 1
        try:
            yield
        finally:
            self._open[key_id] -= 1
            if not self._open[key_id]:
                del self._open[key_id]

    async def follow(
        self, wanted: Wanted, position: Position, still_open: Callable[[], Awaitable[bool]]
    ) -> AsyncGenerator[bytes]:
        """The stream as bytes, until the key is revoked or the process stops."""
        woken = asyncio.Event()
        self._woken.add(woken)
        try:
            yield f"retry: {RETRY_MS}\nid: {position}\nevent: ready\ndata: {{}}\n\n".encode()
            async for piece in self._pieces(wanted, position, still_open, woken):
                yield piece
        finally:
            self._woken.discard(woken)

    async def _pieces(
        self,
        wanted: Wanted,
        position: Position,
        still_open: Callable[[], Awaitable[bool]],
        woken: asyncio.Event,
    ) -> AsyncGenerator[bytes]:
        said = checked = self._monotonic()
        told = position
        while not self._ended:
            was_woken = woken.is_set()
            woken.clear()
            now = self._monotonic()
            if now - checked >= self.pace.check_key.total_seconds():
                checked = now
                if not await self._kept_up(wanted, still_open):
                    yield b'event: closed\ndata: {"reason": "the key is no longer valid"}\n\n'
                    return
            events = await self._next(wanted, position)
            position = events[-1].position if events else position
            fitting = [each for each in events if wanted.fits(each)]
            if fitting:
                said, told = now, fitting[-1].position
                yield b"".join(map(_written, fitting))
            elif now - said >= self.pace.keep_alive.total_seconds():
                # With the place, so that a client that wants little does not come back far behind.
                said = now
                yield b": still here\n\n" if told == position else _place(position)
                told = position
            if len(events) < BATCH and not self._ended:
                await asyncio.sleep(self.pace.at_least.total_seconds())
                # Woken for nothing: what it was may wait for an older transaction to end.
                early = self.pace.again if was_woken and not events else self.pace.poll
                await until_set(woken, at_most=early)
        yield b'event: closed\ndata: {"reason": "the server stops; connect again"}\n\n'

    async def _next(self, wanted: Wanted, position: Position) -> list[StoredEvent]:
        try:
            return list(await self.log.read_after(wanted.tenant_id, position, BATCH))
        except StoreUnavailable:
            return []  # the next look may find it again

    async def _kept_up(self, wanted: Wanted, still_open: Callable[[], Awaitable[bool]]) -> bool:
        try:
            await self.log.watch(wanted.tenant_id)
            return await still_open()
        except StoreUnavailable:
            return True


def _written(event: StoredEvent) -> bytes:
    told = {
        "at": iso(event.at),
        "kind": event.kind,
        "job_id": str(event.job_id) if event.job_id else None,
        "endpoint_id": str(event.endpoint_id) if event.endpoint_id else None,
        "data": event.data,
    }
    return f"id: {event.position}\nevent: {event.kind}\ndata: {json.dumps(told)}\n\n".encode()


def _place(position: Position) -> bytes:
    return f"id: {position}\nevent: passed\ndata: {{}}\n\n".encode()
