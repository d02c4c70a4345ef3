"""What `cadenza up` says once everything is ready: where it is, and three lines to try."""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import structlog
from rich.console import Console
from rich.markup import escape

from cadenza.up.sample_service import Sample

READY_SECONDS = 60.0
LOOK_SECONDS = 0.05
# It imports what graphs import, which takes seconds, and nothing but a graph waits for it.
MAY_FOLLOW = frozenset({"graph-worker"})
EVERYTHING = frozenset({"api"})
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Welcome:
    path_line: str | None  # by which a shell finds the command; None: it does already
    address: str
    sample: Sample
    networks: str
    client_file: Path
    new_key: str | None
    key: str  # with which a link to the dashboard is asked for

    async def show_when_ready(self, is_stopping: Callable[[], bool]) -> None:
        async with aiohttp.ClientSession() as session:
            for _ in range(int(READY_SECONDS / LOOK_SECONDS)):
                if is_stopping():
                    return
                missing = await _missing(session, self.address)
                if missing <= MAY_FOLLOW:
                    link = await _sign_in_link(session, self.address, self.key)
                    self._show(link, is_loading=bool(missing))
                    return
                await asyncio.sleep(LOOK_SECONDS)
        log.error(f"not everything is ready after {READY_SECONDS:g} s; see {self.address}/readyz")

    def _show(self, link: str | None, *, is_loading: bool) -> None:
        out = Console(highlight=False, soft_wrap=True)
        out.print(f"\n[bold]Cadenza is up[/] at {self.address}  (press Ctrl-C to stop)\n")
        if link is not None:
            out.print("  Dashboard (this link signs you in once, within a minute):")
            out.print(f"  [bold]{link}[/]")
            out.print("  For another link: cadenza dashboard\n")
        if self.new_key is not None:
            out.print("  Your admin key (shown only once):")
            out.print(f"[bold]{self.new_key}[/]")  # with nothing before it, it fits 80 columns
            out.print(f"  The command line reads it from {self.client_file}\n")
        out.print(f"  Endpoints may call public addresses and: {self.networks}")
        if self.sample.address is not None:
            out.print(f"  Sample service, a queue that fills and empties: {self.sample.address}")
        if self.sample.trouble is not None:
            out.print(f"  [yellow]{escape(self.sample.trouble)}[/]")
        if is_loading:
            out.print("  The graph worker is still loading; it logs when it is ready.")
        out.print(f"  Documentation: {self.address}/docs/")
        out.print("\nTry this, in another terminal in the same folder:\n")
        for line in self._lines():
            out.print(line, markup=False)  # not indented, so that each fits 80 columns
        out.print("")

    def _lines(self) -> list[str]:
        """The same as in the README."""
        url = self.sample.address or "https://example.com/queue"
        return [
            *([self.path_line] if self.path_line else []),
            'cadenza jobs create shop --description "Watch the queue of orders"',
            f"cadenza endpoints create shop/queue --url {url} --every 5s",
            "cadenza tail --count 3",
        ]


async def _missing(session: aiohttp.ClientSession, address: str) -> frozenset[str]:
    """The parts that are not there yet."""
    try:
        async with session.get(f"{address}/readyz") as answer:
            parts: Mapping[str, str] = (await answer.json())["parts"]
    except (aiohttp.ClientError, OSError, ValueError, KeyError):
        return EVERYTHING
    return frozenset(name for name, condition in parts.items() if condition != "ok")


async def _sign_in_link(session: aiohttp.ClientSession, address: str, key: str) -> str | None:
    """None where it cannot be had: the page to sign in with a key is there all the same."""
    headers = {"Authorization": f"Bearer {key}"}
    try:
        async with session.post(f"{address}/api/v1/sign-in-links", headers=headers) as answer:
            return f"{address}{(await answer.json())['path']}" if answer.ok else None
    except (aiohttp.ClientError, OSError):
        return None


def path_line(program: Path, search_path: str) -> str | None:
    """What lets a shell in this folder find the program that runs now by its name alone."""
    folder = program.absolute().parent
    if program.name != "cadenza" or not program.exists():
        return None
    if str(folder) in search_path.split(os.pathsep):
        return None
    try:
        return f'export PATH="$PWD/{folder.relative_to(Path.cwd())}:$PATH"'
    except ValueError:
        return f'export PATH="{folder}:$PATH"'
