"""Both clients at a real server: the one on a loop is asked like the one without."""

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from cadenza.client.async_client import AsyncClient
from cadenza.client.sync_client import SyncClient
from tests.backends import MEMORY
from tests.cli.support import Site, living_site, new_key


class Waited:
    """An AsyncClient whose answers are waited for."""

    def __init__(self, url: str, key: str | None, **options: Any) -> None:
        self._runner = asyncio.Runner()
        self._client = AsyncClient(url, key, **options)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)

        def call(*values: Any, **fields: Any) -> Any:
            answer = method(*values, **fields)
            return self._each(answer) if inspect.isasyncgen(answer) else self._wait(answer)

        return call

    def _wait(self, answer: Any) -> Any:
        async def wait() -> Any:
            return await answer

        return self._runner.run(wait())

    def _each(self, answer: Any) -> Iterator[Any]:
        try:
            while True:
                try:
                    yield self._wait(anext(answer))
                except StopAsyncIteration:
                    return
        finally:
            self._wait(answer.aclose())

    def close(self) -> None:
        self._wait(self._client.close())
        self._runner.close()


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with living_site(MEMORY) as site:
        yield site


@pytest.fixture
def key(site: Site) -> str:
    _, key = site.wait_for(new_key(site.backend))
    return key


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def connect(kind: str) -> Iterator[Any]:
    made: list[Waited] = []

    def connected(url: str, key: str | None, **options: Any) -> Any:
        if kind == "sync":
            return SyncClient(url, key, **options)
        made.append(Waited(url, key, **options))
        return made[-1]

    yield connected
    for client in made:
        client.close()


@pytest.fixture
def client(connect: Any, site: Site, key: str) -> Any:
    return connect(site.url, key)
