"""A command that ends with us: started through the guard, as a user who is not root."""

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cadenza.domain.errors import InstallationError

GUARD = Path(__file__).with_name("guard.py")
# All that the server sees of an environment: nothing of ours leaks, nothing of ours misleads it.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
SECONDS_TO_END = 60.0  # longer than the guard's own patience
# PostgreSQL refuses to run as root. The user has to be in the user database (initdb looks it up),
# so no free number will do.
CANDIDATES = ("cadenza", "postgres", "nobody")


@dataclass(frozen=True)
class Account:
    name: str
    uid: int
    gid: int


def server_account(data: Path) -> Account | None:
    """None for an ordinary user, who runs the server as himself."""
    if os.geteuid() != 0:
        return None
    # A cluster stays with its user: an ordinary user's cluster opened with sudo remains his.
    with suppress(FileNotFoundError):
        owner = data.stat()
        if owner.st_uid != 0:
            return Account(f"user {owner.st_uid}", owner.st_uid, owner.st_gid)
    for name in CANDIDATES:
        with suppress(KeyError):
            user = pwd.getpwnam(name)
            return Account(name, user.pw_uid, user.pw_gid)
    raise InstallationError(
        "PostgreSQL refuses to run as root, and none of the users it could run as exists here "
        f"({', '.join(CANDIDATES)}). Add one (`useradd --system cadenza`), run Cadenza as an "
        "ordinary user, or set a database URL."
    )


@dataclass(frozen=True)
class Scope:
    """Where and as whom the commands of one cluster run."""

    data: Path
    account: Account | None
    lock: int


class GuardedProcess:
    """The command ends when `end` is called, when this program ends, and when the guard ends."""

    def __init__(
        self,
        command: Sequence[str],
        scope: Scope,
        *,
        output: IO[bytes] | None = None,
        stdin: int | None = None,
    ) -> None:
        order = {
            "command": list(command),
            "environment": ENVIRONMENT,
            "data": str(scope.data),
            "account": scope.account and (scope.account.uid, scope.account.gid),
            "stdin": stdin,
            "lock": scope.lock,
        }
        self._owner = os.getpid()
        # A session of its own keeps Ctrl-C in a terminal from reaching the server before us.
        self._guard = subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, "-I", "-S", str(GUARD), json.dumps(order)],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output or subprocess.STDOUT,
            cwd="/",
            start_new_session=True,
            pass_fds=[scope.lock] if stdin is None else [scope.lock, stdin],
        )

    @property
    def running(self) -> bool:
        return self._guard.poll() is None

    def read_pid(self) -> int | None:
        """The command's process id, or None where it could not even be started."""
        line = self._report.readline()
        return int(line) if line else None

    def finish(self) -> tuple[int, str]:
        """Wait for a command that ends by itself; its exit code and its output."""
        report = self._report.read().decode(errors="replace")
        code = self._guard.wait()
        self._close()
        return code, report.partition("\n")[2]

    def end(self) -> None:
        if os.getpid() != self._owner:
            return  # a forked child that unwinds must not take its parent's database away
        with suppress(BrokenPipeError):
            self._life.write(b"e")
        try:
            self._guard.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired as error:
            raise InstallationError(
                f"The database server did not end within {SECONDS_TO_END:.0f} s (its guard is "
                f"process {self._guard.pid}). The disk may be stuck: look at it before you start "
                "Cadenza again."
            ) from error
        self._close()

    def _close(self) -> None:
        self._life.close()
        self._report.close()

    @property
    def _life(self) -> IO[bytes]:
        assert self._guard.stdin is not None
        return self._guard.stdin

    @property
    def _report(self) -> IO[bytes]:
        assert self._guard.stdout is not None
        return self._guard.stdout
