"""Replies of consumers in a place of their own broker: taken while a run waits, and reported.

Which worker takes a reply does not matter: it is stored like one that came over the API, and the
worker that waits for it is told. A reply with an unknown token is taken and forgotten.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from cadenza.adapters.messaging.connections import Connections
from cadenza.application.ports.addresses import AddressRefused, NameUnknown
from cadenza.application.ports.messages import BrokerFailure
from cadenza.domain.errors import CadenzaError, StoreUnavailable
from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.result import MAX_MESSAGE, Report
from cadenza.domain.run import Body, RunStatus

LISTENS_ON = 60.0  # seconds after the last run that waited
AGAIN_AFTER = 1.0
SaveReport = Callable[[UUID, str, Report], Awaitable[None]]
ParseBody = Callable[[bytes], Body]
_Key = tuple[UUID, str, str | None, str | None]


@dataclass(slots=True)
class _Listener:
    task: "asyncio.Task[None]"
    ready: asyncio.Event
    waiting: int = 0
    ends: asyncio.TimerHandle | None = None


class Replies:
    def __init__(self, connections: Connections, save: SaveReport, parse: ParseBody) -> None:
        self._connections = connections
        self._save = save
        self._parse = parse
        self._listeners: dict[_Key, _Listener] = {}

    @asynccontextmanager
    async def heard(self, tenant_id: UUID, target: QueueTarget) -> AsyncGenerator[None]:
        """Somebody listens before the message is sent, and for as long as its run waits."""
        if target.reply_to is None:
            yield
            return
        password = target.password.value if target.password is not None else None
        key = (tenant_id, target.url, password, target.reply_to)
        listener = self._listeners.get(key)
        if listener is None or listener.task.done():
            listener = self._listeners[key] = self._listen(tenant_id, target, target.reply_to)
        listener.waiting += 1
        if listener.ends is not None:
            listener.ends.cancel()
        try:
            await _until_ready(listener)
            yield
        finally:
            listener.waiting -= 1
            if not listener.waiting:
                loop = asyncio.get_running_loop()
                listener.ends = loop.call_later(LISTENS_ON, self._end, key, listener)

    async def close(self) -> None:
        listeners = list(self._listeners.values())
        for key, listener in list(self._listeners.items()):
            if listener.ends is not None:
                listener.ends.cancel()
            self._end(key, listener)
        if listeners:
            await asyncio.wait([listener.task for listener in listeners])

    def _end(self, key: _Key, listener: _Listener) -> None:
        listener.task.cancel()
        if self._listeners.get(key) is listener:
            del self._listeners[key]

    def _listen(self, tenant_id: UUID, target: QueueTarget, reply_to: str) -> _Listener:
        ready = asyncio.Event()
        task = asyncio.create_task(self._take(tenant_id, target, reply_to, ready))
        return _Listener(task, ready)

    async def _take(
        self, tenant_id: UUID, target: QueueTarget, reply_to: str, ready: asyncio.Event
    ) -> None:
        while True:
            try:
                async with self._connections.held(tenant_id, target) as broker:
                    await broker.take_replies(reply_to, self._report, ready)
            except (BrokerFailure, AddressRefused, NameUnknown):
                if not ready.is_set():
                    raise  # it never worked: the run that asked for it says why
            await asyncio.sleep(AGAIN_AFTER)

    async def _report(self, fields: Mapping[str, str]) -> None:
        try:
            run_id = UUID(fields.get("cadenza-run-id", ""))
            status = RunStatus(fields.get("cadenza-status", "success"))
        except ValueError:
            return None
        if status not in (RunStatus.SUCCESS, RunStatus.FAILURE):
            return None
        body = self._parse(fields.get("body", "").encode())
        message = fields.get("cadenza-message")
        report = Report(status, body, None if message is None else message[:MAX_MESSAGE])
        while True:
            try:
                return await self._save(run_id, fields.get("cadenza-result-token", ""), report)
            except StoreUnavailable:
                await asyncio.sleep(AGAIN_AFTER)
            except CadenzaError:  # not ours, reported before, or too late
                return None


async def _until_ready(listener: _Listener) -> None:
    ready = asyncio.create_task(listener.ready.wait())
    try:
        await asyncio.wait([ready, listener.task], return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            listener.task.result()
    finally:
        ready.cancel()
