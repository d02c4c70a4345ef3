"""The database server of a run: stopped, crashed, filled up, replaced by its replica."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from cadenza.adapters.postgres.embedded import EmbeddedPostgres

# A process that dies loses nothing of what the kernel has: only a machine that dies would.
SETTINGS = {"fsync": "off", "full_page_writes": "off", "max_connections": "60"}
MOUNT = "cadenza-chaos"
SIZE = "600m"


class Server:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._server = EmbeddedPostgres(folder / "postgres", settings=SETTINGS)

    async def start(self) -> str:
        return await asyncio.to_thread(self._server.start)

    async def stop(self) -> None:
        await asyncio.to_thread(self._server.stop)

    @property
    def running(self) -> bool:
        return self._server.running

    def crash(self) -> None:
        """From one instant to the next, with whatever is under way."""
        pid = (self.folder / "postgres" / "data" / "postmaster.pid").read_text().split()[0]
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGQUIT)

    # --- Its disk -------------------------------------------------------------------------

    def fill_disk(self) -> None:
        """All but what the last write could take."""
        with suppress(OSError), (self.folder / "filler").open("wb") as filler:
            while True:
                filler.write(b"\0" * 1024 * 1024)
                filler.flush()

    def free_disk(self) -> None:
        (self.folder / "filler").unlink(missing_ok=True)


@contextmanager
def small_folder(wanted: bool) -> Generator[tuple[Path, bool]]:
    """A folder on a small mount of its own where root allows it, and whether it is."""
    folder = Path(tempfile.mkdtemp(prefix="cadenza-chaos-"))
    folder.chmod(0o755)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", MOUNT, str(folder)]
    mounted = wanted and os.geteuid() == 0 and _done(mount)
    if mounted:
        folder.chmod(0o755)
    try:
        yield folder, mounted
    finally:
        if mounted:
            _done(["umount", "-l", str(folder)])
        shutil.rmtree(folder, ignore_errors=True)


def _done(command: list[str]) -> bool:
    return subprocess.run(command, check=False, capture_output=True).returncode == 0
