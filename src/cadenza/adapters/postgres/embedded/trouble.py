"""Error messages for when the machine does not let the database start."""

import errno
import os
import pwd
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from cadenza.domain.errors import InstallationError

ROOM_FOR_A_NEW_CLUSTER = 64 << 20
ROOM_TO_START = 1 << 20

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def explained(folder: Path) -> Generator[None]:
    """Turn errors of the operating system inside this block into messages for a person."""
    try:
        yield
    except OSError as error:
        raise _os_trouble(folder, error) from error


def need_room_for_a_cluster(folder: Path) -> None:
    free = _free_bytes(folder)
    if free < ROOM_FOR_A_NEW_CLUSTER:
        raise InstallationError(
            f"The disk that holds {folder} is full: {free >> 20} MB are free, and a new database "
            f"needs {ROOM_FOR_A_NEW_CLUSTER >> 20} MB. Free some space, or choose a data folder "
            "on another disk."
        )


def server_trouble(what: str, folder: Path, output: str) -> InstallationError:
    """`output` is PostgreSQL's; on a full disk it may not have been able to write anything."""
    no_room = any(os.strerror(number) in output for number in _NO_ROOM)
    if no_room or _free_bytes(folder) < ROOM_TO_START:
        return _no_room(folder, output)
    return InstallationError(f"{what} in {folder}. {_quoted(output)}")


def _os_trouble(folder: Path, error: OSError) -> InstallationError:
    if error.errno in _NO_ROOM:
        return _no_room(folder, str(error))
    if error.errno in _NOT_ALLOWED:
        return InstallationError(
            f"The data folder {folder} cannot be used: {error}. It has to be a folder that "
            f"{_user_name(os.geteuid())} can write{_owner(folder)}. Give it to that user, run "
            "Cadenza as the user it belongs to, or choose another data folder."
        )
    return InstallationError(
        f"The database in {folder} cannot be started: {error}. It needs a folder on a local "
        "disk and room for a few processes. Mend that, or choose another data folder."
    )


def _no_room(folder: Path, output: str) -> InstallationError:
    return InstallationError(
        f"The disk that holds {folder} is full, or a limit on file sizes is reached. Free some "
        f"space (or raise the limit, `ulimit -f`) and start again: the data is kept. "
        f"{_quoted(output)}"
    )


def _quoted(output: str) -> str:
    lines = output.strip().splitlines()[-12:]
    return "\n".join(["The last that was said:", *lines]) if lines else "Nothing more was said."


def _free_bytes(folder: Path) -> int:
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize


def _owner(folder: Path) -> str:
    # The cluster inside may belong to somebody else than the folder: root runs it as another user.
    for path in (folder / "data", folder):
        with suppress(OSError):
            return f", and it belongs to {_user_name(path.stat().st_uid)}"
    return ""


def _user_name(uid: int) -> str:
    with suppress(KeyError):
        return pwd.getpwuid(uid).pw_name
    return f"user {uid}"
