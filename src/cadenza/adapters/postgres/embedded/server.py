"""Starting `postgres` on a cluster, waiting until it takes connections, and the first of them."""

import asyncio
import socket
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import asyncpg

from cadenza.adapters.postgres.embedded.cluster import USER
from cadenza.adapters.postgres.embedded.installation import Installation
from cadenza.adapters.postgres.embedded.process import GuardedProcess, Scope
from cadenza.adapters.postgres.embedded.trouble import server_trouble
from cadenza.domain.errors import InstallationError

# For a small machine and an unattended server; durability stays as PostgreSQL has it, complete.
SETTINGS = {
    # Every run changes the row of its endpoint: what is left of it is cleared away soon. With the
    # usual minute, a server that restarts more often than that never comes to it.
    "autovacuum_naptime": "10s",
    "cluster_name": "cadenza",
    "log_checkpoints": "off",
    "log_timezone": "UTC",
    "max_connections": "100",
    "password_encryption": "scram-sha-256",
    "timezone": "UTC",
}
SECONDS_TO_START = 120.0  # a server that was killed replays its log first
PORTS_TO_TRY = 5
PORT_IS_TAKEN = "could not create any TCP/IP sockets"


def start_server(
    folder: Path,
    installation: Installation,
    scope: Scope,
    settings: Mapping[str, str],
    patience: float = SECONDS_TO_START,
) -> tuple[GuardedProcess, int]:
    """The server and its port. Another program may take the chosen port first: then once more."""
    log = folder / "server.log"
    output = ""
    for _ in range(PORTS_TO_TRY):
        port = free_port()
        begin = log.stat().st_size if log.exists() else 0
        process = _launch(log, installation, scope, {**SETTINGS, **settings, **_fixed(port)})
        with ExitStack() as on_failure:
            on_failure.callback(process.end)
            if _becomes_ready(process, scope.data, port, patience):
                on_failure.pop_all()
                return process, port
        output = _since(log, begin)
        if PORT_IS_TAKEN not in output:
            break
    raise server_trouble(f"PostgreSQL {installation.version} did not start", folder, output)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _fixed(port: int) -> dict[str, str]:
    # No socket file: its path may be at most 107 bytes long, and a data folder's may not be.
    return {
        "listen_addresses": "127.0.0.1",
        "logging_collector": "off",
        "port": str(port),
        "unix_socket_directories": "",
    }


def _launch(
    log: Path, installation: Installation, scope: Scope, settings: Mapping[str, str]
) -> GuardedProcess:
    command = [str(installation.postgres)]
    for name, value in settings.items():
        command += ["-c", f"{name}={value}"]
    log.touch(mode=0o600)
    with log.open("a+b") as output:  # readable too: the guard cuts a long log to its end
        return GuardedProcess(command, scope, output=output)


def _becomes_ready(process: GuardedProcess, data: Path, port: int, patience: float) -> bool:
    pid = process.read_pid()
    deadline = time.monotonic() + patience
    while process.running and time.monotonic() < deadline:
        if _announced(data / "postmaster.pid") == (str(pid), str(port), "ready"):
            return True
        time.sleep(0.005)
    return False


def _announced(path: Path) -> tuple[str, str, str] | None:
    """Process id, port and state as the server wrote them; lines 1, 4 and 8 of its pid file."""
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    return (lines[0], lines[3], lines[7].strip()) if len(lines) > 7 else None


def _since(log: Path, begin: int) -> str:
    lines = log.read_bytes()
    return (lines[begin:] if begin < len(lines) else lines).decode(errors="replace")


def ensure_database(folder: Path, port: int, password: str, database: str) -> None:
    # In a thread of its own: the caller's may have a running loop.
    with ThreadPoolExecutor(1) as thread:
        try:
            thread.submit(asyncio.run, _create_if_missing(port, password, database)).result()
        except asyncpg.InvalidPasswordError as error:
            raise InstallationError(
                f"The password in {folder / 'password'} is not the one that the database has. "
                "Restore the file, or delete it: the next start then sets a new password."
            ) from error
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            what = f"PostgreSQL runs, but the database {database} could not be opened"
            raise server_trouble(what, folder, str(error)) from error


async def _create_if_missing(port: int, password: str, database: str) -> None:
    connection = await asyncpg.connect(
        host="127.0.0.1", port=port, user=USER, password=password, database="postgres", ssl=False
    )
    try:
        known = "SELECT 1 FROM pg_database WHERE datname = $1"
        if await connection.fetchval(known, database) is None:
            # A name cannot be a parameter; the constructor has checked it.
            await connection.execute(f'CREATE DATABASE "{database}"')
    finally:
        await connection.close()
