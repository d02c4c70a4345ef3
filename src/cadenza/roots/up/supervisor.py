"""Keeps the parts of `cadenza up` running: what crashes is reported and started again."""

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import structlog

from cadenza.roots.parent import SUPERVISED

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
LONG_ENOUGH = 60.0  # seconds after which a part that ends has had a good life
STOP_SECONDS = 40.0
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    arguments: Sequence[str]


class Supervisor:
    def __init__(self, parts: Sequence[Part], environment: Mapping[str, str]) -> None:
        self._parts = parts
        self._environment = {**environment, SUPERVISED: "1"}
        self._running: dict[str, asyncio.subprocess.Process] = {}
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Until `stop`; then every part ends gently, and those that do not are ended."""
        keepers = [asyncio.create_task(self._keep(part)) for part in self._parts]
        try:
            await asyncio.gather(*keepers)
        finally:
            self.stop_now()
            await asyncio.gather(*(process.wait() for process in self._running.values()))

    def stop(self) -> None:
        self._stopping.set()
        for process in self._running.values():
            _signal(process.terminate)

    def stop_now(self) -> None:
        self._stopping.set()
        for process in self._running.values():
            _signal(process.kill)

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    async def _keep(self, part: Part) -> None:
        loop = asyncio.get_running_loop()
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            began = loop.time()
            code = await self._live(part)
            if self._stopping.is_set():
                return
            pause = FIRST_PAUSE if loop.time() - began > LONG_ENOUGH else pause
            log.error(f"{part.name} has ended; starting it again", code=code, in_seconds=pause)
            await _unless(self._stopping, pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _live(self, part: Part) -> int:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "cadenza.roots.main",
            *part.arguments,
            stdin=asyncio.subprocess.PIPE,  # held open by us: it ends when we do
            env=self._environment,
            start_new_session=True,  # a Ctrl-C is ours to pass on
        )
        self._running[part.name] = process
        if self._stopping.is_set():
            _signal(process.terminate)
        try:
            return await self._ended(process)
        finally:
            del self._running[part.name]

    async def _ended(self, process: asyncio.subprocess.Process) -> int:
        ended = asyncio.create_task(process.wait())
        stopping = asyncio.create_task(self._stopping.wait())
        await asyncio.wait({ended, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        try:
            return await asyncio.wait_for(asyncio.shield(ended), STOP_SECONDS)
        except TimeoutError:
            _signal(process.kill)
            return await ended


async def _unless(stopping: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)


def _signal(send: Callable[[], None]) -> None:
    with suppress(ProcessLookupError):
        send()
