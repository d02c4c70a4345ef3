"""The fork server as the worker sees it: started, asked for children, and replaced if it dies."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import cadenza
from cadenza.adapters.graphs import link
from cadenza.adapters.graphs.children import Exit
from cadenza.adapters.graphs.processes import kill_group
from cadenza.adapters.graphs.sources import GraphSources
from cadenza.domain.errors import InstallationError

START_SECONDS = 120
PONG_SECONDS = 1.0
STUCK_SECONDS = 2.0  # a killed child that is not reaped after this: the server itself hangs
FIRST_PAUSE, LAST_PAUSE = 0.05, 5.0
# The worker's own cadenza and no other, but not its folder before what graphs import.
PROGRAM = """
import sys
sys.path.insert(0, sys.argv.pop())
from cadenza.adapters.graphs.server import main
del sys.path[0]
main()
"""


OnExit = Callable[[Exit], None]


class ForkServerLink:
    def __init__(self, sources: GraphSources, environment: Mapping[str, str]) -> None:
        self.graphs: dict[str, str | None] = {}
        self.schemas: dict[str, Mapping[str, Any]] = {}
        self.isolation = ""  # by what runs are held together, beside their sessions
        self._settings = sources.as_json()
        self._environment = dict(environment)
        self._broken: dict[str, str] = {}  # graphs whose import ended the whole server
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._outbox: deque[tuple[bytes, tuple[int, ...]]] = deque()
        self._runs: dict[str, OnExit] = {}
        self._pids: dict[str, int] = {}
        self._loading: str | None = None
        self._listing: dict[str, str | None] = {}
        self._up = asyncio.Event()
        self._up_or_hopeless = asyncio.Event()
        self._ended = asyncio.Event()
        self._pong = asyncio.Event()
        self._supervisor: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._supervisor = asyncio.create_task(self._supervise(), name="graph fork server")
        try:
            await self.wait_until_up(START_SECONDS)
        except InstallationError:
            await self.close()
            raise

    async def close(self) -> None:
        if self._supervisor is not None:
            self._supervisor.cancel()
            with suppress(asyncio.CancelledError):
                await self._supervisor
            self._supervisor = None

    async def wait_until_up(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._up_or_hopeless.wait(), seconds)
        except TimeoutError as error:
            where = f"; it was importing {self._loading}" if self._loading else ""
            raise InstallationError(
                f"The process that runs graphs did not start within {seconds:g} s{where}."
            ) from error
        if not self._up.is_set():
            raise InstallationError(
                "The process that runs graphs ends before it is up; its own messages say why."
            )

    async def answers(self) -> bool:
        if not self._up.is_set():
            return False
        self._pong.clear()
        self._send({"do": "ping"})
        with suppress(TimeoutError):
            await asyncio.wait_for(self._pong.wait(), PONG_SECONDS)
        return self._pong.is_set()

    def fork(
        self, run: str, graph_id: str, memory: int, on_exit: OnExit
    ) -> tuple[socket.socket, int]:
        """The worker's ends of the child's channel and of what it prints."""
        ours, theirs = socket.socketpair()
        output, output_end = os.pipe()
        self._runs[run] = on_exit
        message = {"do": "fork", "run": run, "graph": graph_id, "memory": memory}
        self._send(message, (theirs.detach(), output_end))
        return ours, output

    def forked(self, run: str, pid: int) -> None:
        """Told before any code of the user ran: whom to kill if the server is lost."""
        self._pids[run] = pid

    def kill(self, run: str) -> None:
        if run in self._runs:
            self._send({"do": "kill", "run": run})
            asyncio.get_running_loop().call_later(STUCK_SECONDS, self._end_if_stuck, run)

    def _end_if_stuck(self, run: str) -> None:
        if run in self._runs and self._process is not None:
            self._process.terminate()  # the guardian, which ends the server and all below it
            loop = asyncio.get_running_loop()
            loop.call_later(STUCK_SECONDS, self._end_anyhow, self._process)

    def _end_anyhow(self, process: subprocess.Popen[bytes]) -> None:
        """A guardian that stands still as well; both are in one group of processes."""
        if process is self._process and process.returncode is None:
            kill_group(process.pid)

    async def _supervise(self) -> None:
        pause = FIRST_PAUSE
        try:
            while True:
                self._launch()
                await self._ended.wait()
                pause = FIRST_PAUSE if self._up.is_set() else min(pause * 2, LAST_PAUSE)
                await self._clear_away()
                await asyncio.sleep(pause)
        finally:
            await self._clear_away()

    def _launch(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        root = str(Path(cadenza.__file__).parents[1])
        arguments = [str(theirs.fileno()), str(os.getpid()), root]
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 — ourselves
                [sys.executable, "-P", "-c", PROGRAM, *arguments],
                stdin=subprocess.PIPE,
                stdout=sys.__stderr__,
                env=self._environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._ended.clear()
        self._listing = {}
        self._control = ours
        asyncio.get_running_loop().add_reader(ours.fileno(), self._receive)
        settings = {"sources": self._settings, "broken": self._broken}
        assert self._process.stdin is not None
        with suppress(BrokenPipeError), self._process.stdin as pipe:
            pipe.write(json.dumps(settings).encode())

    async def _clear_away(self) -> None:
        """Nothing of a lost server goes on, and nobody waits for it."""
        if self._up.is_set():
            self._up.clear()
            self._up_or_hopeless.clear()
        control, self._control = self._control, None
        if control is not None:
            asyncio.get_running_loop().remove_reader(control.fileno())
            asyncio.get_running_loop().remove_writer(control.fileno())
            control.close()
        for _, fds in self._outbox:
            _close_all(fds)
        self._outbox.clear()
        process, self._process = self._process, None
        if process is not None:
            try:  # it ends by itself when the socket closes
                await asyncio.to_thread(process.wait, STUCK_SECONDS)
            except subprocess.TimeoutExpired:
                kill_group(process.pid)
                await asyncio.to_thread(process.wait)
        for pid in self._pids.values():
            kill_group(pid)
        for run in list(self._runs):
            self._exited(run, Exit(None))

    def _send(self, message: Mapping[str, Any], fds: tuple[int, ...] = ()) -> None:
        self._outbox.append((link.encode(message), fds))
        self._flush()

    def _flush(self) -> None:
        control = self._control
        if control is None:
            return
        loop = asyncio.get_running_loop()
        while self._outbox:
            raw, fds = self._outbox[0]
            try:
                socket.send_fds(control, [raw], fds)
            except BlockingIOError:
                loop.add_writer(control.fileno(), self._flush)
                return
            except OSError:
                break  # the server is gone; the reader sees it, too
            self._outbox.popleft()
            _close_all(fds)
        loop.remove_writer(control.fileno())

    def _receive(self) -> None:
        assert self._control is not None
        while True:
            try:
                raw = self._control.recv(link.MAX_DATAGRAM)
            except BlockingIOError:
                return
            except OSError:
                raw = b""
            if not raw:
                asyncio.get_running_loop().remove_reader(self._control.fileno())
                self._lost()
                return
            self._learn(link.decode(raw))

    def _lost(self) -> None:
        if self._loading is not None:
            self._broken[self._loading] = "importing it ended the whole process"
        elif not self._up.is_set():
            self._up_or_hopeless.set()
        self._loading = None
        self._ended.set()

    def _learn(self, message: Mapping[str, Any]) -> None:
        match message["is"]:
            case "loading":
                self._loading = message["graph"]
            case "graph":
                self._listing[message["graph"]] = message["problem"]
                self.schemas.pop(message["graph"], None)
                if message["schema"] is not None:
                    self.schemas[message["graph"]] = message["schema"]
            case "ready":
                self._loading = None
                self.graphs = self._listing
                self.isolation = message["isolation"]
                self._up.set()
                self._up_or_hopeless.set()
            case "exited":
                self._exited(message["run"], Exit(message["code"], message["why"]))
            case "refused":
                self._exited(message["run"], Exit(None, message["message"]))
            case _:
                self._pong.set()

    def _exited(self, run: str, exit_: Exit) -> None:
        self._pids.pop(run, None)
        on_exit = self._runs.pop(run, None)
        if on_exit is not None:
            on_exit(exit_)


def _close_all(fds: tuple[int, ...]) -> None:
    for fd in fds:
        os.close(fd)
