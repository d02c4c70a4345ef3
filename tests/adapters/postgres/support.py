"""What the tests of PostgreSQL share: targets to call, a cable to pull, programs to start."""

import asyncio
import atexit
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
from aiohttp import ClientSession, TCPConnector, web

from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database, open_database
from cadenza.adapters.postgres.listener import Listener
from cadenza.adapters.system.clock import wall_clock
from cadenza.adapters.system.events import LoggedEvents
from cadenza.adapters.system.ids import new_id
from cadenza.application.scheduler import Scheduler, SchedulerOptions
from cadenza.application.waiting import end_all
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.run import Claim, Outcome, RunStatus
from cadenza.domain.target import HttpTarget
from tests.direct import Direct, Transition
from tests.factories import id_of, make_endpoint
from tests.postgres import BOX, direct, migrated_database_url, run_queue

NO_SPREAD = timedelta(0)
CADENZA = str(Path(sys.executable).with_name("cadenza"))


async def until(condition: Callable[[], Any], within: float = 60) -> Any:
    """Ask again and again, as a function or a coroutine, until it says yes; gives back its yes."""
    deadline = asyncio.get_running_loop().time() + within
    while True:
        value = condition()
        if inspect.isawaitable(value):
            value = await value
        if value:
            return value
        assert asyncio.get_running_loop().time() < deadline, "it did not happen in time"
        await asyncio.sleep(0.02)


# --- What is called -------------------------------------------------------------------------


@dataclass(slots=True)
class Request:
    name: str
    key: str  # the idempotency key: endpoint and slot
    at: datetime
    answered: bool = False

    @property
    def slot_at(self) -> datetime:
        return datetime.fromisoformat(self.key.split(":", 1)[1])


