"""One server for all; a tenant of their own for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.support import Person, Site, living_site, new_key


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with living_site() as site:
        yield site


@pytest.fixture
def person(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    monkeypatch.chdir(tmp_path)
    tenant, key = site.wait_for(new_key(site.database))
    return Person(site, tenant, key)
