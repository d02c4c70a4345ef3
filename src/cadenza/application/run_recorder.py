"""Stores the events of one run: numbered, bounded, `done` last."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from cadenza.application.ports.clock import Clock
from cadenza.application.ports.store import Store
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.graph import EventKind
from cadenza.domain.slot import RunEvent, SlotClaim

MAX_EVENTS = 2_000
MAX_DATA = 16_384  # characters of one event's JSON
MAX_TEXT = 4_096  # that pieces of text are joined to
STORED_EVERY = timedelta(seconds=1)  # so that a long run can be watched


class RunRecorder:
    def __init__(self, claim: SlotClaim, clock: Clock, store: Store) -> None:
        self._claim = claim
        self._clock = clock
        self._store = store
        self._pending: list[RunEvent] = []
        self._count = 0
        self._stored_at = clock.now()
        self._storing: asyncio.Task[None] | None = None

    def add(self, kind: EventKind, data: Mapping[str, Any]) -> None:
        now = self._clock.now()
        if not (kind is EventKind.TEXT_DELTA and self._joined(data)):
            self._append(kind, data, now)
        if now - self._stored_at >= STORED_EVERY and self._storing is None:
            self._stored_at = now
            self._storing = asyncio.create_task(self._store_pending())

    async def end(self) -> tuple[RunEvent, ...]:
        """The events that are not stored yet, with `done` at the end."""
        if self._storing is not None:
            await self._storing
        self._count = min(self._count, MAX_EVENTS)
        self._append(EventKind.DONE, {}, self._clock.now(), is_last=True)
        return tuple(self._pending)

    def _joined(self, data: Mapping[str, Any]) -> bool:
        """Consecutive text deltas are joined into one event."""
        last = self._pending[-1] if self._pending else None
        if last is None or last.kind != EventKind.TEXT_DELTA or self._storing is not None:
            return False
        text = f"{last.data['text']}{data.get('text', '')}"
        if len(text) > MAX_TEXT:
            return False
        self._pending[-1] = replace(last, data={"text": text})
        return True

    def _append(
        self, kind: EventKind, data: Mapping[str, Any], now: datetime, *, is_last: bool = False
    ) -> None:
        self._count += 1
        if self._count > MAX_EVENTS and not is_last:
            return
        if self._count == MAX_EVENTS and not is_last:
            kind, data = EventKind.CUSTOM, {"truncated": f"more than {MAX_EVENTS} events"}
        self._pending.append(RunEvent(self._count, now, kind, _bounded(data)))

    async def _store_pending(self) -> None:
        batch = list(self._pending)
        try:
            async with self._store.transaction() as tx:
                await tx.add_run_events(self._claim, batch)
            del self._pending[: len(batch)]
        except StoreUnavailable:
            pass  # they go with the next ones
        finally:
            self._storing = None


def _bounded(data: Mapping[str, Any]) -> Mapping[str, Any]:
    text = json.dumps(data, ensure_ascii=False, default=str)
    if len(text) <= MAX_DATA:
        return data
    return {"truncated": text[:MAX_DATA], "characters": len(text)}
