"""The stage of a run with real programs: a server, wires, programs, receivers."""

import asyncio
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg

from cadenza.adapters.postgres.database import Database, open_database
from cadenza.adapters.postgres.maintenance import Maintenance
from cadenza.adapters.postgres.migrate import migrate
from cadenza.domain.errors import CadenzaError
from tests.adapters.postgres.support import environment, until
from tests.chaos.history import Fault, History
from tests.chaos.launch import DRIFT, MUTANT
from tests.chaos.proxy import Proxy
from tests.chaos.server import Server, small_folder
from tests.chaos.witness import read_database, read_marks, read_receiver, watch
from tests.chaos.workload import Furnished, Kind, furnish, furnish_graphs
from tests.factories import seconds
from tests.postgres import MASTER_KEY

ROOT = Path(__file__).parents[2]
LEASE = 5.0
BOUND = LEASE + 5
LONGEST_RUN = 8.0  # of a target
SLACK = 2.0  # that a busy machine may take between an answer and who waits for it
SETTINGS = {
    "lease_seconds": LEASE,
    "tick_seconds": 1,
    "stop_seconds": 5,
    "in_flight_per_host": 200,
    "in_flight_per_tenant": 200,
    "connections": 4,
    "master_key": MASTER_KEY,
    "log_json": "true",
    "planner_cycle_seconds": 5,
    "graph_files": "",
    "graph_functions": "marking:marks",
    "graph_paths": str(Path(__file__).with_name("graphs")),
}


@dataclass(frozen=True, slots=True)
class Role:
    """A program of the run. Two may have one name; one may have a clock that runs fast."""

    kind: str
    name: str
    drift_ppm: float = 0
    connections: int = 4


SCHEDULERS = (
    Role("scheduler", "first"),
    Role("scheduler", "second", drift_ppm=500, connections=2),
    Role("scheduler", "first", drift_ppm=-500),  # of the same name as another
)
PLANNER = Role("planner", "planner")
GRAPHS = Role("graph-worker", "graphs")


@dataclass(slots=True)
class Member:
    role: Role
    proxy: Proxy
    log: Path
    process: subprocess.Popen[bytes] | None = None
    hands_off: asyncio.Lock = field(default_factory=asyncio.Lock)  # one signal after the other

    def start(self, mutant: str | None = None) -> None:
        role = self.role
        env = environment(
            self.proxy.url,
            **{**SETTINGS, "worker_name": role.name, "connections": role.connections},
        )
        if role.drift_ppm:
            env[DRIFT] = str(role.drift_ppm)
        if mutant is not None:
            env[MUTANT] = mutant
        command = [sys.executable, "-m", "tests.chaos.launch", role.kind]
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                command, env=env, cwd=ROOT, stdout=output, stderr=output
            )

    @property
    def starts(self) -> int:
        """How often it has said that it works now."""
        return self.log.read_text().count(f"{self.role.kind} started")

    def troubles(self) -> list[str]:
        """Stack traces, each with what it says at its end."""
        lines = self.log.read_text().splitlines()
        return [line[-2000:] for line in lines if "Traceback" in line]

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def send(self, number: signal.Signals) -> None:
        if self.alive:
            assert self.process is not None
            self.process.send_signal(number)

    async def ended(self, within: float) -> bool:
        """Killed where it does not end by itself."""
        assert self.process is not None
        try:
            await asyncio.to_thread(self.process.wait, within)
        except subprocess.TimeoutExpired:
            self.process.kill()
            await asyncio.to_thread(self.process.wait)
            return False
        return True


