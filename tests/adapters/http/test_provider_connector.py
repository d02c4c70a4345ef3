"""A client that calls by name or number reaches what the guard admits, and nothing else."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from aiohttp import ClientConnectorError, ClientSession, web

from cadenza.adapters.http.addresses import AddressPolicy, parse_networks
from cadenza.adapters.http.guard import Guard
from cadenza.adapters.http.provider_connector import ProviderConnector


@asynccontextmanager
async def loopback_server() -> AsyncGenerator[int]:
    async def handler(_request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=b"x" * 3 * 1024 * 1024)

    runner = web.ServerRunner(web.Server(handler))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def look_up(name: str) -> list[str]:
    return ["127.0.0.1"]


def session(networks: str) -> ClientSession:
    guard = Guard(AddressPolicy(parse_networks(networks)), look_up)
    return ClientSession(connector=ProviderConnector(guard))


@pytest.mark.parametrize("host", ["127.0.0.1", "models.example.com", "localhost"])
async def test_an_address_that_is_not_admitted(host: str) -> None:
    async with loopback_server() as port, session("") as client:
        with pytest.raises((ClientConnectorError, OSError)):
            await client.get(f"http://{host}:{port}/")


@pytest.mark.parametrize("host", ["127.0.0.1", "models.example.com", "localhost"])
async def test_an_address_that_is_admitted_and_an_answer_of_any_length(host: str) -> None:
    async with loopback_server() as port, session("127.0.0.0/8") as client:
        answer = await client.get(f"http://{host}:{port}/")
        assert len(await answer.read()) == 3 * 1024 * 1024
