"""Messages whose run waits: for a report over the API, or in a reply queue of the same broker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import aio_pika
import nats
import pytest
from redis.asyncio import Redis

from cadenza.adapters.messaging.dispatcher import QueueDispatcher
from cadenza.domain.run import RunStatus
from tests.adapters.messaging.conftest import PASSWORD
from tests.adapters.messaging.support import Place, Received, dispatching, slot
from tests.adapters.messaging.test_publishing import PLACES, MakePlace
from tests.adapters.postgres.support import until
from tests.factories import seconds
from tests.results import ResultDesk

RESULT = {"cadenza-status": "success"}


@pytest.fixture(params=PLACES)
def place_of(request: pytest.FixtureRequest) -> MakePlace:
    kind: str = request.param
    server = request.getfixturevalue(f"{kind}_broker")
    return lambda topic: PLACES[kind](server, topic)


@asynccontextmanager
async def waiting(desk: ResultDesk) -> AsyncIterator[QueueDispatcher]:
    async with dispatching(desk=desk) as queues:
        try:
            yield queues
        finally:
            await desk.waiting.end()


async def first_message(place: Place) -> Received:
    found: list[Received] = []

    async def look() -> bool:
        found.extend(await place.received())
        return bool(found)

    await until(look)
    return found[0]


async def reply(place: Place, to: str, headers: dict[str, str], body: str) -> None:
    """As a consumer of this broker does."""
    port = place.server.port
    if place.target.url.startswith("redis"):
        async with Redis(port=port, db=3, password=PASSWORD) as client:
            await client.xadd(to, {**headers, "body": body})
    elif place.target.url.startswith("amqp"):
        async with await aio_pika.connect(f"amqp://guest:guest@127.0.0.1:{port}/") as connection:
            channel = await connection.channel()
            message = aio_pika.Message(body.encode(), headers=dict(headers))
            await channel.default_exchange.publish(message, to)
    else:
        client = await nats.connect(f"nats://127.0.0.1:{port}", user="shop", password=PASSWORD)
        await client.publish(to, body.encode(), headers=headers)
        await client.drain()


async def test_a_run_waits_until_its_consumer_reports(place_of: MakePlace) -> None:
    place, desk = place_of("orders.awaited"), ResultDesk()
    await place.open()
    target = replace(place.target, awaits_result=True, timeout=seconds(60))
    async with waiting(desk) as queues:
        claim = await desk.claim(target)
        running = asyncio.create_task(queues.dispatch(claim))
        message = await first_message(place)
        assert message.headers["cadenza-run-id"] == str(claim.run_id)
        assert not running.done()
        await desk.report(claim, message.headers["cadenza-result-token"], body={"rows": 4})
        outcome = await running
    assert (outcome.status, outcome.body) == (RunStatus.SUCCESS, {"rows": 4})


async def test_a_reply_in_the_brokers_own_queue_ends_it(place_of: MakePlace) -> None:
    place, desk = place_of("orders.replied"), ResultDesk()
    await place.open()
    target = replace(place.target, reply_to="answers.replied", timeout=seconds(60))
    async with waiting(desk) as queues:
        claim = await desk.claim(target)
        running = asyncio.create_task(queues.dispatch(claim))
        message = await first_message(place)
        to, token = message.headers["cadenza-reply-to"], message.headers["cadenza-result-token"]
        assert to == "answers.replied"
        run = {"cadenza-run-id": str(claim.run_id)}
        # What is not ours, or no reply at all, is taken and forgotten.
        await reply(place, to, {"a": "b"}, "hello")
        await reply(place, to, {**run, "cadenza-result-token": "cdzr_wrong"}, "1")
        await reply(place, to, {**run, "cadenza-result-token": token, "cadenza-status": "?"}, "2")
        said = {**run, "cadenza-result-token": token, "cadenza-status": "failure"}
        await reply(place, to, {**said, "cadenza-message": "no paper"}, '{"pages": 0}')
        outcome = await running
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "reported")
    assert (outcome.error_message, outcome.body) == ("no paper", {"pages": 0})


async def test_without_a_result_it_is_a_timeout_that_says_so(redis_broker: object) -> None:
    place, desk = PLACES["redis"](redis_broker, "orders.unanswered"), ResultDesk()  # type: ignore[arg-type]
    target = replace(place.target, awaits_result=True, timeout=seconds(3))
    async with waiting(desk) as queues:
        connected = await queues.dispatch(slot(place.target))  # it has half a minute for that
        assert connected.status is RunStatus.SUCCESS
        outcome = await queues.dispatch(await desk.claim(target))
    assert (outcome.status, outcome.error_kind) == (RunStatus.TIMEOUT, "no_result")
    assert outcome.error_message == "the message was taken, but no result came within 3 s"


async def test_the_reply_to_a_lost_worker_is_there_for_the_next(redis_broker: object) -> None:
    """A stream keeps it; the second attempt sends nothing again."""
    place, desk = PLACES["redis"](redis_broker, "orders.lost"), ResultDesk()  # type: ignore[arg-type]
    target = replace(place.target, reply_to="answers.lost", timeout=seconds(60))
    claim = await desk.claim(target)
    async with waiting(desk) as queues:
        running = asyncio.create_task(queues.dispatch(claim))
        message = await first_message(place)
        await desk.until_waiting(claim)
        running.cancel()
        await asyncio.wait([running])
    # Nobody listens now.
    token = message.headers["cadenza-result-token"]
    headers = {"cadenza-run-id": str(claim.run_id), "cadenza-result-token": token}
    await reply(place, "answers.lost", headers, "7")
    async with waiting(desk) as queues:
        outcome = await queues.dispatch(replace(claim, attempt=2))
    assert (outcome.status, outcome.body) == (RunStatus.SUCCESS, 7)
