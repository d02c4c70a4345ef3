"""Keeps the programs of `cadenza up` running: one that crashes is reported and started again."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Thread
from typing import Protocol

import structlog

from cadenza.application.waiting import until_set

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
LONG_ENOUGH = 60.0  # seconds after which a program that ends is not caught in a crash loop
STOP_SECONDS = 40.0
log = structlog.get_logger()
SUPERVISED = "CADENZA_SUPERVISED"
STDIN = 0  # read past Python's own buffer, which would hold a lock at the end


@dataclass(frozen=True, slots=True)
class Program:
    name: str
    arguments: Sequence[str]  # of the `cadenza` command
    environment: Mapping[str, str] = field(default_factory=dict[str, str])  # of it alone
    follows: bool = False  # it starts once the others are ready


class Process(Protocol):
    async def wait(self) -> int: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


class WaitingProcess(Process, Protocol):
    def begin(self, environment: Mapping[str, str]) -> None: ...

    def close(self) -> None: ...


class Supervisor:
    def __init__(
        self,
        programs: Sequence[Program],
        command: Sequence[str],
        environment: Mapping[str, str],
        on_change: Callable[[str, bool], None] = lambda _name, _runs: None,
        waiting: Mapping[str, WaitingProcess] | None = None,
    ) -> None:
        """`on_change` hears which program was started, or has ended. Programs begin in the process
        that waits for them, where there is one; after that `command` starts them."""
        self._programs = programs
        self._command = command
        self._on_change = on_change
        self._environment = {**environment, SUPERVISED: "1"}
        self._waiting = dict(waiting or {})
        self._running: dict[str, Process] = {}
        self._following = asyncio.Event()
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Until `stop`; then every program ends gently, and those that do not are ended."""
        keepers = [asyncio.create_task(self._keep(program)) for program in self._programs]
        try:
            await asyncio.gather(*keepers)
        finally:
            self._kill_all()
            await asyncio.gather(*(process.wait() for process in self._running.values()))

    def let_follow(self) -> None:
        """The others are ready, or are not waited for any more."""
        self._following.set()

    def stop(self) -> None:
        """Let every program end gently; a second call kills them."""
        if self.stopping:
            self._kill_all()
        self._stopping.set()
        self._following.set()
        for process in self._running.values():
            _signal(process.terminate)

    def _kill_all(self) -> None:
        self._stopping.set()
        for process in self._running.values():
            _signal(process.kill)

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    async def _keep(self, program: Program) -> None:
        loop = asyncio.get_running_loop()
        pause = FIRST_PAUSE
        if program.follows:
            await self._following.wait()
        while not self._stopping.is_set():
            began = loop.time()
            code = await self._run_once(program)
            if self._stopping.is_set():
                return
            pause = FIRST_PAUSE if loop.time() - began > LONG_ENOUGH else pause
            log.error(f"{program.name} has ended; starting it again", code=code, in_seconds=pause)
            await until_set(self._stopping, timedelta(seconds=pause))
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _run_once(self, program: Program) -> int:
        environment = {**self._environment, **program.environment}
        waiting = self._waiting.pop(program.name, None)
        if waiting is None:
            process = await self._started(program, environment)
        else:
            waiting.begin(environment)
            process = waiting
        self._running[program.name] = process
        self._on_change(program.name, True)
        if self._stopping.is_set():
            _signal(process.terminate)
        try:
            return await self._ended(process)
        finally:
            if waiting is not None:
                waiting.close()
            del self._running[program.name]
            self._on_change(program.name, False)

    async def _started(self, program: Program, environment: Mapping[str, str]) -> Process:
        return await asyncio.create_subprocess_exec(
            *(*self._command, *program.arguments),
            stdin=asyncio.subprocess.PIPE,  # held open by us: it ends when we do
            env=environment,
            start_new_session=True,  # a Ctrl-C is ours to pass on
        )

    async def _ended(self, process: Process) -> int:
        ended = asyncio.create_task(process.wait())
        stopping = asyncio.create_task(self._stopping.wait())
        await asyncio.wait({ended, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        try:
            return await asyncio.wait_for(asyncio.shield(ended), STOP_SECONDS)
        except TimeoutError:
            _signal(process.kill)
            return await ended


def _signal(send: Callable[[], None]) -> None:
    with suppress(ProcessLookupError):
        send()


def end_with_parent(environment: Mapping[str, str]) -> None:
    """The parent holds the other end of our stdin, which is closed when the parent is gone."""

    def wait_for_end() -> None:
        while os.read(STDIN, 1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    if environment.get(SUPERVISED) == "1":
        Thread(target=wait_for_end, name="parent", daemon=True).start()
