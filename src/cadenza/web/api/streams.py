"""Streams of server-sent events: who follows, and what each of them is sent.

Each stream reads the log by itself, from its client's position on, and holds one batch at most, so
a slow client delays nobody else. NOTIFY only wakes; a stream reads every other second anyway.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sse_starlette import ServerSentEvent

from cadenza.application.people import ACCESS_CHANGED
from cadenza.application.ports.event_log import EventLog, Position, StoredEvent
from cadenza.application.waiting import until_set
from cadenza.domain.access import Caller
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.instants import iso
from cadenza.web.api.problems import TooManyRequests

BATCH = 200
IN_SUMMARY = 20  # events that a summary has in full
MOST_IN_SUMMARY = 10_000  # that it counts; more are for the next one
RETRY_MS = 2000
STILL_HERE = ServerSentEvent(comment="still here", sep="\n").encode()


@dataclass(frozen=True, slots=True)
class Pace:
    poll: timedelta = timedelta(seconds=2)
    at_least: timedelta = timedelta(milliseconds=100)  # between two reads, however often woken
    summary: timedelta = timedelta(seconds=1)  # the same, for a stream in summary
    again: timedelta = timedelta(milliseconds=200)
    keep_alive: timedelta = timedelta(seconds=15)
    check_key: timedelta = timedelta(seconds=60)
    slowest: timedelta = timedelta(seconds=30)  # a client that takes nothing for so long is let go
    per_key: int = 10
    per_tenant: int = 250  # who makes many keys leaves streams to the others
    per_process: int = 500


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Each part that is set must match."""

    tenant_id: UUID
    kinds: frozenset[str] = frozenset()
    job_id: UUID | None = None
    endpoint_id: UUID | None = None
    job_ids: frozenset[UUID] | None = None  # of who has single jobs; nothing else is told to them

    def matches(self, event: StoredEvent) -> bool:
        group = event.kind.partition(".")[0]
        return (
            (not self.kinds or event.kind in self.kinds or group in self.kinds)
            and self.job_id in (None, event.job_id)
            and self.endpoint_id in (None, event.endpoint_id)
            and (self.job_ids is None or event.job_id in self.job_ids)
            and event.kind != ACCESS_CHANGED
        )


