"""What `cadenza up` says once everything is ready: where it is, and three lines to try."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import structlog
from rich.console import Console

READY_SECONDS = 60.0
LOOK_SECONDS = 0.1
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Welcome:
    command: str  # as the person can type it here
    address: str
    sample: str  # the address of the sample service
    networks: str
    client_file: Path
    new_key: str | None

    async def show_when_ready(self, is_stopping: Callable[[], bool]) -> None:
        async with aiohttp.ClientSession() as session:
            for _ in range(int(READY_SECONDS / LOOK_SECONDS)):
                if is_stopping():
                    return
                if await _is_ready(session, self.address):
                    self._show()
                    return
                await asyncio.sleep(LOOK_SECONDS)
        log.error(f"not everything is ready after {READY_SECONDS:g} s; see {self.address}/readyz")

    def _show(self) -> None:
        out = Console(highlight=False, soft_wrap=True)
        out.print(f"\n[bold]Cadenza is up[/] at {self.address}  (Ctrl-C ends it)\n")
        if self.new_key is not None:
            out.print(f"  Your admin key, shown this once:  [bold]{self.new_key}[/]")
            out.print(f"  The command line finds it in {self.client_file}\n")
        out.print(f"  Targets in these networks may be called: {self.networks}")
        out.print(f"  A sample service answers with a queue depth: {self.sample}\n")
        out.print("Three lines to try, in another terminal:\n")
        for line in (
            f'{self.command} jobs create shop --description "Watch the queue of orders"',
            f"{self.command} endpoints create shop/queue --url {self.sample} --every 5s",
            f"{self.command} tail --count 3",
        ):
            out.print(f"  {line}", markup=False)
        out.print("")


async def _is_ready(session: aiohttp.ClientSession, address: str) -> bool:
    try:
        async with session.get(f"{address}/readyz") as answer:
            return answer.status == 200
    except (aiohttp.ClientError, OSError):
        return False


def typed_command(program: Path, search_path: str) -> str:
    """How a person in this folder starts the program that runs now."""
    if program.name != "cadenza" or not program.exists():
        return "cadenza"
    if str(program.absolute().parent) in search_path.split(os.pathsep):
        return "cadenza"
    try:
        return str(program.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(program.absolute())
