"""The stage of a run with real programs: a server, wires, programs, receivers."""

import asyncio
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import time as wall_time  # noqa: TID251 - as its witnesses have it
from typing import Any

import asyncpg

from cadenza.adapters.postgres.database import Database, open_database
from cadenza.adapters.postgres.maintenance import Maintenance
from cadenza.adapters.postgres.migrate import migrate
from cadenza.domain.errors import CadenzaError
from tests.adapters.postgres.support import environment, until
from tests.chaos.clock_steps import ClockStep
from tests.chaos.graphs.marking import MODEL
from tests.chaos.history import Fault, History, Spec
from tests.chaos.launch import DRIFT, MUTANT
from tests.chaos.proxy import Proxy
from tests.chaos.server import Server, small_folder
from tests.chaos.witness import read_database, read_heartbeat, read_marks, read_receiver, watch
from tests.chaos.workload import Furnished, Kind, furnish, furnish_graphs
from tests.factories import seconds
from tests.postgres import MASTER_KEY

ROOT = Path(__file__).parents[2]
LEASE = 5.0
BOUND = LEASE + 5
LONGEST_RUN = 8.0  # of a target
STARTS = 300.0  # seconds at most: a busy machine takes its time for five programs
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
    "prices": json.dumps({MODEL: {"input": 1000, "output": 1000}}),
}


STEPPED_CLOCK = (
    "CREATE OR REPLACE FUNCTION cadenza_now() RETURNS timestamptz"
    " LANGUAGE sql VOLATILE PARALLEL RESTRICTED AS"
    " $$SELECT clock_timestamp() + interval '{offset:.6f} s'$$"
)


# By epochs, which only rise: slots go back with the clock.
EPOCHS = "SELECT id, lease_epoch FROM endpoints WHERE id = ANY ($1)"
CLAIMED_TWICE = """
    SELECT bool_and(e.lease_epoch > before.epoch + 1)
    FROM unnest($1::uuid[], $2::bigint[]) AS before (id, epoch) JOIN endpoints AS e USING (id)
"""


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
    heartbeat: subprocess.Popen[bytes]
    small_disk: bool
    mutant: str | None = None
    furnished: Furnished = field(default_factory=lambda: Furnished({}, {}))
    faults: list[Fault] = field(default_factory=list[Fault])
    locked: set[Any] = field(default_factory=set[Any])
    clock_steps: list[ClockStep] = field(default_factory=list[ClockStep])

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

    async def step_clock(self, by: float) -> None:
        """Set the one clock that every statement asks (docs/decisions/0002)."""
        offset = by + sum(step.by for step in self.clock_steps)
        began = wall_time()
        await self.database.execute(STEPPED_CLOCK.format(offset=offset))
        self.clock_steps.append(ClockStep(began, wall_time(), by))

    def named(self, kind: str) -> list[Spec]:
        return [spec for spec in self.furnished.specs.values() if spec.name.startswith(kind)]

    async def until_all_ran(self, within: float) -> None:
        """Those that run often, since now; or the time is over, and the checker says so."""
        specs = self.furnished.specs.values()
        often = [spec for spec in specs if spec.plain and spec.every and spec.every <= seconds(3)]
        ids = [spec.endpoint_id for spec in often]

        with suppress(AssertionError, CadenzaError):
            epochs = await self.database.fetch(EPOCHS, ids)
            known = [row["id"] for row in epochs], [row["lease_epoch"] for row in epochs]
            await until(lambda: self.database.fetchval(CLAIMED_TWICE, *known), within=within)

    async def until_longest_ran(self) -> None:
        """Those that run for longer than a lease: to their end, or into somebody else's hands."""
        ids = [spec.endpoint_id for spec in self.named("longest")]
        ran = (
            "SELECT bool_and(last_slot_at IS NOT NULL OR running_attempt > 1) FROM endpoints"
            " WHERE id = ANY ($1)"
        )
        await until(lambda: self.database.fetchval(ran, ids), within=120)

    async def history(self, began: float, ended_at: datetime) -> History:
        """When all programs have ended; until when they were to work."""
        for witness in (self.receiver, self.heartbeat):
            witness.send_signal(signal.SIGTERM)
            await asyncio.to_thread(witness.wait)
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
                clock_steps=self.clock_steps,
            )
            await read_database(connection, history)
        finally:
            await connection.close()
        read_receiver(self.receiver_log, history, self.furnished.secrets)
        read_heartbeat(self.receiver_log.with_name("heartbeat.log"), history)
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
    through: "Through | None" = None,
) -> AsyncGenerator[Stage]:
    """A long run goes without the witness in the database, and has the disk to itself. `through`
    is another way for the programs to the database than wires of ours."""
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
        other_way = await stack.enter_async_context(through(server, url)) if through else None
        members = [
            Member(role, await _wire(stack, url, other_way), logs / f"{n}.log")
            for n, role in enumerate(roles)
        ]
        log, heartbeat = logs / "receiver.log", _beside(stack, "heartbeat", logs / "heartbeat.log")
        here = Stage(server, url, database, members, log, receiver, heartbeat, small, mutant)
        if witnessed:
            async with database.connection() as connection:
                await watch(connection)
        try:
            for member in members:
                member.start(mutant)
            await until(lambda: all(_has_started(member) for member in members), within=STARTS)
            here.furnished = await furnish(database, base_url, seed, kinds)
            if GRAPHS in roles:
                now = await database.fetchval("SELECT cadenza_now()")
                for spec in await furnish_graphs(database, base_url, here.marks, 4, now):
                    here.furnished.specs[spec.endpoint_id] = spec
            yield here
        finally:
            for member in members:
                if member.process is not None:
                    member.process.kill()
                    member.process.wait()
            await here.database.close()


Through = Callable[[Server, str], AbstractAsyncContextManager[str]]


@dataclass(frozen=True, slots=True)
class OtherWay:
    """An address that programs keep, whatever happens to the server."""

    url: str

    def lead_to(self, url: str) -> None: ...


async def _wire(stack: AsyncExitStack, url: str, other_way: str | None) -> Any:
    if other_way is not None:
        return OtherWay(other_way)
    return await stack.enter_async_context(Proxy(url).plugged())


def _has_started(member: Member) -> bool:
    assert member.alive, member.log.read_text()
    return member.starts > 0


async def _receiver(stack: AsyncExitStack, folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    port_file = folder / "port"
    process = _beside(stack, "receiver", port_file, folder / "receiver.log")
    await until(lambda: port_file.exists() and port_file.read_text(), within=30)
    return process, f"http://127.0.0.1:{port_file.read_text()}"


def _beside(stack: AsyncExitStack, witness: str, *files: Path) -> subprocess.Popen[bytes]:
    """A process of its own that writes down what it sees."""
    command = [sys.executable, "-m", f"tests.chaos.{witness}", *map(str, files)]
    process = subprocess.Popen(command, cwd=ROOT)

    def end() -> None:
        process.kill()
        process.wait()

    stack.callback(end)
    return process
