"""Which programs a supervisor starts, and when; and what becomes of those that were forked."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path
from typing import Any

from cadenza.up.supervisor import Program, Supervisor
from tests.ports import free_port

COMMAND = Path(sys.executable).parent / "cadenza"
PYTHON = (sys.executable, "-c")
WAITS = "import sys; sys.stdin.read()"
PATIENCE = 60


async def test_a_program_that_follows_starts_when_it_may() -> None:
    started: asyncio.Queue[str] = asyncio.Queue()

    def on_change(name: str, runs: bool) -> None:
        if runs:
            started.put_nowait(name)

    programs = [Program("graphs", [WAITS], follows=True), Program("api", [WAITS])]
    supervisor = Supervisor(programs, PYTHON, {}, on_change)
    running = asyncio.create_task(supervisor.run())
    assert await _within(started.get()) == "api"
    assert started.empty()
    supervisor.let_follow()
    assert await _within(started.get()) == "graphs"
    supervisor.stop()
    await _within(running)


async def test_one_that_never_followed_does_not_hold_up_the_end() -> None:
    supervisor = Supervisor([Program("graphs", [WAITS], follows=True)], PYTHON, {})
    running = asyncio.create_task(supervisor.run())
    await asyncio.sleep(0)
    supervisor.stop()
    await _within(running)


def test_nothing_is_left_of_a_start_that_failed(tmp_path: Path) -> None:
    settings = {
        "CADENZA_DATA_FOLDER": str(tmp_path),
        "CADENZA_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing",
    }
    done = subprocess.run(
        [COMMAND, "up", "--port", str(free_port()), "--no-sample"],
        env={**os.environ, **settings},  # noqa: TID251
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    # Its programs hold the other ends of stdout and stderr: they have ended, or this would wait.
    assert done.returncode == 1
    assert "127.0.0.1:1" in done.stderr
    assert _of(tmp_path) == []


def _of(folder: Path) -> list[str]:
    """The processes that were given this folder."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if f"CADENZA_DATA_FOLDER={folder}".encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
    return found


async def _within(awaited: Awaitable[Any]) -> Any:
    async with asyncio.timeout(PATIENCE):
        return await awaited
