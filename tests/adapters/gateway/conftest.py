from collections.abc import AsyncIterator

import pytest
from langchain_anthropic import _client_utils as anthropic_clients
from langchain_openai.chat_models import _client_utils as openai_clients

from tests.adapters.gateway.support import Stage, staged


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with staged() as stage:
        yield stage


@pytest.fixture
async def environment(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """As a child process has it: libraries find the gateway by themselves."""
    for name, value in stage.environment.items():
        monkeypatch.setenv(name, value)
    yield stage
    # LangChain keeps clients by address, and the next gateway may get the same port.
    openai_clients._cached_async_httpx_client.cache_clear()
    anthropic_clients._get_default_async_httpx_client.cache_clear()
