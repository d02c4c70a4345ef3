"""A program and everything it starts, as one thing that can be watched, read and ended.

It leads a session and process group of its own. Whatever is left of the group when the program
ends is killed while the program is still a zombie: until it is reaped, its process id, which names
the group, cannot be reused. A child that left the group may still hold the pipes open, so their end
is never waited for: what was written before the program ended can be read already.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import IO

from cadenza.application.waiting import until_set

CHUNK = 64 * 1024
POLL_SECONDS = 0.02
DEATH_SECONDS = 5  # a killed program that takes longer hangs in the kernel


class Output:
    """One pipe, read as far as a limit."""

    def __init__(self, pipe: IO[bytes], limit: int, on_flood: Callable[[], None]) -> None:
        self._pipe = pipe
        self._limit = limit
        self._on_flood = on_flood
        self._data = bytearray()
        self._reading = True
        os.set_blocking(pipe.fileno(), False)
        asyncio.get_running_loop().add_reader(pipe.fileno(), self._read)

    @property
    def data(self) -> bytes:
        return bytes(self._data[: self._limit])

    def close(self) -> None:
        """Take what is there, and let go of the pipe."""
        while self._reading:
            self._read(at_the_end=True)
        self._pipe.close()

    def _read(self, *, at_the_end: bool = False) -> None:
        try:
            more = os.read(self._pipe.fileno(), CHUNK)
        except BlockingIOError:
            if at_the_end:
                self._stop()
            return
        self._data += more
        if not more or len(self._data) > self._limit:
            self._stop()
        if len(self._data) > self._limit:
            self._on_flood()

    def _stop(self) -> None:
        self._reading = False
        asyncio.get_running_loop().remove_reader(self._pipe.fileno())


class GroupProcess:
    """The caller has to `end` it, whatever happens."""

    def __init__(self, process: subprocess.Popen[bytes], limit: int) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._exited = asyncio.Event()
        self._stirred = asyncio.Event()  # it exited, or wrote too much
        self.flooded = False
        self.stdout = Output(process.stdout, limit, self._flood)
        self.stderr = Output(process.stderr, limit, self._flood)
        self._watching = asyncio.create_task(self._watch())

    @property
    def exited(self) -> bool:
        return self._exited.is_set()

    async def wait(self, at_most: timedelta) -> None:
        """Until it has exited, has written more than the limit, or the time is over."""
        await until_set(self._stirred, at_most)

    async def ask_to_end(self, patience: timedelta) -> None:
        self._signal(signal.SIGTERM)
        await until_set(self._exited, patience)

    async def end(self) -> int | None:
        """Kill what is left of the group; returns the exit code, None where it did not die."""
        self._signal(signal.SIGKILL)
        reaping = asyncio.create_task(self._reap())
        with suppress(TimeoutError):
            async with asyncio.timeout(DEATH_SECONDS):
                return await asyncio.shield(reaping)  # a second cancellation leaves no zombie
        return None

    async def _reap(self) -> int:
        await self._exited.wait()
        await self._watching
        self.stdout.close()
        self.stderr.close()
        return self._process.wait()

    def _flood(self) -> None:
        self.flooded = True
        self._stirred.set()

    def _signal(self, number: signal.Signals) -> None:
        # No process is left, or only those of another user.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def _watch(self) -> None:
        await _until_exited(self._process)
        self._exited.set()
        self._stirred.set()


async def _until_exited(process: subprocess.Popen[bytes]) -> None:
    """Until it is a zombie; on systems without pidfd, until it is gone."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        while process.poll() is None:  # noqa: ASYNC110 - there is nothing that sets an event
            await asyncio.sleep(POLL_SECONDS)
        return
    loop, exited = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, exited.set)
    try:
        await exited.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def start(
    command: Sequence[str], folder: str, environment: Mapping[str, str], limit: int
) -> GroupProcess:
    """OSError or ValueError where it cannot be started."""
    process = subprocess.Popen(  # noqa: S603 - the command is the point; the admin allowed it
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    return GroupProcess(process, limit)
