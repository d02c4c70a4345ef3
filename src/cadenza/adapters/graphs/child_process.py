"""A child as the worker sees it: its channel, what it prints, and how it ended."""

import asyncio
import signal
from collections.abc import Mapping
from typing import Any

from cadenza.adapters.graphs import link
from cadenza.adapters.graphs.children import Exit
from cadenza.adapters.graphs.fork_server import ForkServerLink
from cadenza.adapters.graphs.output import LastLines
from cadenza.adapters.graphs.translation import go_frame
from cadenza.domain.graph import ErrorCode, GraphRequest

SILENCE = 0.1  # after the process ended, what it wrote is there; another may hold the channel open


class ChildProcess:
    def __init__(self, server: ForkServerLink, run: str, graph_id: str, memory: int) -> None:
        self._server = server
        self._run = run
        self._exit: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._channel, output = server.fork(run, graph_id, memory, self._on_exit)
        self._output = LastLines(output)

    async def ready(self) -> bool:
        self._reader, self._writer = await asyncio.open_unix_connection(sock=self._channel)
        message = await self.read()
        pid = None if message is None else message.get("ready")
        if isinstance(pid, int):
            self._server.forked(self._run, pid)
        return isinstance(pid, int)

    def go(self, request: GraphRequest) -> None:
        self.send(go_frame(request))

    def send(self, frame: bytes) -> None:
        assert self._writer is not None
        self._writer.write(frame)

    async def read(self) -> link.Message | None:
        raw = await self.read_raw()
        return None if raw is None else link.decode(raw)

    async def read_raw(self) -> bytes | None:
        assert self._reader is not None
        try:
            header = await self._reader.readexactly(link.HEADER.size)
            return await self._reader.readexactly(link.frame_length(header))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    def kill(self) -> None:
        self._server.kill(self._run)

    async def end(self) -> Exit:
        self.kill()
        return await asyncio.shield(self._exit)

    def close(self) -> str:
        if self._writer is None:
            self._channel.close()
        else:
            self._writer.close()
        return self._output.close()

    def _on_exit(self, exit_: Exit) -> None:
        if not self._exit.done():
            self._exit.set_result(exit_)
        if self._reader is not None:
            asyncio.get_running_loop().call_later(SILENCE, _feed_end, self._reader)


class LocalChildren:
    """Those of a fork server on this machine."""

    ready_seconds = 30.0

    def __init__(self, server: ForkServerLink) -> None:
        self._server = server
        self.start, self.close = server.start, server.close
        self.answers, self.wait_until_up = server.answers, server.wait_until_up

    @property
    def graphs(self) -> Mapping[str, str | None]:
        return self._server.graphs

    @property
    def schemas(self) -> Mapping[str, Mapping[str, Any]]:
        return self._server.schemas

    @property
    def isolation(self) -> str:
        return self._server.isolation

    def fork(self, run: str, request: GraphRequest) -> ChildProcess:
        memory = request.limits.memory_mb * 2**20
        return ChildProcess(self._server, run, request.graph_id, memory)


def cause_of(exit_: Exit) -> tuple[ErrorCode, str]:
    """Why a child ended that did not say so itself."""
    if exit_.code is None:
        return exit_.error, exit_.why or "the process that runs graphs was lost"
    if exit_.why is not None:
        return ErrorCode.ABORTED, f"{exit_.why}; it was ended"
    if exit_.code < 0:
        return ErrorCode.INTERNAL, f"its process was ended by {_signal_name(-exit_.code)}"
    return ErrorCode.INTERNAL, f"its process ended by itself, with exit code {exit_.code}"


def _feed_end(reader: asyncio.StreamReader) -> None:
    if not reader.at_eof():
        reader.feed_eof()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
