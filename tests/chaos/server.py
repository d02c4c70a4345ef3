"""The database server of a run: stopped, crashed, filled up, replaced by its replica."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from cadenza.adapters.postgres.embedded import EmbeddedPostgres
from cadenza.adapters.postgres.embedded.process import GuardedProcess, Scope, server_account
from tests.ports import free_port

# A process that dies loses nothing of what the kernel has: only a machine that dies would.
SETTINGS = {"fsync": "off", "full_page_writes": "off", "max_connections": "60"}
MOUNT = "cadenza-chaos"
SIZE = "900m"
SECONDS_TO_FOLLOW = 30


@dataclass(frozen=True, slots=True)
class Replica:
    url: str
    home: Path
    process: GuardedProcess


class Server:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._home = folder / "postgres"
        self._server = EmbeddedPostgres(self._home, settings=SETTINGS)
        self._promoted: GuardedProcess | None = None  # a replica, until it is started anew

    async def start(self) -> str:
        return await asyncio.to_thread(self._server.start)

    async def stop(self) -> None:
        promoted, self._promoted = self._promoted, None
        await asyncio.to_thread(promoted.end if promoted else self._server.stop)

    @property
    def running(self) -> bool:
        return self._promoted.running if self._promoted else self._server.running

    @property
    def _pid(self) -> int:
        return int((self._home / "data" / "postmaster.pid").read_text().split()[0])

    def crash(self) -> None:
        """From one instant to the next, with whatever is under way."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGQUIT)

    # --- Its replica ----------------------------------------------------------------------

    async def promote(self, url: str) -> str:
        """Make a replica that every commit waits for, let the server die, and let the replica take
        its place."""
        replica = await self.follow(url)
        self.crash()
        await self.take_over(replica)
        return replica.url

    async def follow(self, url: str) -> "Replica":
        programs = self._programs()
        home = Path(tempfile.mkdtemp(prefix="replica-", dir=self.folder))
        address = await asyncio.to_thread(self._copy_to, home, programs, url)
        process = self._start_replica(home, programs, address)
        await _until_it_follows(url)
        return Replica(address, home, process)

    async def take_over(self, replica: "Replica") -> None:
        await asyncio.to_thread(self._server.stop)
        self._promoted, self._home = replica.process, replica.home
        self._server = EmbeddedPostgres(replica.home, settings=SETTINGS)
        await _promote(replica.url)

    def kill(self) -> None:
        """The whole server, as when its machine dies: nobody in it notices anything."""
        children = Path(f"/proc/{self._pid}/task/{self._pid}/children").read_text().split()
        for process in (self._pid, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def _programs(self) -> Path:
        return Path(f"/proc/{self._pid}/exe").readlink().parent

    def _copy_to(self, home: Path, programs: Path, url: str) -> str:
        owner = (self._home / "data").stat()
        shutil.copy2(self._home / "password", home / "password")
        os.chown(home, owner.st_uid, owner.st_gid)
        copy = [str(programs / "pg_basebackup"), "-D", str(home / "data"), "-R", "-c", "fast"]
        subprocess.run(
            [*copy, "-d", url],
            **({"user": owner.st_uid, "group": owner.st_gid} if os.geteuid() == 0 else {}),
            check=True,
            capture_output=True,
            cwd="/",
        )
        parts = urlsplit(url)
        netloc = f"{parts.netloc.rpartition(':')[0]}:{free_port()}"
        return urlunsplit(parts._replace(netloc=netloc))

    def _start_replica(self, home: Path, programs: Path, address: str) -> GuardedProcess:
        lock = os.open(home / "replica.lock", os.O_CREAT | os.O_RDWR)
        command = [str(programs / "postgres")]
        fixed = {"listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
        port = str(urlsplit(address).port)
        for name, value in {**SETTINGS, **fixed, "port": port}.items():
            command += ["-c", f"{name}={value}"]
        with (home / "server.log").open("a+b") as output:
            data = home / "data"
            return GuardedProcess(command, Scope(data, server_account(data), lock), output=output)

    async def allow_replicas(self, url: str) -> None:
        with (self._home / "data" / "pg_hba.conf").open("a") as access:
            access.write("host replication all 127.0.0.1/32 scram-sha-256\n")
        await _execute(url, "SELECT pg_reload_conf()")

    # --- Its disk -------------------------------------------------------------------------

    def fill_disk(self) -> None:
        """All but what the last write could take."""
        with suppress(OSError), (self.folder / "filler").open("wb") as filler:
            while True:
                filler.write(b"\0" * 1024 * 1024)
                filler.flush()

    def free_disk(self) -> None:
        (self.folder / "filler").unlink(missing_ok=True)


async def _until_it_follows(url: str) -> None:
    """From then on no commit is answered that the replica does not have."""
    await _execute(url, "ALTER SYSTEM SET synchronous_standby_names = '*'")
    await _execute(url, "SELECT pg_reload_conf()")
    connection = await asyncpg.connect(url)
    try:
        follows = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        async with asyncio.timeout(SECONDS_TO_FOLLOW):
            while not await connection.fetchval(follows):  # noqa: ASYNC110 - nobody tells us
                await asyncio.sleep(0.05)
    finally:
        connection.terminate()


async def _promote(address: str) -> None:
    async with asyncio.timeout(SECONDS_TO_FOLLOW):
        while True:
            with suppress(OSError, asyncpg.PostgresError):
                await _execute(address, "SELECT pg_promote()")
                return
            await asyncio.sleep(0.05)


async def _execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


@contextmanager
def small_folder(wanted: bool) -> Generator[tuple[Path, bool]]:
    """A folder on a small mount of its own where root allows it, and whether it is."""
    folder = Path(tempfile.mkdtemp(prefix="cadenza-chaos-"))
    folder.chmod(0o755)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", MOUNT, str(folder)]
    mounted = wanted and os.geteuid() == 0 and _done(mount)
    if mounted:
        folder.chmod(0o755)
    try:
        yield folder, mounted
    finally:
        if mounted:
            _done(["umount", "-l", str(folder)])
        shutil.rmtree(folder, ignore_errors=True)


def _done(command: list[str]) -> bool:
    return subprocess.run(command, check=False, capture_output=True).returncode == 0
