"""On a node: our fork server, its children, and the relay to the gateway. Ray makes it an actor.

It belongs to one worker. It ends with it, or when it has heard nothing of it for a while; what it
forked ends with it.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from cadenza.adapters.graphs import link
from cadenza.adapters.graphs.child_process import ChildProcess
from cadenza.adapters.graphs.children import Exit
from cadenza.adapters.graphs.fork_server import ForkServerLink
from cadenza.adapters.graphs.ray.relay import Relay
from cadenza.adapters.graphs.sources import GraphSources, graph_environment

SILENCE = 10.0  # seconds without a word of the other side: it is lost
AHEAD = 64  # frames that are read before the worker asks for them
UNKNOWN = Exit(None, "the node does not know it")


@dataclass(frozen=True, slots=True)
class Hosted:
    """How a host introduces itself."""

    version: str
    relay: str  # the address at which graphs reach the gateway
    graphs: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Beat:
    graphs: Mapping[str, str | None]
    connections: list[int]  # that graphs have opened to the gateway


@dataclass(frozen=True, slots=True)
class Frames:
    frames: list[bytes]  # none: the child, or its channel, has ended
    rubbish: str | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    exit: Exit
    last_lines: str


class Host:
    def __init__(self, sources: Mapping[str, Any], environment: Mapping[str, str]) -> None:
        own = graph_environment((), os.environ)  # noqa: TID251 — PATH and HOME are the node's
        self._server = ForkServerLink(GraphSources.from_json(sources), {**environment, **own})
        self._relay = Relay()
        self._runs: dict[str, _HostedRun] = {}
        self._last_word: asyncio.TimerHandle | None = None

    async def start(self) -> Hosted:
        self._heard()
        address = await self._relay.start()
        await self._server.start()
        return Hosted(version("cadenza"), address, self._server.graphs)

    async def beat(self, seconds: float) -> Beat:
        """Both sides hear of each other, and the worker of new connections."""
        self._heard()
        return Beat(self._server.graphs, await self._relay.opened(seconds))

    def _heard(self) -> None:
        if self._last_word is not None:
            self._last_word.cancel()
        loop = asyncio.get_running_loop()
        self._last_word = loop.call_later(SILENCE, os._exit, 1)  # the fork server ends with us

    # --- Runs -----------------------------------------------------------------------------

    async def fork(self, run: str, graph_id: str, memory: int) -> bool:
        if run in self._runs:
            raise RuntimeError(f"{run} was forked already")
        await self._server.wait_until_up(SILENCE)
        hosted = self._runs[run] = _HostedRun(
            ChildProcess(self._server, run, graph_id, memory),
        )
        return await hosted.child.ready()

    async def go(self, run: str, frame: bytes) -> None:
        if run in self._runs:
            self._runs[run].go(frame)

    async def read(self, run: str) -> Frames:
        return await self._runs[run].read() if run in self._runs else Frames([])

    async def kill(self, run: str) -> None:
        if run in self._runs:
            self._runs[run].child.kill()

    async def end(self, run: str) -> Ended:
        hosted = self._runs.pop(run, None)
        return Ended(UNKNOWN, "") if hosted is None else await hosted.end()

    # --- Connections to the gateway -------------------------------------------------------

    async def receive(self, connection: int) -> bytes:
        return await self._relay.read(connection)

    async def deliver(self, connection: int, data: bytes) -> bool:
        return await self._relay.write(connection, data)

    async def hang_up(self, connection: int) -> None:
        self._relay.close(connection)


class _HostedRun:
    """Reads ahead, a little: many frames travel together, and a slow reader slows its graph."""

    def __init__(self, child: ChildProcess) -> None:
        self.child = child
        self._frames: asyncio.Queue[bytes | link.Rubbish | None] = asyncio.Queue(AHEAD)
        self._reading: asyncio.Task[None] | None = None

    def go(self, frame: bytes) -> None:
        if self._reading is None:  # once
            self.child.send(frame)
            self._reading = asyncio.create_task(self._read_ahead())

    async def read(self) -> Frames:
        items = [await self._frames.get()]
        while not self._frames.empty():
            items.append(self._frames.get_nowait())
        if items[-1] is None:
            self._frames.put_nowait(None)  # for the next who asks, after what came before it
        rubbish = items[-1] if isinstance(items[-1], link.Rubbish) else None
        frames = [item for item in items if isinstance(item, bytes)]
        return Frames(frames, str(rubbish) if rubbish else None)

    async def end(self) -> Ended:
        exit_ = await self.child.end()
        if self._reading is not None:
            self._reading.cancel()
        return Ended(exit_, self.child.close())

    async def _read_ahead(self) -> None:
        item: bytes | link.Rubbish | None = b""
        while isinstance(item, bytes):
            try:
                item = await self.child.read_raw()
            except link.Rubbish as error:
                item = error
            await self._frames.put(item)
