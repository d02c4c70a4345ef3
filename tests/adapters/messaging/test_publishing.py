"""Publishing to real brokers: confirmed, refused, silent, restarted."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import aio_pika
import nats
import pytest
from nats.js.api import DiscardPolicy
from redis.asyncio import Redis
from standardwebhooks import Webhook

from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.run import RunStatus
from cadenza.domain.target import Secret
from tests.adapters.messaging.conftest import PASSWORD
from tests.adapters.messaging.support import (
    BODY,
    SECRET,
    NatsPlace,
    Place,
    RabbitPlace,
    RedisPlace,
    dispatching,
    slot,
)
from tests.factories import seconds
from tests.ports import free_port

PLACES: dict[str, type[Place]] = {"redis": RedisPlace, "rabbitmq": RabbitPlace, "nats": NatsPlace}
MakePlace = Callable[[str], Place]


@pytest.fixture(params=PLACES)
def place_of(request: pytest.FixtureRequest) -> MakePlace:
    kind: str = request.param
    server = request.getfixturevalue(f"{kind}_broker")
    return lambda topic: PLACES[kind](server, topic)


async def test_a_slot_is_one_signed_message(place_of: MakePlace) -> None:
    place = place_of("orders.signed")
    await place.open()
    claim = slot(replace(place.target, headers={"X-Shop": "north"}))
    async with dispatching() as queues:
        outcome = await queues.dispatch(claim)
    assert (outcome.status, outcome.error_message) == (RunStatus.SUCCESS, None)
    (message,) = await place.received()
    assert message.body == BODY
    headers = message.headers
    assert headers["idempotency-key"] == claim.idempotency_key
    assert headers["cadenza-attempt"] == "1"
    assert headers["cadenza-slot"] == "2026-03-02T12:00:00Z"
    assert headers["x-shop"] == "north"
    assert headers["content-type"] == "application/json"
    assert Webhook(SECRET).verify(message.body, headers) == {"do": "count"}


async def test_connections_are_kept_and_made_again_after_a_restart(place_of: MakePlace) -> None:
    place = place_of("orders.restarted")
    await place.open()
    async with dispatching() as queues:
        first = await queues.dispatch(slot(place.target, 1))
        place.server.stop()
        down = await queues.dispatch(slot(place.target, 2))
        place.server.start()
        again = await queues.dispatch(slot(place.target, 2, attempt=2))
        third = await queues.dispatch(slot(place.target, 3))
    assert first.status is again.status is third.status is RunStatus.SUCCESS, (first, again, third)
    assert down.status is RunStatus.FAILURE
    assert down.error_kind in ("connect", "connection"), down
    keys = [message.headers["idempotency-key"] for message in await place.received()]
    assert set(keys) == {slot(place.target, number).idempotency_key for number in (1, 2, 3)}


async def test_many_slots_share_a_connection_and_each_is_there(place_of: MakePlace) -> None:
    place = place_of("orders.many")
    await place.open()
    async with dispatching() as queues:
        claims = [slot(place.target, number) for number in range(60)]
        outcomes = await asyncio.gather(*(queues.dispatch(claim) for claim in claims))
    assert {outcome.status for outcome in outcomes} == {RunStatus.SUCCESS}
    keys = {message.headers["idempotency-key"] for message in await place.received()}
    assert keys == {claim.idempotency_key for claim in claims}


async def test_a_silent_broker_is_a_timeout_and_not_the_next_ones_trouble(
    place_of: MakePlace,
) -> None:
    place = place_of("orders.silent")
    await place.open()
    target = replace(place.target, timeout=seconds(1))
    async with dispatching() as queues:
        assert (await queues.dispatch(slot(place.target, 1))).status is RunStatus.SUCCESS
        place.server.freeze()
        try:
            silent = await queues.dispatch(slot(target, 2))
        finally:
            place.server.thaw()
        after = await queues.dispatch(slot(place.target, 3))
    assert (silent.status, silent.error_kind) == (RunStatus.TIMEOUT, "timeout")
    assert silent.error_message == "the broker did not confirm the message within 1 s"
    assert after.status is RunStatus.SUCCESS, after


async def test_what_no_queue_takes_is_a_failure_that_names_the_fix(
    rabbitmq_broker: Any, nats_broker: Any
) -> None:
    rabbit, stream = RabbitPlace(rabbitmq_broker, "nobody"), NatsPlace(nats_broker, "nobody.here")
    await RabbitPlace(rabbitmq_broker, "somebody").open()
    async with dispatching() as queues:
        outcomes = [await queues.dispatch(slot(place.target)) for place in (rabbit, stream)]
        no_exchange = await queues.dispatch(slot(replace(rabbit.target, exchange="gone")))
        somebody = replace(rabbit.target, topic="somebody")
        still = await queues.dispatch(slot(somebody))
    assert [outcome.error_kind for outcome in outcomes] == ["unroutable", "unroutable"]
    assert (
        outcomes[0].error_message
        == "no queue of that name takes 'nobody': declare and bind a queue"
    )
    assert (
        outcomes[1].error_message == "no stream takes the subject 'nobody.here': create one for it"
    )
    assert no_exchange.error_kind == "rejected"
    assert "no exchange 'gone'" in str(no_exchange.error_message)
    assert still.status is RunStatus.SUCCESS, "the channel of the others goes on"


async def test_a_stream_of_another_type_is_rejected_with_the_brokers_words(
    redis_broker: Any,
) -> None:
    place = RedisPlace(redis_broker, "a-list")
    async with Redis(port=redis_broker.port, db=3, password=PASSWORD) as client:
        await client.lpush("a-list", "x")
    async with dispatching() as queues:
        outcome = await queues.dispatch(slot(place.target))
    assert outcome.error_kind == "rejected"
    assert "wrong kind of value" in str(outcome.error_message)


async def test_a_redis_that_is_full_rejects_in_its_words_and_takes_the_next(
    redis_broker: Any,
) -> None:
    place = RedisPlace(redis_broker, "orders.full")
    async with Redis(port=redis_broker.port, password=PASSWORD) as client, dispatching() as queues:
        await client.config_set("maxmemory", "1")
        try:
            full = await queues.dispatch(slot(place.target))
        finally:
            await client.config_set("maxmemory", "0")
        after = await queues.dispatch(slot(place.target, 1))
    assert full.error_kind == "rejected", full
    assert "maxmemory" in str(full.error_message)
    assert after.status is RunStatus.SUCCESS


async def test_a_rabbitmq_queue_that_is_full_rejects_and_the_others_go_on(
    rabbitmq_broker: Any,
) -> None:
    full, other = (RabbitPlace(rabbitmq_broker, f"orders.{name}") for name in ("full", "other"))
    await other.open()
    limits = {"x-max-length": 1, "x-overflow": "reject-publish"}
    url = f"amqp://guest:guest@127.0.0.1:{rabbitmq_broker.port}/"
    async with await aio_pika.connect(url) as connection:
        channel = await connection.channel()
        await channel.declare_queue(full.topic, durable=True, arguments=dict(limits))
    async with dispatching() as queues:
        first, second = [await queues.dispatch(slot(full.target, number)) for number in range(2)]
        after = await queues.dispatch(slot(other.target))
    assert first.status is RunStatus.SUCCESS, first
    assert second.error_kind == "rejected", second
    assert "length limit" in str(second.error_message)
    assert after.status is RunStatus.SUCCESS


async def test_a_nats_stream_that_is_full_rejects_in_its_words(nats_broker: Any) -> None:
    place = NatsPlace(nats_broker, "orders.full")
    url = f"nats://127.0.0.1:{nats_broker.port}"
    client = await nats.connect(url, user="shop", password=PASSWORD)
    limits = {"max_msgs": 1, "discard": DiscardPolicy.NEW}
    await client.jetstream().add_stream(name="orders-full", subjects=[place.topic], **limits)
    await client.close()
    async with dispatching() as queues:
        first, second = [await queues.dispatch(slot(place.target, number)) for number in range(2)]
    assert first.status is RunStatus.SUCCESS, first
    assert second.error_kind == "rejected", second
    assert "maximum messages exceeded" in str(second.error_message)


async def test_a_wrong_password_is_refused_and_not_repeated_to_anybody(place_of: MakePlace) -> None:
    place = place_of("orders.refused")
    secret = "hunter2-not-the-password"
    user_url = place.target.url.replace("amqp://", "amqp://guest@")
    async with dispatching() as queues:
        claim = slot(replace(place.target, url=user_url, password=Secret(secret)))
        outcome = await queues.dispatch(claim)
    assert outcome.error_kind == "refused", outcome
    assert secret not in repr(outcome)


@pytest.mark.parametrize("scheme", ["redis", "amqp", "nats", "kafka"])
async def test_where_nobody_listens_is_a_failure(scheme: str) -> None:
    target = QueueTarget(f"{scheme}://127.0.0.1:{free_port()}", "orders", timeout=seconds(90))
    async with dispatching() as queues:
        outcome = await queues.dispatch(slot(target))
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "connect"), outcome
    assert "127.0.0.1" not in str(outcome.error_message)


@pytest.mark.parametrize("scheme", ["redis", "rediss", "amqp", "nats", "nats+tls", "kafka"])
async def test_an_address_that_may_not_be_called_is_not(scheme: str) -> None:
    """The same guard as HTTP's: by number, by name, and metadata whatever is open."""
    places = ("127.0.0.1", "localhost", "169.254.169.254", "10.0.0.7")
    async with dispatching("192.168.7.0/24") as queues:
        for place in places:
            outcome = await queues.dispatch(slot(QueueTarget(f"{scheme}://{place}", "orders")))
            assert outcome.error_kind == "blocked_address", (place, outcome)
            assert place not in str(outcome.error_message)


