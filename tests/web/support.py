"""The real application over either store: two tenants, with keys of every scope."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Thread
from typing import Any
from uuid import UUID, uuid4

import httpx2 as httpx
from fastapi import FastAPI
from pydantic import SecretStr

from cadenza.application.accounts import Tenants
from cadenza.domain.access import Actor, ApiKey, Scope, hash_of, token_of
from cadenza.roots.serving import served
from cadenza.roots.settings import Settings
from tests.backends import Backend, Contents, new_backend

ADMIN_KEY = "admin-key-of-the-tests-with-enough-of-chance"
SETTINGS: dict[str, Any] = {
    "admin_key": SecretStr(ADMIN_KEY),
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
    ids: dict[str, str] = field(default_factory=dict[str, str])  # of what it has, by collection
    keys: dict[Scope, str] = field(default_factory=dict[Scope, str])

    async def ask(
        self, method: str, path: str, scope: Scope = ADMIN, **more: Any
    ) -> httpx.Response:
        headers = {**bearer(self.keys[scope]), **more.pop("headers", {})}
        if path.endswith("/result"):  # no key opens it; furnish() has a run with this token
            headers.setdefault("Cadenza-Result-Token", f"cdzr_{self.name}")
        return await self.client.request(method, f"/api/v1{path}", headers=headers, **more)

    async def done(self, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        """The answer to what must go well."""
        content = {} if body is None else {"json": body}
        answer = await self.ask(method, path, **content, **more)
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
    backend: Backend
    client: httpx.AsyncClient
    ours: House
    theirs: House

    async def admin(self, method: str, path: str, **more: Any) -> httpx.Response:
        """With the key of the installation's admin."""
        headers = {**bearer(ADMIN_KEY), **more.pop("headers", {})}
        return await self.client.request(method, f"/api/v1{path}", headers=headers, **more)

    async def contents(self) -> Contents:
        return await self.backend.contents()

    async def now(self) -> datetime:
        return await self.backend.now()

    async def stored_key(self, key_id: str) -> ApiKey:
        row = await self.backend.stores.keys.find_key(UUID(key_id))
        assert row is not None
        return row[0]

    async def change_key(self, key_id: str, **fields: Any) -> None:
        """By another process than the one that serves."""
        async with self.backend.store.transaction() as tx:
            await tx.save_key(replace(await self.stored_key(key_id), **fields))

    @asynccontextmanager
    async def emptied(self, **settings: Any) -> AsyncIterator["Site"]:
        """Another one in its place, with these settings."""
        async with site_over(await self.backend.emptied(), **settings) as site:
            yield site


@asynccontextmanager
async def site_over(backend: Backend, **settings: Any) -> AsyncIterator[Site]:
    async with backend.app(Settings(**{**SETTINGS, **settings})) as app:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://cadenza") as client:
            ours = await move_in(app, backend, client, "ours")
            theirs = await move_in(app, backend, client, "theirs")
            yield Site(app, backend, client, ours, theirs)


async def move_in(app: FastAPI, backend: Backend, client: httpx.AsyncClient, name: str) -> House:
    """A tenant with a user, who has a key of every scope."""
    tenants: Tenants = app.state.dependencies.tenants
    tenant_id, _ = await tenants.create(name, None, actor=TEST)
    user, _ = await tenants.create_user(tenant_id, f"ada of {name}", actor=TEST)
    house = House(client, tenant_id, name, user.id)
    for scope in Scope:
        house.keys[scope] = await give_key(backend, house, scope)
    return house


async def give_key(
    backend: Backend, house: House, *scopes: Scope, expires_at: datetime | None = None
) -> str:
    """Also one that has expired already, which nobody could ask for."""
    key_id = uuid4()
    token = token_of(key_id, "s" * 43)
    async with backend.store.transaction() as tx:
        key = ApiKey(
            key_id,
            house.tenant_id,
            house.user_id,
            f"key {key_id}",
            scopes,
            hash_of(token),
            await tx.time(),
            expires_at,
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


def listening(kind: str) -> AbstractContextManager[Listening]:
    return listening_over(lambda: new_backend(kind))


@contextmanager
def listening_over(
    opened: Callable[[], AbstractAsyncContextManager[Backend]], **settings: Any
) -> Iterator[Listening]:
    loop = asyncio.new_event_loop()
    ready: Future[Listening] = Future()
    stop = asyncio.Event()

    async def live() -> None:
        async with (
            opened() as backend,
            site_over(backend, **settings) as site,
            served(site.app) as port,
        ):
            ready.set_result(Listening(port, site, loop))
            await stop.wait()

    def run() -> None:
        loop.run_until_complete(live())
        tasks = asyncio.all_tasks(loop)  # what a library leaves behind, as for its event streams
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.wait(tasks))

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield ready.result(60)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        loop.close()
