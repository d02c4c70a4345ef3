"""The real application over either store: two tenants, with keys of every scope."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from threading import Thread
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx2 as httpx
import uvicorn
from fastapi import FastAPI
from pydantic import SecretStr

from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import Tables
from cadenza.adapters.postgres.database import Database, open_database
from cadenza.adapters.system.clock import SystemClock
from cadenza.application.accounts import Tenants
from cadenza.application.ports.store import Store
from cadenza.domain.access import Actor, ApiKey, Scope, hash_of, token_of
from cadenza.roots.api import app_over, served_app
from cadenza.roots.serving import server_config
from cadenza.roots.settings import Settings
from cadenza.web.api.dependencies import Stores
from tests.postgres import BOX, migrated_database_url

OPERATOR_KEY = "operator-key-of-the-tests-with-enough-of-chance"
SETTINGS: dict[str, Any] = {
    "admin_key": SecretStr(OPERATOR_KEY),
    "allowed_networks": "loopback",
    "rate_limit": 1_000_000,
}
TEST = Actor("test", "test")
READ, OPERATE, ADMIN = Scope.READ, Scope.OPERATE, Scope.ADMIN


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@dataclass(slots=True)
class House:
    """A tenant, and how its people call the API."""

    client: httpx.AsyncClient
    tenant_id: UUID
    name: str
    user_id: UUID
    keys: dict[Scope, str] = field(default_factory=dict[Scope, str])

    async def ask(
        self, method: str, path: str, scope: Scope = ADMIN, **more: Any
    ) -> httpx.Response:
        headers = {**bearer(self.keys[scope]), **more.pop("headers", {})}
        return await self.client.request(method, f"/api/v1{path}", headers=headers, **more)

    async def done(self, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        """The answer to what must go well."""
        given = {} if body is None else {"json": body}
        answer = await self.ask(method, path, **given, **more)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    async def job(self, name: str = "shop", **fields: Any) -> dict[str, Any]:
        return await self.done("POST", "/jobs", {"name": name, **fields})

    async def endpoint(
        self, job: dict[str, Any] | None = None, name: str = "orders", **fields: Any
    ) -> dict[str, Any]:
        """Of a job, or of a new one of the same name."""
        job = job or await self.job(f"job of {name}")
        defaults = {} if {"cron", "on_demand", "every_ms"} & set(fields) else {"every": "5m"}
        target = {} if "command" in fields else {"url": "https://shop.example/orders"}
        document = {"name": name, **defaults, **target, **fields}
        return await self.done("POST", f"/jobs/{job['id']}/endpoints", document)


@dataclass(slots=True)
class Site:
    app: FastAPI
    _database: Database | None
    client: httpx.AsyncClient
    ours: House
    theirs: House

    @property
    def database(self) -> Database:
        assert self._database is not None, "ask for the fixture postgres_site"
        return self._database

    async def operator(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {**bearer(OPERATOR_KEY), **more.pop("headers", {})}
        return await self.client.request(method, f"/api/v1{path}", headers=headers, **more)

    async def rows(self, statement: str, *values: Any) -> list[asyncpg.Record]:
        async with self.database.connection() as connection:
            return await connection.fetch(statement, *values)

    async def value(self, statement: str, *values: Any) -> Any:
        async with self.database.connection() as connection:
            return await connection.fetchval(statement, *values)

    async def execute(self, statement: str, *values: Any) -> None:
        async with self.database.connection() as connection:
            await connection.execute(statement, *values)

    async def contents(self) -> dict[str, list[str]]:
        """Every row of every table."""
        found: dict[str, list[str]] = {}
        async with self.database.connection() as connection:
            for table in await tables(connection):
                rows = await connection.fetch(f"SELECT to_jsonb(t) AS row FROM {table} AS t")
                found[table] = sorted(each["row"] for each in rows)
        return found


async def tables(connection: Any) -> list[str]:
    """Those that hold something of somebody; partitions by their parent."""
    rows = await connection.fetch(
        "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
        " AND relnamespace = 'public'::regnamespace"
        " AND relname NOT IN ('schema_migrations', 'stopped_clock', 'workers') ORDER BY 1"
    )
    return [row["relname"] for row in rows]


@asynccontextmanager
async def site_over(database: Database, **settings: Any) -> AsyncIterator[Site]:
    async with (
        served_app(Settings(**{**SETTINGS, **settings}), database, BOX) as app,
        site_of(app, database) as site,
    ):
        yield site


@asynccontextmanager
async def site_in_memory(**settings: Any) -> AsyncIterator[Site]:
    clock = SystemClock()
    memory = MemoryStores(Tables(clock, uuid4))
    stores = Stores(
        store=memory.store,
        jobs=memory.catalogue,
        endpoints=memory.catalogue,
        runs=memory.runs,
        records=memory.records,
        usage=memory.usage,
        readiness=memory.readiness,
        event_log=memory.event_log,
        latest_answers=memory.latest_answers,
        keys=memory.accounts,
        tenants=memory.accounts,
        signing_keys=memory.signing_keys,
        suggestions=memory.suggestions,
        analysis_queue=memory.analysis_queue,
    )
    async with (
        app_over(Settings(**{**SETTINGS, **settings}), stores, clock) as app,
        site_of(app, None) as site,
    ):
        yield site


@asynccontextmanager
async def site_of(app: FastAPI, database: Database | None) -> AsyncIterator[Site]:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://cadenza") as client:
        ours = await move_in(app, client, "ours")
        theirs = await move_in(app, client, "theirs")
        yield Site(app, database, client, ours, theirs)


async def move_in(app: FastAPI, client: httpx.AsyncClient, name: str) -> House:
    """A tenant with a user, who has a key of every scope."""
    tenants: Tenants = app.state.dependencies.tenants
    tenant_id, _ = await tenants.create(name, None, actor=TEST)
    user, _ = await tenants.create_user(tenant_id, f"ada of {name}", actor=TEST)
    house = House(client, tenant_id, name, user.id)
    for scope in Scope:
        house.keys[scope] = await give_key(app, house, scope)
    return house


async def give_key(
    app: FastAPI, house: House, *scopes: Scope, expires_at: datetime | None = None
) -> str:
    """Also one that has expired already, which nobody could ask for."""
    store: Store = app.state.dependencies.reads.store
    key_id = uuid4()
    token = token_of(key_id, "s" * 43)
    async with store.transaction() as tx:
        key = ApiKey(
            *(key_id, house.tenant_id, house.user_id, f"key {key_id}", scopes, hash_of(token)),
            *(await tx.time(), expires_at),
        )
        await tx.insert_key(key)
    return token


# --- A server that listens --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Listening:
    """The program's own server, with a loop of its own in a thread."""

    port: int
    site: Site
    loop: asyncio.AbstractEventLoop

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def wait_for(self, awaitable: Any) -> Any:
        """From another thread."""
        return asyncio.run_coroutine_threadsafe(awaitable, self.loop).result(30)


@contextmanager
def listening() -> Iterator[Listening]:
    loop = asyncio.new_event_loop()
    found: Future[Listening] = Future()
    stop = asyncio.Event()

    async def live() -> None:
        async with migrated_database_url() as url:
            database = await open_database(url, connections=5)
            try:
                async with site_over(database) as site, served(site.app) as port:
                    found.set_result(Listening(port, site, loop))
                    await stop.wait()
            finally:
                await database.close()

    thread = Thread(target=lambda: loop.run_until_complete(live()), daemon=True)
    thread.start()
    try:
        yield found.result(60)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        loop.close()


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[int]:
    """The port on which the program's own server answers."""
    server = uvicorn.Server(server_config(app, "127.0.0.1", 0))
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup()
    serving = asyncio.create_task(server.main_loop())
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await serving
        await server.shutdown()
