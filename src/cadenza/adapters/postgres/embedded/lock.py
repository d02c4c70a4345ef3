"""The lock of a data folder.

It belongs to an open file, and every process that inherits that file holds it too: the program
while it starts, then the guard and every process of the server. So it is free exactly when all are
gone.
"""

import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from cadenza.domain.errors import InstallationError

# The guard writes "ending" into the file within a second of its program's end.
SECONDS_TO_NOTICE = 2.0
SECONDS_TO_END = 60.0


@contextmanager
def held(path: Path) -> Generator[int]:
    """Hold the folder's lock here; a child that inherits the descriptor holds it afterwards."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait_for(lock, path.parent)
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        yield lock
    finally:
        os.close(lock)


def _wait_for(lock: int, folder: Path) -> None:
    began = time.monotonic()
    while not _taken(lock):
        waited = time.monotonic() - began
        holder = os.pread(lock, 32, 0).decode(errors="replace").strip()
        if holder != "ending" and waited > SECONDS_TO_NOTICE:
            raise InstallationError(
                f"The database in {folder} is already in use by another Cadenza (process "
                f"{holder or '?'}). A folder serves one at a time. Stop that one first, start this "
                "one with another data folder, or give both one PostgreSQL: CADENZA_DATABASE_URL."
            )
        if waited > SECONDS_TO_END:
            raise InstallationError(
                f"The database server of an earlier Cadenza in {folder} is still shutting down "
                f"after {SECONDS_TO_END:.0f} s. Wait until it is gone, then start again."
            )
        time.sleep(0.02)


def _taken(lock: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
