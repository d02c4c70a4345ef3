"""The cluster on disk: made once, completely or not at all, and left alone after that."""

import os
import re
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from cadenza.adapters.postgres.embedded.installation import Installation
from cadenza.adapters.postgres.embedded.process import Account, GuardedProcess, Scope
from cadenza.adapters.postgres.embedded.trouble import need_room_for_a_cluster, server_trouble
from cadenza.domain.errors import InstallationError

USER = "cadenza"
ACCESS = "host all all 127.0.0.1/32 scram-sha-256\n"
COPIES = "host replication all 127.0.0.1/32 scram-sha-256\n"
BUILTIN_LOCALE_SINCE = 17


def made_by(data: Path) -> int | None:
    """The major version that made the cluster; None where there is none yet."""
    if not data.exists() or not any(data.iterdir()):
        return None
    with suppress(FileNotFoundError, ValueError):
        return int((data / "PG_VERSION").read_text())
    raise InstallationError(
        f"{data} holds files, but no PostgreSQL cluster that Cadenza made. Nothing was touched. "
        "Move it away, or choose another data folder."
    )


def make_cluster(
    folder: Path, installation: Installation, account: Account | None, lock: int, *, sync: bool
) -> None:
    """Make it under another name and rename it: a kill at any moment leaves no half cluster."""
    need_room_for_a_cluster(folder)
    unfinished = folder / "data.unfinished"
    if unfinished.exists():
        shutil.rmtree(unfinished)
    unfinished.mkdir(mode=0o700)
    if account is not None:
        os.chown(unfinished, account.uid, account.gid)
    _run_initdb(folder, installation, Scope(unfinished, account, lock), sync=sync)
    _write_durably(unfinished / "pg_hba.conf", ACCESS)
    unfinished.rename(folder / "data")
    _sync_folder(folder)


def allow_copies(data: Path) -> None:
    """Of the whole cluster, over a connection: a base backup is one."""
    path = data / "pg_hba.conf"
    present = path.read_text()
    if COPIES not in present:
        _write_durably(path, present + COPIES)


def _run_initdb(folder: Path, installation: Installation, scope: Scope, *, sync: bool) -> None:
    command = [
        str(installation.initdb),
        f"--username={USER}",
        "--auth=reject",  # until ACCESS is written
        "--encoding=UTF8",
        "--no-instructions",
        # Sorts and compares the same on every machine. Before 17 case folds for ASCII letters only.
        "--locale=C",
        *([] if sync else ["--no-sync"]),
    ]
    if installation.major >= BUILTIN_LOCALE_SINCE:
        command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    code, output = GuardedProcess(command, scope).finish()
    if code != 0:
        raise server_trouble("PostgreSQL could not make a new database", folder, output)


def password_of(folder: Path, installation: Installation, scope: Scope) -> str:
    """From its file; where that is missing (a new cluster, or a lost file) a new one is set."""
    path = folder / "password"
    if path.exists():
        path.chmod(0o600)
        return path.read_text().strip()
    password = secrets.token_urlsafe(24)
    _set_password(password, folder, installation, scope)
    # After the server knows it: a kill in between leads here again.
    fresh = folder / "password.new"
    fresh.unlink(missing_ok=True)
    _write_durably(fresh, password + "\n")
    fresh.rename(path)
    _sync_folder(folder)
    return password


def _set_password(password: str, folder: Path, installation: Installation, scope: Scope) -> None:
    """In single-user mode, which asks for none, and through a pipe, which no other user sees."""
    readable, writable = os.pipe()
    os.write(writable, f"ALTER ROLE {USER} PASSWORD '{password}'\n".encode())
    os.close(writable)
    command = [
        *(str(installation.postgres), "--single"),
        *("-c", "exit_on_error=on"),
        *("-c", "log_min_error_statement=panic"),  # an error must not quote the statement
        "postgres",
    ]
    try:
        code, output = GuardedProcess(command, scope, stdin=readable).finish()
    finally:
        os.close(readable)
    if code != 0:
        output = output.replace(password, "…")  # a panic quotes the statement all the same
        raise server_trouble("PostgreSQL could not set the password", folder, output)


def remove_stale_pid_file(data: Path) -> None:
    """Where its pid was reused by a foreign process PostgreSQL believes that it still runs.

    We hold the lock, so no server of ours is alive; only one that somebody started by hand may be.
    The pid of a process that is gone is left to PostgreSQL, which also looks at shared memory.
    """
    path = data / "postmaster.pid"
    if not path.exists() or not Path("/proc/self/exe").exists():  # without /proc we cannot judge
        return
    match = re.match(r"-?(\d+)\n", path.read_text(errors="replace"))
    pid = int(match[1]) if match else None
    if pid is not None and _serves(pid, data):
        raise InstallationError(
            f"A PostgreSQL server that Cadenza did not start runs on {data} (process {pid}). "
            f"Stop it (`kill -INT {pid}`), then start Cadenza again."
        )
    if pid is None or _exists(pid):
        path.unlink()


def _serves(pid: int, data: Path) -> bool:
    """Whether the process is a PostgreSQL that works in this folder: each one changes into it."""
    with suppress(OSError):  # gone, or another user's: PostgreSQL only serves its own user's folder
        program = Path(f"/proc/{pid}/exe").readlink().name
        return program.startswith("postgres") and Path(f"/proc/{pid}/cwd").samefile(data)
    return False


def _exists(pid: int) -> bool:
    with suppress(PermissionError, OverflowError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True


def _write_durably(path: Path, text: str) -> None:
    # Root writes into a folder of the server's user, who must not be able to lead it elsewhere.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
