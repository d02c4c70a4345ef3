"""Publishing to Kafka: a cluster of librdkafka's own, which speaks the protocol over real sockets.

Debian has no Kafka. This one keeps what it is sent and answers as brokers do, but it is no Kafka:
no disks, no replicas, no passwords, no TLS.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from confluent_kafka import Consumer, Producer
from standardwebhooks import Webhook

from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.run import RunStatus
from tests.adapters.messaging.support import BODY, SECRET, dispatching, slot
from tests.factories import seconds

BROKERS = 3
LONG = 90.0  # seconds that a busy machine may take


@pytest.fixture(scope="module")
def cluster() -> Iterator[list[str]]:
    """Host and port of each of its brokers; it lives as long as the client that asked for it."""
    quiet = {"log_level": 0, "bootstrap.servers": "127.0.0.1:1"}
    client = Producer({**quiet, "test.mock.num.brokers": BROKERS})
    brokers = client.list_topics(timeout=LONG).brokers.values()
    yield [f"{broker.host}:{broker.port}" for broker in brokers]
    client.flush(LONG)


def target_of(place: str, topic: str) -> QueueTarget:
    return QueueTarget(f"kafka://{place}", topic, body=BODY, timeout=seconds(LONG))


def received(place: str, topic: str, count: int) -> list[tuple[str, dict[str, str], str]]:
    """Key, headers and body of so many messages."""
    about = {"group.id": topic, "auto.offset.reset": "earliest", "log_level": 0}
    consumer = Consumer({"bootstrap.servers": place, **about})
    try:
        consumer.subscribe([topic])
        found = consumer.consume(count, LONG)
    finally:
        consumer.close()
    return [
        (
            (message.key() or b"").decode(),
            {name.lower(): text.decode() for name, text in message.headers() or ()},
            (message.value() or b"").decode(),
        )
        for message in found
    ]


async def test_a_slot_is_one_signed_message_of_its_endpoint(cluster: list[str]) -> None:
    claims = [slot(target_of(cluster[0], "orders.signed"), number) for number in range(5)]
    async with dispatching() as queues:
        outcomes = [await queues.dispatch(claim) for claim in claims]
    assert {outcome.status for outcome in outcomes} == {RunStatus.SUCCESS}, outcomes
    messages = received(cluster[0], "orders.signed", 5)
    assert {key for key, _, _ in messages} == {str(claims[0].endpoint_id)}, (
        "one partition, in order"
    )
    keys = [headers["idempotency-key"] for _, headers, _ in messages]
    assert keys == [claim.idempotency_key for claim in claims]
    for _, headers, body in messages:
        assert Webhook(SECRET).verify(body, headers) == {"do": "count"}


async def test_brokers_that_the_cluster_names_are_judged_too(cluster: list[str]) -> None:
    """One port is open to us, and the cluster leads to others."""
    first, *others = (int(place.rpartition(":")[2]) for place in cluster)
    target = target_of(cluster[0], "orders.judged")
    async with dispatching(closed_ports=frozenset(others)) as queues:
        outcome = await queues.dispatch(slot(replace(target, timeout=seconds(90))))
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "blocked_address"), first
