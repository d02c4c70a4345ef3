from collections.abc import AsyncIterator

import pytest

from tests.adapters.gateway.support import Stage, staged


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with staged() as stage:
        yield stage


@pytest.fixture
def environment(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """As a child process has it: libraries find the gateway by themselves."""
    for name, value in stage.environment.items():
        monkeypatch.setenv(name, value)
    return stage