class Targets:
    """A real HTTP server that remembers what it was asked, and answers as the path says:
    `/name?takes=0.5`, `?status=500`, or `?hangs=1` until it is released; or as its entry in
    `answers` does, which is told how often it was asked before."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answers: dict[str, Callable[[int], tuple[int, Any]]] = {}  # status and body, by name
        self.released = asyncio.Event()
        self.port = 0

    def url(self, name: str, host: str = "127.0.0.1", **ways: object) -> str:
        asked = "&".join(f"{key}={value}" for key, value in ways.items())
        return f"http://{host}:{self.port}/{name}?{asked}"

    def of(self, name: str) -> list[Request]:
        return [request for request in self.requests if request.name == name]

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["Targets"]:
        app = web.Application()
        app.router.add_get("/{name}", self._answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "0.0.0.0", 0, backlog=1024)
        await site.start()
        self.port = runner.addresses[0][1]
        try:
            yield self
        finally:
            self.released.set()
            await runner.cleanup()

    async def _answer(self, asked: web.Request) -> web.Response:
        request = Request(asked.match_info["name"], asked.headers["Idempotency-Key"], wall_clock())
        self.requests.append(request)
        if request.name in self.answers:
            status, body = self.answers[request.name](len(self.of(request.name)) - 1)
            return web.json_response(body, status=status)
        if "hangs" in asked.query:
            await self.released.wait()
        await asyncio.sleep(float(asked.query.get("takes", 0)))
        request.answered = True
        return web.json_response({"ok": True}, status=int(asked.query.get("status", 200)))


@dataclass(slots=True)
class PlainDispatcher:
    """Calls what a claim names; the rules of the real one are not the matter of these tests."""

    session: ClientSession

    async def dispatch(self, claim: Claim) -> Outcome:
        assert isinstance(claim.target, HttpTarget)
        headers = {"Idempotency-Key": claim.idempotency_key}
        async with self.session.get(claim.target.url, headers=headers) as response:
            status = RunStatus.SUCCESS if response.ok else RunStatus.FAILURE
            return Outcome(status, status_code=response.status, body=await response.json())


# --- The cable to the database --------------------------------------------------------------


class Cable:
    """Between a program and its database: may be cut, which both ends see, hold everything back,
    which nobody sees, or swallow what comes over some connections while others work."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._parts = parts
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._carrying: set[asyncio.Task[None]] = set()
        self._port = 0
        self._swallows: bytes | None = None
        self._silent_up_to = 0  # of the connections, by their number
        self._silent: set[int] = set()
        self.accepted = 0

    @property
    def url(self) -> str:
        netloc = self._parts.netloc.rpartition(":")[0]
        return urlunsplit(self._parts._replace(netloc=f"{netloc}:{self._port}"))

    @asynccontextmanager
    async def plugged(self) -> AsyncIterator["Cable"]:
        await self.mend()
        try:
            yield self
        finally:
            await self.cut()

    async def mend(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._open:
            writer.transport.abort()
        await end_all(self._carrying)
        await self._server.wait_closed()

    def hold(self) -> None:
        self._flowing.clear()

    def let_go(self) -> None:
        self._flowing.set()

    def swallow_from(self, text: bytes) -> None:
        """The next connection over which this is sent carries nothing any more, nor that."""
        self._swallows = text

    @property
    def has_swallowed(self) -> bool:
        return self._swallows is None

    def swallow_all(self) -> None:
        """Connections of now carry nothing any more; those that come are well."""
        self._silent_up_to = self.accepted

    def _is_silent(self, number: int, data: bytes) -> bool:
        if self._swallows is not None and self._swallows in data:
            self._silent.add(number)
            self._swallows = None
        return number <= self._silent_up_to or number in self._silent

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        task = asyncio.create_task(self._carry(reader, writer, self.accepted))
        self._carrying.add(task)
        task.add_done_callback(self._carrying.discard)

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        self._open.add(writer)
        try:
            far = await asyncio.open_connection(self._parts.hostname, self._parts.port)
            self._open.add(far[1])
            try:
                await self._carry_both_ways((reader, writer), far, number)
            finally:
                self._open.discard(far[1])
                far[1].transport.abort()
        except OSError:
            pass  # one end is gone; the other is told by the abort
        finally:
            self._open.discard(writer)
            writer.transport.abort()

    async def _carry_both_ways(self, near: Any, far: Any, number: int) -> None:
        ways = {
            asyncio.create_task(self._flow(near[0], far[1], number)),
            asyncio.create_task(self._flow(far[0], near[1], number)),
        }
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _flow(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        while data := await reader.read(65536):
            await self._flowing.wait()
            if self._is_silent(number, data):
                await asyncio.Event().wait()  # nor is the end of it passed on
            writer.write(data)
            await writer.drain()


# --- A database with endpoints, and workers on it -------------------------------------------


@dataclass(slots=True)
class World:
    url: str
    database: Database
    targets: Targets
    endpoints: Direct

    async def now(self) -> datetime:
        return await self.value("SELECT cadenza_now()")

    async def value(self, statement: str, *values: Any) -> Any:
        async with self.database.connection() as connection:
            return await connection.fetchval(statement, *values)

    async def rows(self, statement: str, *values: Any) -> list[asyncpg.Record]:
        async with self.database.connection() as connection:
            return await connection.fetch(statement, *values)

    async def execute(self, statement: str, *values: Any) -> None:
        async with self.database.connection() as connection:
            await connection.execute(statement, *values)

    async def add(
        self, name: str = "probe", *, tenant: str = "tenant", url: str = "", **fields: Any
    ) -> Endpoint:
        """An endpoint of the factories, created now by the database's clock."""
        tenant_id, job_id = fields.pop("tenant_id", id_of(tenant)), id_of(f"job of {tenant}")
        await self.execute(
            "INSERT INTO tenants (id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            tenant_id,
            tenant,
        )
        await self.endpoints.add_job(Job(job_id, tenant_id, tenant))
        defaults = {"created_at": await self.now(), "tenant_id": tenant_id, "job_id": job_id}
        endpoint = make_endpoint(name, **{**defaults, **fields})
        return await self.endpoints.add_endpoint(
            endpoint, HttpTarget(url or self.targets.url(name))
        )

    async def add_copies(
        self, endpoint: Endpoint, count: int, apart: timedelta = timedelta(0)
    ) -> None:
        """As many more of the same, each due a little after the one before."""
        await self.execute(
            "INSERT INTO endpoints SELECT (jsonb_populate_record(e, jsonb_build_object("
            " 'id', gen_random_uuid(), 'name', e.name || ' ' || n,"
            " 'next_run_at', e.next_run_at + n * $3::interval,"
            " 'lease_until', NULL, 'running_run_id', NULL, 'running_slot_at', NULL,"
            " 'running_attempt', NULL, 'running_claimed_at', NULL))).*"
            " FROM endpoints AS e, generate_series(1, $2) AS n WHERE e.id = $1",
            endpoint.id,
            count,
            apart,
        )

    async def add_tenants_with_copies(self, endpoint: Endpoint, count: int) -> None:
        """As many tenants, the first by their ids, that each have one like it."""
        await self.execute(
            "WITH made AS (INSERT INTO tenants (id, name)"
            " SELECT lpad(to_hex(n), 32, '0')::uuid, n FROM generate_series(1, $2) AS n"
            " RETURNING id), a_job AS (INSERT INTO jobs (id, tenant_id, name)"
            " SELECT id, id, 'a job' FROM made RETURNING id)"
            " INSERT INTO endpoints SELECT (jsonb_populate_record(e, jsonb_build_object("
            " 'id', gen_random_uuid(), 'tenant_id', a_job.id, 'job_id', a_job.id))).*"
            " FROM endpoints AS e, a_job WHERE e.id = $1",
            endpoint.id,
            count,
        )

    async def change(self, endpoint: Endpoint, transition: Transition) -> Endpoint:
        return await self.endpoints.change_endpoint(endpoint.tenant_id, endpoint.id, transition)

    async def runs(self, endpoint: Endpoint | None = None) -> list[asyncpg.Record]:
        """By slot; of one endpoint, or all."""
        return await self.rows(
            "SELECT runs.*, name FROM runs JOIN endpoints ON endpoints.id = endpoint_id"
            " WHERE $1::uuid IS NULL OR endpoint_id = $1 ORDER BY slot_at",
            endpoint.id if endpoint else None,
        )

    async def until_finished(
        self, endpoint: Endpoint, count: int = 1, within: float = 60
    ) -> list[asyncpg.Record]:
        """So many runs of it are closed; gives them back by slot."""

        async def closed() -> list[asyncpg.Record] | None:
            ended = [run for run in await self.runs(endpoint) if run["finished_at"]]
            return ended if len(ended) >= count else None

        return await until(closed, within)

    @asynccontextmanager
    async def worker(
        self, url: str = "", *, listens: bool = True, **options: Any
    ) -> AsyncIterator[Scheduler]:
        """A scheduler in this process."""
        url = url or self.url
        clock = DatabaseClock()
        database = await open_database(url, connections=5)
        await clock.ask(database)
        hurried = database.within(SchedulerOptions(**options).store_limit)
        queue = run_queue(hurried, new_id, BOX, NO_SPREAD, asking=clock.asking)
        async with ClientSession(connector=TCPConnector(limit=0)) as session:
            scheduler = Scheduler(
                "worker",
                queue,
                PlainDispatcher(session),
                clock,
                LoggedEvents(),
                SchedulerOptions(**options),
            )
            working = asyncio.create_task(scheduler.run())
            beside = [
                asyncio.create_task(Listener(url, {"cadenza_due": scheduler.wake}).run())
                for _ in range(listens)
            ]
            try:
                yield scheduler
            finally:
                self.targets.released.set()
                scheduler.stop()
                await working
                await end_all(beside)
                await database.close()


@asynccontextmanager
async def new_world() -> AsyncIterator[World]:
    async with migrated_database_url() as url, Targets().serving() as targets:
        database = await open_database(url, connections=5)
        try:
            yield World(url, database, targets, direct(database, BOX, NO_SPREAD))
        finally:
            await database.close()


# --- Programs -------------------------------------------------------------------------------


@dataclass(slots=True)
class Program:
    process: subprocess.Popen[bytes]
    log: Path
    name: str = ""

    def output(self) -> str:
        return self.log.read_text()

    def lines(self) -> list[dict[str, Any]]:
        """What it logged, where it logs as JSON."""
        lines: list[dict[str, Any]] = []
        for line in self.output().splitlines():
            with suppress(ValueError):
                lines.append(json.loads(line))
        return lines

    async def until_started(self) -> None:
        await until(lambda: "scheduler started" in self.output() or self._gone(), within=120)

    async def until_ended(self, within: float = 120) -> int:
        await until(lambda: self.process.poll() is not None, within)
        return self.process.returncode

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def _gone(self) -> bool:
        assert self.process.poll() is None, self.output()
        return False


def environment(url: str, **settings: object) -> dict[str, str]:
    """Ours without any setting of Cadenza, and these instead."""
    ours = dict(os.environ)  # noqa: TID251
    inherited = {key: value for key, value in ours.items() if not key.startswith("CADENZA_")}
    variables = {f"CADENZA_{key.upper()}": str(value) for key, value in settings.items()}
    # Targets are on this machine, and nothing is written below the folder we happen to be in.
    ours_too = {"CADENZA_ALLOWED_NETWORKS": "loopback", "CADENZA_DATA_FOLDER": _data_folder()}
    return {**inherited, "CADENZA_DATABASE_URL": url, **ours_too, **variables}


@cache
def _data_folder() -> str:
    folder = tempfile.mkdtemp(prefix="cadenza-test-data-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def program(
    log: Path,
    url: str,
    *,
    command: tuple[str, ...] = (CADENZA, "scheduler"),
    extra: Mapping[str, str] | None = None,
    **settings: object,
) -> Iterator[Program]:
    """A program of its own, logging as JSON into a file; killed at the end if it still runs."""
    env = {**environment(url, **{"log_json": "true", **settings}), **(extra or {})}
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=env, stdout=output, stderr=output)
    try:
        yield Program(process, log, str(settings.get("worker_name", "")))
    finally:
        process.kill()
        process.wait()
