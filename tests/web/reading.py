"""What the tests of reading share: the real app over either store, with two tenants."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import httpx2 as httpx
import uvicorn
from fastapi import FastAPI

from cadenza.application.accounts import Keys, NewKey, Tenants
from cadenza.domain.access import Caller, Scope
from cadenza.domain.endpoint import Endpoint, Every, Job
from cadenza.domain.plan import Source
from cadenza.domain.run import Outcome, Run, RunStatus
from cadenza.domain.target import HttpTarget
from cadenza.roots.serving import Server
from cadenza.roots.settings import Settings
from cadenza.web.api.streams import Pace
from tests.backends import Backend, PostgresBackend
from tests.factories import OK, minutes, seconds
from tests.postgres import MASTER_KEY

SECRET = "s" * 43


@dataclass(slots=True)
class Tenancy:
    """A tenant with a user, and keys of its own."""

    id: UUID
    user_id: UUID
    token: str
    key_id: UUID
    job_id: UUID = field(default_factory=uuid4)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@dataclass(slots=True)
class Reading:
    backend: Backend
    app: FastAPI
    client: httpx.AsyncClient
    ours: Tenancy
    theirs: Tenancy

    @property
    def postgres(self) -> PostgresBackend:
        assert isinstance(self.backend, PostgresBackend), "ask for the fixture postgres_world"
        return self.backend

    async def get(self, path: str, tenancy: Tenancy | None = None, **asked: Any) -> httpx.Response:
        headers = (tenancy or self.ours).headers
        return await self.client.get(f"/api/v1{path}", params=asked, headers=headers)

    async def read(self, path: str, tenancy: Tenancy | None = None, **asked: Any) -> Any:
        answer = await self.get(path, tenancy, **asked)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, path: str, body: Any = None, tenancy: Tenancy | None = None) -> Any:
        headers = (tenancy or self.ours).headers
        sent = {"json": body} if body is not None else {}
        answer = await self.client.post(f"/api/v1{path}", headers=headers, **sent)
        assert answer.status_code < 300, answer.text
        return answer.json()

    async def all_pages(self, path: str, **asked: Any) -> list[Any]:
        """Every item, page after page."""
        items: list[Any] = []
        cursor: dict[str, str] = {}
        while True:
            page = await self.read(path, **asked, **cursor)
            items += page["items"]
            if page["next"] is None:
                return items
            cursor = {"cursor": page["next"]}

    async def now(self) -> datetime:
        return await self.backend.now()

    async def add_endpoint(
        self, name: str = "probe", tenancy: Tenancy | None = None, **fields: Any
    ) -> Endpoint:
        owner = tenancy or self.ours
        defaults: dict[str, Any] = {"baseline": Every(minutes(1)), "created_at": await self.now()}
        endpoint = Endpoint(
            id=uuid4(),
            tenant_id=owner.id,
            job_id=owner.job_id,
            name=name,
            spread=seconds(0),
            **{**defaults, **fields},
        )
        target = HttpTarget("http://example.com/")
        return await self.backend.direct.add_endpoint(endpoint, target)

    async def add_run(
        self,
        endpoint: Endpoint,
        slot_at: datetime,
        status: str = "success",
        source: str = "baseline-interval",
        **fields: Any,
    ) -> UUID:
        """A run as it is after its end, or as the fields say."""
        defaults = {
            "id": uuid4(),
            "endpoint_id": endpoint.id,
            "tenant_id": endpoint.tenant_id,
            "slot_at": slot_at,
            "source": Source(source),
            "status": RunStatus(status),
            "attempt": 1,
            "epoch": 1,
            "claimed_at": slot_at,
            "started_at": slot_at,
            "finished_at": slot_at + seconds(1),
        }
        run = Run(**{**defaults, **fields})
        await self.backend.insert_run(run)
        return run.id

    async def make_due(self, endpoint: Endpoint) -> None:
        await self.plan_at(endpoint, await self.now())

    async def plan_at(self, endpoint: Endpoint, at: datetime | None) -> None:
        await self.backend.change_endpoint(endpoint.tenant_id, endpoint.id, next_run_at=at)

    async def finish_run(self, endpoint: Endpoint, outcome: Outcome = OK) -> None:
        await self.make_due(endpoint)
        assert await self.backend.run_due(outcome) == 1

    async def add_key(self, tenancy: Tenancy, scope: Scope) -> Tenancy:
        """The same tenant, with a key that may do no more than this."""
        key = await _add_key(self.backend, tenancy.id, tenancy.user_id, scope)
        return Tenancy(tenancy.id, tenancy.user_id, *key, tenancy.job_id)

    async def revoke(self, tenancy: Tenancy) -> None:
        """By another process than the one that serves."""
        caller = Caller(tenancy.id, tenancy.user_id, tenancy.key_id, "ann", (Scope.ADMIN,))
        await _keys(self.backend).revoke(caller, tenancy.key_id)

    def set_pace(self, **pace: Any) -> None:
        """For streams; what is left out is as quick as a test wants it."""
        quick = {"poll": seconds(0.3), "at_least": seconds(0.01), "check_key": seconds(0.2)}
        self.app.state.dependencies.around.streams.pace = Pace(**{**quick, **pace})

    @asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        """By a real server, which streams need; gives its address."""
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = listening.getsockname()[1]
            config = uvicorn.Config(self.app, log_config=None, timeout_graceful_shutdown=5)
            server = Server(config)
            serving = asyncio.create_task(server.serve([listening]))
            try:
                yield f"http://127.0.0.1:{port}/api/v1"
            finally:
                self.app.state.dependencies.around.streams.end()
                server.should_exit = True
                await serving


@asynccontextmanager
async def reading_world(backend: Backend) -> AsyncIterator[Reading]:
    settings = Settings(master_key=MASTER_KEY, allowed_networks="loopback")  # type: ignore[arg-type]
    async with backend.app(settings) as app:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            ours = await _add_tenant(backend, "ours")
            theirs = await _add_tenant(backend, "theirs")
            yield Reading(backend, app, client, ours, theirs)


async def _add_tenant(backend: Backend, name: str) -> Tenancy:
    tenants = Tenants(backend.store, uuid4, _forget_nothing)
    tenant_id, _ = await tenants.create(name, None)
    user, _ = await tenants.create_user(tenant_id, "ann")
    token, key_id = await _add_key(backend, tenant_id, user.id, Scope.ADMIN)
    tenancy = Tenancy(tenant_id, user.id, token, key_id)
    await backend.direct.add_job(Job(tenancy.job_id, tenant_id, "watch", ""))
    return tenancy


async def _add_key(
    backend: Backend, tenant_id: UUID, user_id: UUID, scope: Scope
) -> tuple[str, UUID]:
    key, token = await _keys(backend).create_for(tenant_id, NewKey("key", (scope,), user_id))
    return token, key.id


def _keys(backend: Backend) -> Keys:
    return Keys(backend.store, uuid4, lambda: SECRET, _forget_nothing)


def _forget_nothing() -> None:
    """No process of these tests remembers them."""


# --- Streams --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Heard:
    id: str
    kind: str
    data: Any


class Following:
    """A client of the event stream that reads one event after the other."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def next(self, within: float = 60) -> Heard:
        """The next event; comments are passed over."""
        async with asyncio.timeout(within):
            fields: dict[str, str] = {}
            async for line in self._lines:
                if not line and "event" in fields:
                    data = json.loads(fields["data"])
                    return Heard(fields.get("id", ""), fields["event"], data)
                name, _, value = line.partition(": ")
                fields[name] = value
        raise AssertionError("the stream has ended")

    async def line(self, within: float = 60) -> str:
        async with asyncio.timeout(within):
            return await anext(self._lines)

    async def has_ended(self, within: float = 60) -> bool:
        async with asyncio.timeout(within):
            async for _ in self._lines:
                pass
        return True


@asynccontextmanager
async def following(
    address: str, tenancy: Tenancy, last_event_id: str | None = None, **asked: Any
) -> AsyncIterator[Following]:
    headers = dict(tenancy.headers)
    if last_event_id is not None:
        headers["Last-Event-ID"] = last_event_id
    async with (
        httpx.AsyncClient(timeout=30) as client,
        client.stream("GET", f"{address}/events", headers=headers, params=asked) as response,
    ):
        yield Following(response)
