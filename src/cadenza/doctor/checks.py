"""What can be wrong with an installation, each with its fix."""

import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

PATIENCE = 5.0  # seconds for a server or a database to answer
LEAST_DISK = 1024**3  # bytes; a database without room stops
FEW_DISK = 5 * 1024**3
KEY_ENDS_SOON = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Check:
    """Error: it does not work like this. Warning: it works, but hardly as it was meant."""

    name: str
    state: str  # ok, warning or error
    what: str
    fix: str = ""


def right(name: str, what: str) -> Check:
    return Check(name, "ok", what)


def check_versions(server_version: str | None) -> Iterator[Check]:
    ours = version("cadenza")
    yield right("versions", f"cadenza {ours}, Python {platform.python_version()}")
    if server_version is not None and server_version != ours:
        fix = "restart the server with the new version, or install the same version here"
        yield Check("versions", "warning", f"the server runs cadenza {server_version}", fix)


def check_keys(keys: Sequence[Mapping[str, Any]], now: datetime) -> Iterator[Check]:
    """Those that end within a week; what has ended is nobody's trouble any more."""
    for key in keys:
        if key["expires_at"] is None or key["revoked_at"] is not None:
            continue
        left = datetime.fromisoformat(key["expires_at"]) - now
        if timedelta(0) < left <= KEY_ENDS_SOON:
            what = f"the key {key['name']} expires within {left.days + 1} days"
            fix = "replace it with `cadenza keys rotate --overlap 1d`, and update its users"
            yield Check("keys", "warning", what, fix)


def check_disk(folder: Path) -> Check:
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    what = f"{free / 1024**3:.1f} GB free in {folder}"
    if free >= FEW_DISK:
        return right("disk", what)
    fix = "free up space, lower CADENZA_RETENTION_DAYS, or move CADENZA_DATA_FOLDER"
    return Check("disk", "error" if free < LEAST_DISK else "warning", what, fix)