@dataclass(slots=True)
class Stage:
    server: Server
    url: str
    database: Database
    members: list[Member]
    receiver_log: Path
    receiver: subprocess.Popen[bytes]
    small_disk: bool
    mutant: str | None = None
    furnished: Furnished = field(default_factory=lambda: Furnished({}, {}))
    faults: list[Fault] = field(default_factory=list[Fault])
    locked: set[Any] = field(default_factory=set[Any])
    recovered: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    @property
    def marks(self) -> Path:
        """What graphs leave behind."""
        return self.receiver_log.with_name("marks")

    @property
    def schedulers(self) -> list[Member]:
        return [member for member in self.members if member.role.kind == "scheduler"]

    async def restarted(self) -> None:
        """The server is there again, perhaps on another port."""
        await self.server.stop()
        self.url = await self.server.start()
        await self.led_to(self.url)

    async def led_to(self, url: str) -> None:
        self.url = url
        for member in self.members:
            member.proxy.lead_to(url)
        old, self.database = self.database, await open_database(url, connections=4)
        await old.close()

    async def until_all_ran(self, within: float) -> None:
        """Those that run often, since now; or the time is over, and the checker says so."""
        specs = self.furnished.specs.values()
        often = [spec for spec in specs if spec.plain and spec.every and spec.every <= seconds(3)]
        ids = [spec.endpoint_id for spec in often]

        async def all_ran() -> bool:
            ran = "SELECT bool_and(last_slot_at > $2) FROM endpoints WHERE id = ANY ($1)"
            return await self.database.fetchval(ran, ids, now)

        with suppress(AssertionError, CadenzaError):
            now = await self.database.fetchval("SELECT cadenza_now()")
            await until(all_ran, within=within)

    async def history(self, began: float, ended_at: datetime) -> History:
        """When all programs have ended; until when they were to work."""
        self.receiver.send_signal(signal.SIGTERM)
        await asyncio.to_thread(self.receiver.wait)
        connection = await asyncpg.connect(self.url)
        try:
            history = History(
                specs=self.furnished.specs,
                began_at=datetime.fromtimestamp(began, UTC),
                ended_at=ended_at,
                lease=seconds(LEASE),
                bound=seconds(BOUND),
                longest_run=seconds(LONGEST_RUN),
                faults=self.faults,
                slack=SLACK,
                locked=self.locked,
            )
            await read_database(connection, history)
        finally:
            await connection.close()
        read_receiver(self.receiver_log, history, self.furnished.secrets)
        read_marks(self.marks, history)
        return history


@asynccontextmanager
async def stage(
    seed: int,
    kinds: Sequence[Kind],
    roles: tuple[Role, ...],
    mutant: str | None = None,
    *,
    witnessed: bool = True,
) -> AsyncGenerator[Stage]:
    """A long run goes without the witness in the database, and has the disk to itself."""
    async with AsyncExitStack() as stack:
        folder, small = stack.enter_context(small_folder(witnessed))
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cadenza-chaos-logs-")))
        server = Server(folder)
        url = await server.start()
        stack.push_async_callback(server.stop)
        await server.allow_replicas(url)
        database = await open_database(url, connections=4)
        await migrate(database)
        await Maintenance(database, timedelta(days=30)).run_once()
        receiver, base_url = await _receiver(stack, logs)
        members = [
            Member(role, await stack.enter_async_context(Proxy(url).plugged()), logs / f"{n}.log")
            for n, role in enumerate(roles)
        ]
        log = logs / "receiver.log"
        here = Stage(server, url, database, members, log, receiver, small, mutant)
        if witnessed:
            async with database.connection() as connection:
                await watch(connection)
        try:
            for member in members:
                member.start(mutant)
            await until(lambda: all(_has_started(member) for member in members), within=60)
            here.furnished = await furnish(database, base_url, seed, kinds)
            if GRAPHS in roles:
                now = await database.fetchval("SELECT cadenza_now()")
                for spec in await furnish_graphs(database, here.marks, 4, now):
                    here.furnished.specs[spec.endpoint_id] = spec
            yield here
        finally:
            for member in members:
                if member.process is not None:
                    member.process.kill()
                    member.process.wait()
            await here.database.close()


def _has_started(member: Member) -> bool:
    assert member.alive, member.log.read_text()
    return member.starts > 0


async def _receiver(stack: AsyncExitStack, folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    port_file = folder / "port"
    command = [sys.executable, "-m", "tests.chaos.receiver", str(port_file)]
    process = subprocess.Popen(  # noqa: ASYNC220 - before anything runs
        [*command, str(folder / "receiver.log")], cwd=ROOT
    )

    def end() -> None:
        process.kill()
        process.wait()

    stack.callback(end)
    await until(lambda: port_file.exists() and port_file.read_text(), within=30)
    return process, f"http://127.0.0.1:{port_file.read_text()}"
