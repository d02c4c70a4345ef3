"""The command line over the program's own server: uvicorn, either store, a real worker."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import UUID, uuid4

import uvicorn
from aiohttp import web
from fastapi import FastAPI
from pydantic import SecretStr
from typer.testing import CliRunner

from cadenza.application.accounts import Keys, NewKey, Tenants
from cadenza.domain.access import Scope
from cadenza.domain.errors import CadenzaError
from cadenza.domain.session import Session, SessionEnd, ToolCall
from cadenza.roots.main import app, exit_code
from cadenza.roots.serving import server_config
from cadenza.roots.settings import Settings
from cadenza.up.sample_service import sample_service
from tests.backends import Backend, new_backend
from tests.factories import seconds

NEW_YEAR = "0 3 1 1 *"
ADMIN_KEY = "admin-key-of-the-tests-with-enough-of-chance"
SETTINGS = Settings(
    admin_key=SecretStr(ADMIN_KEY),
    allowed_networks="loopback",
    rate_limit=1_000_000,
    tick_seconds=0.2,
)


@dataclass(frozen=True, slots=True)
class Site:
    """A server, a worker and something to call, in a thread of their own."""

    url: str
    target: str  # answers with a queue depth
    backend: Backend
    loop: asyncio.AbstractEventLoop

    def wait_for(self, awaitable: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(awaitable, self.loop).result(30)


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


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
        set_or_unset = {name: value or None for name, value in env.items()}
        words = [str(argument) for argument in arguments]
        result = CliRunner().invoke(app, words, stdin, env=set_or_unset)
        error = result.exception
        if isinstance(error, CadenzaError):  # as `main` writes it
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
        words = baseline or ("--cron", NEW_YEAR)
        return self.gets("endpoints", "create", name, "--url", self.site.target, *words)

    def add_session(self, endpoint: dict[str, Any], *calls: ToolCall, reasoning: str = "") -> str:
        """An analysis of the endpoint by rules, with these calls; gives its id."""
        backend, wait_for = self.site.backend, self.site.wait_for
        session = Session(
            id=uuid4(),
            tenant_id=UUID(self.gets("whoami")["tenant_id"]),
            job_id=UUID(endpoint["job_id"]),
            endpoint_id=UUID(endpoint["id"]),
            brain="rules",
            started_at=wait_for(backend.now()),
            duration=seconds(0.02),
            end=SessionEnd.SUBMITTED,
            tool_calls=calls,
            reasoning=reasoning,
        )
        wait_for(backend.add_session(session))
        return str(session.id)


@contextmanager
def living_site(kind: str) -> Iterator[Site]:
    loop = asyncio.new_event_loop()
    ready: asyncio.Future[Site] = loop.create_future()
    stop = asyncio.Event()

    async def live() -> None:
        async with _site(kind) as site:
            ready.set_result(site)
            await stop.wait()

    living = loop.create_task(live())
    thread = Thread(target=loop.run_until_complete, args=(living,), daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(_first(ready, living), loop).result(300)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(300)
        loop.close()


async def _first(ready: "asyncio.Future[Site]", living: "asyncio.Task[None]") -> Site:
    await asyncio.wait({ready, living}, return_when=asyncio.FIRST_COMPLETED)
    return ready.result() if ready.done() else living.result()  # type: ignore[return-value]


@asynccontextmanager
async def _site(kind: str) -> AsyncIterator[Site]:
    async with (
        new_backend(kind, connections=10) as backend,
        backend.app(SETTINGS) as api,
        served(api) as port,
        backend.worker(SETTINGS),
        sample_service(0, web.Application()) as target,
    ):
        loop = asyncio.get_running_loop()
        assert target.address is not None
        yield Site(f"http://127.0.0.1:{port}", target.address, backend, loop)


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
        api.state.dependencies.around.streams.end()
        server.should_exit = True
        await serving
        await server.shutdown()


async def new_key(backend: Backend, scope: Scope = Scope.ADMIN) -> tuple[str, str]:
    """The name of a new tenant, and a key of its only user."""
    tenants = Tenants(backend.store, uuid4, _nothing_to_forget)
    keys = Keys(backend.store, uuid4, lambda: "s" * 43, _nothing_to_forget)
    name = f"tenant {uuid4().hex[:8]}"
    tenant_id, _ = await tenants.create(name, None)
    user, _ = await tenants.create_user(tenant_id, "ada")
    _, token = await keys.create_for(tenant_id, NewKey("first", (scope,), user.id))
    return name, token


def _nothing_to_forget() -> None:
    """No process knows these keys yet."""
