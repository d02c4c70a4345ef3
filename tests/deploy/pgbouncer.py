"""A real PgBouncer in transaction mode before a database: ten clients share two sessions of it."""

import asyncio
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from tests.adapters.postgres.support import until
from tests.ports import free_port

SESSIONS = 6  # of the server, for all programs together: fewer than they have connections
CONFIGURATION = """\
[databases]
* = host=127.0.0.1 port={server_port}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
pool_mode = {mode}
default_pool_size = {sessions}
max_client_conn = 200
auth_type = scram-sha-256
auth_file = {folder}/users.txt
logfile = {folder}/pgbouncer.log
"""


@asynccontextmanager
async def pgbouncer(
    url: str, *, mode: str = "transaction", sessions: int = SESSIONS
) -> AsyncIterator[str]:
    """The same address through it."""
    parts, port = urlsplit(url), free_port()
    folder = Path(tempfile.mkdtemp(prefix="cadenza-pgbouncer-"))
    file = folder / "pgbouncer.ini"
    file.write_text(
        CONFIGURATION.format(
            folder=folder, server_port=parts.port, port=port, mode=mode, sessions=sessions
        )
    )
    (folder / "users.txt").write_text(f'"{parts.username}" "{parts.password}"\n')
    process = await asyncio.to_thread(_start, file)
    address = urlunsplit(
        parts._replace(netloc=f"{parts.username}:{parts.password}@127.0.0.1:{port}")
    )
    try:
        await until(lambda: _answers(address), within=20)
        yield address
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _start(file: Path) -> subprocess.Popen[bytes]:
    """It refuses to run as root."""
    program = shutil.which("pgbouncer", path=f"{os.defpath}:/usr/sbin:/usr/local/sbin")
    assert program, "pgbouncer is missing: make system installs it"
    account = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        for path in (file.parent, *file.parent.iterdir()):
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
        account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    with (file.parent / "output").open("wb") as output:
        return subprocess.Popen([program, str(file)], stdout=output, stderr=output, **account)


async def _answers(url: str) -> bool:
    try:
        connection = await asyncpg.connect(url, statement_cache_size=0, timeout=5)
    except (OSError, asyncpg.PostgresError):
        return False
    connection.terminate()
    return True
