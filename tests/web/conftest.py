"""A site for each test, on each store; one server for those that need a real one.

The tests on PostgreSQL are the same again, and `make test-fast` leaves them to `make test`.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from tests.backends import MEMORY, POSTGRES, Backend, MemoryBackend, PostgresBackend, new_backend
from tests.postgres import emptied_database
from tests.web.reading import Reading, reading_world
from tests.web.support import Listening, Site, listening, site_over

ON_POSTGRES = pytest.param(POSTGRES, marks=pytest.mark.slow)
BOTH = [MEMORY, ON_POSTGRES]


@asynccontextmanager
async def _empty_backend(kind: str) -> AsyncIterator[Backend]:
    if kind == MEMORY:
        yield MemoryBackend()
        return
    async with emptied_database() as database:
        yield await PostgresBackend.over(database)


@pytest.fixture(params=BOTH)
async def site(request: pytest.FixtureRequest) -> AsyncIterator[Site]:
    async with _empty_backend(request.param) as backend, site_over(backend) as site:
        yield site


@pytest.fixture(params=[ON_POSTGRES])
async def postgres_site(request: pytest.FixtureRequest) -> AsyncIterator[Site]:
    """For what only PostgreSQL can show."""
    async with _empty_backend(request.param) as backend, site_over(backend) as site:
        yield site


@pytest.fixture(params=BOTH)
async def world(request: pytest.FixtureRequest) -> AsyncIterator[Reading]:
    async with new_backend(request.param) as backend, reading_world(backend) as world:
        yield world


@pytest.fixture(params=[ON_POSTGRES])
async def postgres_world(request: pytest.FixtureRequest) -> AsyncIterator[Reading]:
    async with new_backend(request.param) as backend, reading_world(backend) as world:
        yield world


@pytest.fixture(scope="module", params=BOTH)
def server(request: pytest.FixtureRequest) -> Iterator[Listening]:
    with listening(request.param) as server:
        yield server
