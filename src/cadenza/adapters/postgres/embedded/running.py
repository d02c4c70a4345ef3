"""The server that another program of this installation has started in a folder."""

import fcntl
import os
from pathlib import Path

from cadenza.adapters.postgres.embedded.cluster import USER

READY = "ready"


def running_url(folder: Path, database: str = "cadenza") -> str | None:
    """Its address; None where none runs, or where this user may not know its password."""
    if not _is_held(folder / "server.lock"):
        return None
    try:
        lines = (folder / "data" / "postmaster.pid").read_text(errors="replace").splitlines()
        password = (folder / "password").read_text().strip()
    except OSError:
        return None
    if len(lines) < 8 or lines[7].strip() != READY or not password:
        return None
    return f"postgresql://{USER}:{password}@127.0.0.1:{lines[3]}/{database}?sslmode=disable"


def _is_held(path: Path) -> bool:
    """No pid file is trusted: a server that lives holds the folder's lock."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