async def test_something_else_than_a_broker_is_a_failure_in_time() -> None:
    """A server that speaks, but not as a broker does."""

    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 10)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(babble, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, dispatching() as queues:
        for scheme in ("redis", "amqp", "nats"):
            target = QueueTarget(f"{scheme}://127.0.0.1:{port}", "orders", timeout=seconds(5))
            outcome = await queues.dispatch(slot(target))
            assert outcome.failed, scheme
            assert outcome.error_kind in ("connect", "refused", "connection", "timeout"), outcome


@pytest.mark.parametrize(
    ("scheme", "library", "adapter"),
    [
        ("redis", "redis.asyncio", "redis_streams"),
        ("amqp", "aio_pika", "rabbitmq"),
        ("nats", "nats.aio.client", "nats_jetstream"),
        ("kafka", "aiokafka", "kafka"),
    ],
)
async def test_a_missing_extra_is_a_failure_that_names_it(
    monkeypatch: pytest.MonkeyPatch, scheme: str, library: str, adapter: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"cadenza.adapters.messaging.{adapter}", raising=False)
    async with dispatching() as queues:
        outcome = await queues.dispatch(slot(QueueTarget(f"{scheme}://127.0.0.1:1", "orders")))
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "not_installed")
    extra = "rabbitmq" if scheme == "amqp" else scheme
    assert f"pip install 'cadenza[{extra}]'" in str(outcome.error_message)
