from collections.abc import AsyncIterator

import pytest

from tests.adapters.postgres.support import World, new_world


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with new_world() as world:
        yield world
