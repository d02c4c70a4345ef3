"""One server of each kind for all tests of a process; what they share are ports, not topics."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from cadenza.application.waiting import end_all
from tests.brokers import Server, nats_server, rabbitmq_server, redis_server

PASSWORD = "sesame, open"
LONGEST_TEST = 900.0  # seconds: a client that waits for ever must not hold up all tests


@pytest.fixture(autouse=True)
async def never_for_ever() -> AsyncIterator[None]:
    async def end_the_others() -> None:
        own = asyncio.current_task()
        await asyncio.sleep(LONGEST_TEST)
        others = [task for task in asyncio.all_tasks() if task is not own]
        for task in others:
            task.print_stack()
        for task in others:
            task.cancel("the test took too long")

    ending = asyncio.create_task(end_the_others())
    yield
    await end_all([ending])


@pytest.fixture(scope="session")
def redis_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with redis_server(_folder(tmp_path_factory, "redis"), PASSWORD) as server:
        yield server


@pytest.fixture(scope="session")
def nats_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with nats_server(_folder(tmp_path_factory, "nats"), "shop", PASSWORD) as server:
        yield server


@pytest.fixture(scope="session")
def rabbitmq_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with rabbitmq_server(_folder(tmp_path_factory, "rabbitmq")) as server:
        yield server


def _folder(factory: pytest.TempPathFactory, name: str) -> Path:
    return factory.mktemp(name)
