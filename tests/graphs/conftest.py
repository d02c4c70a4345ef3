from collections.abc import AsyncIterator

import pytest

from tests.graphs.installation import Installation, installed


@pytest.fixture
async def installation() -> AsyncIterator[Installation]:
    async with installed() as installation:
        yield installation
