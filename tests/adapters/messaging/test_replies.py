"""Who reads replies from a broker: until nobody waits, through restarts, and not in vain."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aio_pika
import pytest
from redis.asyncio import Redis

from cadenza.adapters.messaging import connections, replies
from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.run import Claim, Outcome, RunStatus
from cadenza.domain.target import Secret
from tests.adapters.messaging.conftest import PASSWORD
from tests.adapters.messaging.support import (
    NatsPlace,
    Place,
    RabbitPlace,
    RedisPlace,
    dispatching,
    slot,
)
from tests.adapters.messaging.test_publishing import PLACES, MakePlace
from tests.adapters.messaging.test_results import first_message, reply, waiting
from tests.adapters.postgres.support import until
from tests.brokers import Server, nats_server
from tests.factories import seconds
from tests.results import ResultDesk

LONG = 300.0  # seconds; a broker that restarts on a busy machine takes a part of them


@pytest.fixture(params=PLACES)
def place_of(request: pytest.FixtureRequest) -> MakePlace:
    kind: str = request.param
    server = request.getfixturevalue(f"{kind}_broker")
    return lambda topic: PLACES[kind](server, topic)


async def answer(place: Place, claim: Claim, body: str) -> None:
    """As a consumer does who was sent the message of a claim."""
    message = await first_message(place)
    token = message.headers["cadenza-result-token"]
    headers = {"cadenza-run-id": str(claim.run_id), "cadenza-result-token": token}
    await reply(place, message.headers["cadenza-reply-to"], headers, body)


async def test_replies_are_heard_after_a_restart_of_the_broker(place_of: MakePlace) -> None:
    place, desk = place_of("orders.reheard"), ResultDesk()
    await place.open()
    target = replace(place.target, reply_to="answers.reheard", timeout=seconds(LONG))
    async with waiting(desk) as queues:
        claim = await desk.claim(target)
        running = asyncio.create_task(queues.dispatch(claim))
        message = await first_message(place)
        await desk.until_waiting(claim)
        place.server.stop()
        place.server.start()
        token = message.headers["cadenza-result-token"]
        said = {"cadenza-run-id": str(claim.run_id), "cadenza-result-token": token}

        async def answered() -> bool:
            """NATS forgets what is said while nobody listens: it is said until it is heard."""
            await reply(place, "answers.reheard", said, "7")
            return running.done()

        await until(answered, within=LONG)
        outcome = await running
    assert (outcome.status, outcome.body) == (RunStatus.SUCCESS, 7)


async def test_a_reader_that_has_ended_takes_nobodys_reply(
    nats_broker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of these runs has a reader of its own, one after the other, on one connection."""
    monkeypatch.setattr(replies, "LISTENS_ON", 0.0)
    place = NatsPlace(nats_broker, "orders.one-by-one")
    await place.open()
    target = replace(place.target, reply_to="answers.one-by-one", timeout=seconds(LONG))
    for _ in range(2):
        async with waiting(desk := ResultDesk()) as queues:
            for number in range(5):
                claim = await desk.claim(target, f"orders {number}")
                running = asyncio.create_task(queues.dispatch(claim))
                await answer(place, claim, str(number))
                assert (await running).body == number


async def test_a_connection_that_is_read_from_is_not_idle(
    nats_broker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "IDLE_SECONDS", 0.0)
    place, desk = NatsPlace(nats_broker, "orders.hours"), ResultDesk()
    await place.open()
    target = replace(place.target, reply_to="answers.hours", timeout=seconds(LONG))
    async with waiting(desk) as queues:
        claim = await desk.claim(target)
        running = asyncio.create_task(queues.dispatch(claim))
        await desk.until_waiting(claim)
        elsewhere = replace(target, url=target.url.replace("127.0.0.1", "localhost"), reply_to=None)
        assert (await queues.dispatch(slot(elsewhere, 9))).status is RunStatus.SUCCESS
        await answer(place, claim, "7")
        assert (await running).body == 7


async def refused(target: QueueTarget) -> Outcome:
    desk = ResultDesk()
    async with waiting(desk) as queues:
        return await queues.dispatch(await desk.claim(replace(target, timeout=seconds(LONG))))


async def test_a_place_for_replies_that_cannot_be_read_is_a_failure_at_once(
    redis_broker: Server, rabbitmq_broker: Server
) -> None:
    async with Redis(port=redis_broker.port, db=3, password=PASSWORD) as client:
        await client.set("no-stream", "x")
    place = RedisPlace(redis_broker, "orders.unread")
    outcome = await refused(replace(place.target, reply_to="no-stream"))
    assert outcome.error_kind == "rejected"
    assert "wrong kind of value" in str(outcome.error_message)

    url = f"amqp://guest:guest@127.0.0.1:{rabbitmq_broker.port}/"
    async with await aio_pika.connect(url) as connection:
        channel = await connection.channel()
        await channel.declare_queue("a-passing-queue", durable=False, auto_delete=True)
        rabbit = RabbitPlace(rabbitmq_broker, "orders.unread")
        await rabbit.open()
        outcome = await refused(replace(rabbit.target, reply_to="a-passing-queue"))
    assert outcome.error_kind == "rejected"
    assert "PRECONDITION_FAILED" in str(outcome.error_message)


@pytest.fixture
def strict_nats(tmp_path: Path) -> Iterator[Server]:
    config = f"""authorization {{ users = [{{ user: shop, password: "{PASSWORD}", permissions = {{
        publish = {{ deny = "closed.>" }}, subscribe = {{ deny = "deaf.>" }} }} }}] }}"""
    with nats_server(tmp_path, config=config) as server:
        yield server


async def test_a_subject_that_nats_does_not_allow_us_is_a_failure_at_once(
    strict_nats: Server,
) -> None:
    url = f"nats://shop@127.0.0.1:{strict_nats.port}"
    closed: Any = QueueTarget(url, "closed.orders", password=Secret(PASSWORD))
    async with dispatching() as queues:
        outcome = await queues.dispatch(slot(closed))
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "refused"), outcome
    assert "closed.orders" in str(outcome.error_message)
    place = NatsPlace(strict_nats, "open.orders")
    await place.open()
    outcome = await refused(replace(place.target, reply_to="deaf.answers"))
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "refused"), outcome
