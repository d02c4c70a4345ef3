"""A site for each test; one server for those that need a real one."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.postgres import emptied_database
from tests.web.support import Listening, Site, listening, site_over


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with emptied_database() as database, site_over(database) as site:
        yield site


@pytest.fixture(scope="module")
def server() -> Iterator[Listening]:
    with listening() as listens:
        yield listens