class Streams:
    def __init__(self, log: EventLog, monotonic: Callable[[], float], pace: Pace) -> None:
        self.log = log
        self.pace = pace
        self._monotonic = monotonic
        self._open: Counter[UUID] = Counter()  # by key
        self._open_of_tenants: Counter[UUID] = Counter()
        self._woken: set[asyncio.Event] = set()
        self._ended = False

    @property
    def open_count(self) -> int:
        return self._open.total()

    def wake(self) -> None:
        for woken in self._woken:
            woken.set()

    def end(self) -> None:
        """The process stops: every stream sends `closed`, and its client connects elsewhere."""
        self._ended = True
        self.wake()

    @contextmanager
    def open_for(self, caller: Caller) -> Generator[None]:
        """Counts as one open stream of key and tenant; TooManyRequests where there are too many."""
        pace, headers = self.pace, {"Retry-After": "10"}
        if self._open[caller.key_id] >= pace.per_key:
            raise TooManyRequests(f"a key may hold {pace.per_key} event streams open", headers)
        if self._open_of_tenants[caller.tenant_id] >= pace.per_tenant:
            message = f"a tenant may hold {pace.per_tenant} event streams open; close some first"
            raise TooManyRequests(message, headers)
        if self.open_count >= pace.per_process:
            raise TooManyRequests("too many event streams are open here; try again", headers)
        counts = ((self._open, caller.key_id), (self._open_of_tenants, caller.tenant_id))
        for count, holder in counts:
            count[holder] += 1
        try:
            yield
        finally:
            for count, holder in counts:
                count[holder] -= 1
                if not count[holder]:
                    del count[holder]

    async def follow(
        self,
        wanted: EventFilter,
        position: Position,
        key_in_force: Callable[[], Awaitable[bool]],
        *,
        in_summary: bool = False,
    ) -> AsyncGenerator[bytes]:
        """The stream as bytes, until the key is revoked or the process stops. In summary, it has
        one event a second at most, whatever happens, so that a browser is not flooded."""
        at_least = self.pace.summary if in_summary else self.pace.at_least
        most = MOST_IN_SUMMARY if in_summary else BATCH
        woken = asyncio.Event()
        self._woken.add(woken)
        try:
            yield _event("ready", {}, position, retry=RETRY_MS)
            sent_at = checked_at = self._monotonic()
            sent = position
            while not self._ended:
                was_woken = woken.is_set()
                woken.clear()
                now = self._monotonic()
                events = await self._next(wanted, position, most)
                position = events[-1].position if events else position
                # Somebody was removed or has another role: perhaps whoever follows here.
                is_changed = any(event.kind == ACCESS_CHANGED for event in events)
                if is_changed or now - checked_at >= self.pace.check_key.total_seconds():
                    checked_at = now
                    if not await self._watch_on(wanted, key_in_force):
                        yield _event("closed", {"reason": "the key is no longer valid"})
                        return
                matches = [event for event in events if wanted.matches(event)]
                if matches:
                    sent_at, sent = now, matches[-1].position
                    yield _summary(matches) if in_summary else b"".join(map(_stored_event, matches))
                elif now - sent_at >= self.pace.keep_alive.total_seconds():
                    # With the position, so that a client whose filter matches rarely does not
                    # resume from far behind.
                    sent_at = now
                    yield STILL_HERE if sent == position else _event("passed", {}, position)
                    sent = position
                if (in_summary or len(events) < BATCH) and not self._ended:
                    await asyncio.sleep(at_least.total_seconds())
                    # Woken for nothing: what it was may wait for an older transaction to end.
                    early = self.pace.again if was_woken and not events else self.pace.poll
                    await until_set(woken, at_most=early)
            yield _event("closed", {"reason": "the server stops; connect again"})
        finally:
            self._woken.discard(woken)

    async def _next(self, wanted: EventFilter, position: Position, most: int) -> list[StoredEvent]:
        """A batch; for a summary as many as there are, or as one has."""
        events: list[StoredEvent] = []
        try:
            while len(events) < most:
                batch = await self.log.read_after(wanted.tenant_id, position, BATCH)
                events += batch
                if len(batch) < BATCH:
                    break
                position = batch[-1].position
        except StoreUnavailable:
            pass  # the next read may work again
        return events

    async def _watch_on(
        self, wanted: EventFilter, key_in_force: Callable[[], Awaitable[bool]]
    ) -> bool:
        try:
            await self.log.watch(wanted.tenant_id)
            return await key_in_force()
        except StoreUnavailable:
            return True


def _stored_event(event: StoredEvent) -> bytes:
    return _event(event.kind, _fields(event), event.position)


def _summary(events: Sequence[StoredEvent]) -> bytes:
    """How many of each kind there were, and the last few of them."""
    data = {
        "count": len(events),
        "kinds": Counter(event.kind for event in events),
        "last": [_fields(event) for event in events[-IN_SUMMARY:]],
    }
    return _event("summary", data, events[-1].position)


def _fields(event: StoredEvent) -> dict[str, Any]:
    return {
        "at": iso(event.at),
        "kind": event.kind,
        "job_id": str(event.job_id) if event.job_id else None,
        "endpoint_id": str(event.endpoint_id) if event.endpoint_id else None,
        "data": event.data,
    }


def _event(
    kind: str, data: dict[str, Any], position: Position | None = None, retry: int | None = None
) -> bytes:
    last_id = None if position is None else str(position)
    event = ServerSentEvent(json.dumps(data), event=kind, id=last_id, retry=retry, sep="\n")
    return event.encode()
