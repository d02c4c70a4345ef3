"""A copy of the programs that the server's user can read, where we are root and he cannot."""

import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from cadenza.adapters.postgres.embedded.installation import WHEEL, Installation
from cadenza.adapters.postgres.embedded.process import Account
from cadenza.domain.errors import InstallationError

CACHES = (Path("/var/cache"), Path("/var/lib"), Path("/var/tmp"), Path("/tmp"))  # noqa: S108
LIBRARIES = f"{WHEEL}.libs"
# The server needs these of the wheel; the rest is headers, static libraries and client programs.
PROGRAMS = ("postgres", "initdb")
FOLDERS = ("lib/postgresql", "share")


def readable_by(
    account: Account | None, installation: Installation, caches: Sequence[Path]
) -> Installation:
    if account is None or _can_run(account, installation):
        return installation
    if _libraries_of(installation).is_dir():
        for cache in caches:
            with suppress(OSError):  # not there, not writable, full: the next one
                copy = _copied_to(cache, installation)
                if copy is not None and _can_run(account, copy):
                    return copy
    raise InstallationError(
        f"PostgreSQL refuses to run as root, and {account.name} cannot run the programs in "
        f"{installation.binaries}; a copy under {', '.join(map(str, caches))} did not help. "
        "Install Cadenza where every user can read it, run it as an ordinary user, or set a "
        "database URL."
    )


def _can_run(account: Account, installation: Installation) -> bool:
    try:
        done = subprocess.run(  # noqa: S603 - a path from the settings or our own search
            [str(installation.initdb), "--version"],
            user=account.uid,
            group=account.gid,
            extra_groups=[],
            capture_output=True,
            check=False,
            cwd="/",
        )
    except OSError as error:
        if error.filename == str(installation.initdb):
            return False
        # The change of user failed, not the program.
        raise InstallationError(
            f"PostgreSQL refuses to run as root, and this process may not become {account.name} "
            f"({error.strerror}). Run Cadenza as an ordinary user, or set a database URL."
        ) from error
    return done.returncode == 0


def _copied_to(cache: Path, installation: Installation) -> Installation | None:
    """The copy, made once for each installation; None where others can write to it."""
    root = cache / f"cadenza-postgresql-{installation.version}-{_fingerprint(installation)}"
    if not root.exists():
        _copy(installation, root)
    if not _belongs_to_us_alone(root):
        return None
    return replace(installation, binaries=root / WHEEL / _name_of(installation) / "bin")


def _copy(installation: Installation, root: Path) -> None:
    """Into a folder beside it first, so that a copy under its final name is complete."""
    unfinished = Path(tempfile.mkdtemp(prefix=f"{root.name}.", dir=root.parent))
    try:
        home, source = unfinished / WHEEL / _name_of(installation), installation.binaries.parent
        for program in PROGRAMS:
            (home / "bin").mkdir(parents=True, exist_ok=True)
            shutil.copy(source / "bin" / program, home / "bin" / program)
        for folder in FOLDERS:
            shutil.copytree(source / folder, home / folder)
        # The programs look for their libraries here, relative to themselves.
        shutil.copytree(_libraries_of(installation), unfinished / LIBRARIES)
        _open_to_readers(unfinished)
        with suppress(OSError):  # another start was quicker: its copy is as good
            unfinished.rename(root)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _open_to_readers(root: Path) -> None:
    for folder, _, files in os.walk(root):
        Path(folder).chmod(0o755)
        for name in files:
            path = Path(folder, name)
            path.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)


def _belongs_to_us_alone(root: Path) -> bool:
    # In /tmp anybody could have put a folder of this name there first.
    status = root.lstat()
    shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not shared


def _fingerprint(installation: Installation) -> str:
    status = installation.postgres.stat()
    text = f"{installation.binaries} {status.st_size} {status.st_mtime_ns}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _libraries_of(installation: Installation) -> Path:
    return installation.binaries.parent.parent.parent / LIBRARIES


def _name_of(installation: Installation) -> str:
    return installation.binaries.parent.name
