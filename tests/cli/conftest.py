"""One server for all on each store; a tenant of their own for each test.

The tests on PostgreSQL are the same again, and `make test-fast` leaves them to `make test`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends import MEMORY, POSTGRES
from tests.cli.support import Person, Site, living_site, new_key


@pytest.fixture(scope="session")
def memory_site() -> Iterator[Site]:
    with living_site(MEMORY) as site:
        yield site


@pytest.fixture(scope="session")
def postgres_site() -> Iterator[Site]:
    with living_site(POSTGRES) as site:
        yield site


@pytest.fixture(params=["memory_site", pytest.param("postgres_site", marks=pytest.mark.slow)])
def site(request: pytest.FixtureRequest) -> Site:
    return request.getfixturevalue(request.param)


@pytest.fixture
def person(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    monkeypatch.chdir(tmp_path)
    tenant, key = site.wait_for(new_key(site.backend))
    return Person(site, tenant, key)
