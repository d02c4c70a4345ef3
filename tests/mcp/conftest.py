"""The sites of the web's tests, which have /mcp beside the API.

What tools make of the API's answers is the same over every store, so most tests need only one;
`any_site` is either.
"""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.backends import MEMORY, MemoryBackend
from tests.web.conftest import site as any_site
from tests.web.support import Listening, Site, listening, site_over

__all__ = ["any_site"]


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with site_over(MemoryBackend()) as site:
        yield site


@pytest.fixture(scope="module")
def server() -> Iterator[Listening]:
    with listening(MEMORY) as server:
        yield server
