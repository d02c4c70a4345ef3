"""The command line over the program's own server: uvicorn, a real PostgreSQL, a real worker."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import uvicorn
from fastapi import FastAPI
from pydantic import SecretStr
from typer.testing import CliRunner

from cadenza.adapters.postgres.accounts import PostgresAccounts
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database, open_database
from cadenza.domain.access import ApiKey, Scope, Tenant, User, hash_of, token_of
from cadenza.domain.audit import AuditEntry
from cadenza.domain.errors import CadenzaError
from cadenza.roots.api import served_app, server_config
from cadenza.roots.dispatch import dispatcher
from cadenza.roots.main import app, exit_code
from cadenza.roots.scheduler import make_scheduler
from cadenza.roots.settings import Settings
from cadenza.up.sample_service import sample_service
from tests.postgres import BOX, migrated_database_url

NEW_YEAR = "0 3 1 1 *"
ADMIN_KEY = "operator-key-of-the-tests-with-enough-of-chance"
SETTINGS = Settings(
    admin_key=SecretStr(ADMIN_KEY), allowed_networks="loopback", rate_limit=1_000_000
)


@dataclass(frozen=True, slots=True)
class Site:
    """A server, a worker and something to call, in a thread of their own."""

    url: str
    target: str  # answers with a queue depth
    database: Database
    loop: asyncio.AbstractEventLoop

    def wait_for(self, awaitable: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(awaitable, self.loop).result(30)

    def execute(self, statement: str, *values: Any) -> None:
        async def run() -> None:
            async with self.database.connection() as connection:
                await connection.execute(statement, *values)

        self.wait_for(run())


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(each) for each in self.out.splitlines()]


@dataclass(slots=True)
class Person:
    """Somebody of a tenant of their own, at a command line."""

    site: Site
    tenant: str
    key: str
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def cadenza(self, *arguments: str | Path, stdin: str | None = None) -> Done:
        env = {
            "CADENZA_API_URL": self.site.url,
            "CADENZA_API_KEY": self.key,
            "CADENZA_ADMIN_KEY": ADMIN_KEY,
            "COLUMNS": "200",
            **self.environment,
        }
        given = {name: value or None for name, value in env.items()}
        result = CliRunner().invoke(app, [str(each) for each in arguments], stdin, env=given)
        error = result.exception
        if isinstance(error, CadenzaError):  # as `main` tells it
            return Done(exit_code(error), result.stdout, f"{result.stderr}{error}\n")
        if error and not isinstance(error, SystemExit):
            raise error
        return Done(result.exit_code, result.stdout, result.stderr)

    def says(self, *arguments: str | Path) -> str:
        """What a person reads, of a command that goes well."""
        done = self.cadenza(*arguments, "--table")
        assert done.code == 0, f"{arguments}: {done.err}"
        return done.out

    def gets(self, *arguments: str | Path) -> Any:
        """What a script reads, of a command that goes well."""
        done = self.cadenza(*arguments, "--json")
        assert done.code == 0, f"{arguments}: {done.err}"
        return done.json

    def queue(self, name: str = "shop/queue", *baseline: str) -> Any:
        """An endpoint on the sample service, and its job; it does not run by itself for long."""
        self.cadenza("jobs", "create", name.partition("/")[0])
        given = baseline or ("--cron", NEW_YEAR)
        return self.gets("endpoints", "create", name, "--url", self.site.target, *given)


@contextmanager
def living_site() -> Iterator[Site]:
    loop = asyncio.new_event_loop()
    ready: asyncio.Future[Site] = loop.create_future()
    stop = asyncio.Event()

    async def live() -> None:
        async with _site() as site:
            ready.set_result(site)
            await stop.wait()

    living = loop.create_task(live())
    thread = Thread(target=loop.run_until_complete, args=(living,), daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(_first(ready, living), loop).result(60)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        loop.close()


async def _first(ready: "asyncio.Future[Site]", living: "asyncio.Task[None]") -> Site:
    await asyncio.wait({ready, living}, return_when=asyncio.FIRST_COMPLETED)
    return ready.result() if ready.done() else living.result()  # type: ignore[return-value]


@asynccontextmanager
async def _site() -> AsyncIterator[Site]:
    async with migrated_database_url() as url:
        database = await open_database(url, connections=10)
        try:
            async with (
                served_app(SETTINGS, database, BOX, url) as api,
                served(api) as port,
                _worker(database),
                sample_service(0) as target,
            ):
                loop = asyncio.get_running_loop()
                yield Site(f"http://127.0.0.1:{port}", target, database, loop)
        finally:
            await database.close()


@asynccontextmanager
async def served(api: FastAPI) -> AsyncIterator[int]:
    server = uvicorn.Server(server_config(api, "127.0.0.1", 0))
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup()
    serving = asyncio.create_task(server.main_loop())
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        api.state.dependencies.streams.end()
        server.should_exit = True
        await serving
        await server.shutdown()


@asynccontextmanager
async def _worker(database: Database) -> AsyncIterator[None]:
    clock = DatabaseClock()
    await clock.ask(database)
    settings = SETTINGS.model_copy(update={"tick_seconds": 0.2})
    async with dispatcher(settings, database, BOX, clock) as calls:
        worker = make_scheduler(settings, database, BOX, clock, calls)
        working = asyncio.create_task(worker.run())
        try:
            yield
        finally:
            worker.stop()
            await working


async def new_key(database: Database, scope: Scope = Scope.ADMIN) -> tuple[str, str]:
    """The name of a new tenant, and a key of its only user."""
    accounts = PostgresAccounts(database)
    now = await DatabaseClock().ask(database)
    tenant = Tenant(uuid4(), f"tenant {uuid4().hex[:8]}", now)
    await accounts.add_tenant(tenant, AuditEntry("test", "tenant.create"))
    user = User(uuid4(), tenant.id, "ada", now)
    await accounts.add_user(user, AuditEntry("test", "user.create"))
    key_id = uuid4()
    token = token_of(key_id, "s" * 43)
    key = ApiKey(key_id, tenant.id, user.id, "first", (scope,), hash_of(token), now)
    await accounts.add_key(key, AuditEntry("test", "key.create"))
    return tenant.name, token
