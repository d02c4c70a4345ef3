"""Checks of a broker as a target before it is stored: what is wrong with it, and the fix."""

import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import NoReturn
from urllib.parse import urlsplit

from cadenza.domain.errors import InvalidInput
from cadenza.domain.queue_target import SCHEMES, Broker, QueueTarget, broker_address
from cadenza.domain.secret import Secret
from cadenza.domain.target import MAX_TIMEOUT, HttpTarget
from cadenza.domain.target_validation import (
    MAX_RESULT_TIME,
    MAX_URL,
    check_body,
    check_headers,
    check_http_target,
    check_storable,
    check_timeout,
)

MAX_TOPIC = 250
MAX_PASSWORD = 1024
_NATS_SUBJECT = re.compile(r"[^\s.*>]+(\.[^\s.*>]+)*")
_KAFKA_TOPIC = re.compile(r"[A-Za-z0-9._-]+")
_NO_REPLIES = "Kafka has no reply queue here: consumers report with the token (await_result: true)"


def queue_checks(
    target: QueueTarget, closed_ports: Collection[int]
) -> Iterator[Callable[[], None]]:
    """One for each field or two, so that all that are wrong can be told at once."""
    yield partial(_check_address, target, closed_ports)
    if target.password is not None:
        yield partial(_check_password, target.password)
    yield partial(check_headers, target.headers, {})
    yield partial(check_body, target.body)
    yield partial(check_timeout, target.timeout, MAX_RESULT_TIME if target.waits else MAX_TIMEOUT)


def _check_address(target: QueueTarget, closed_ports: Collection[int]) -> None:
    """Which topics there can be depends on the kind of broker."""
    _check_url(target.url, closed_ports)
    broker = broker_address(target.url).broker
    _check_topic("topic", target.topic, broker)
    if target.exchange:
        if broker is not Broker.RABBITMQ:
            raise InvalidInput("exchange", target.exchange, "only RabbitMQ has exchanges")
        _check_topic("exchange", target.exchange, broker)
    if target.reply_to is not None:
        _check_reply_to(target.reply_to, target.topic, broker)


def _check_reply_to(reply_to: str, topic: str, broker: Broker) -> None:
    if broker is Broker.KAFKA:
        raise InvalidInput("reply_to", reply_to, _NO_REPLIES)
    _check_topic("reply_to", reply_to, broker)
    if reply_to == topic:
        fix = "it is the topic itself: consumers' answers need a place of their own"
        raise InvalidInput("reply_to", reply_to, fix)


def _check_url(url: str, closed_ports: Collection[int]) -> None:
    if len(url) > MAX_URL:
        _bad_url(url, f"{len(url)} characters; {MAX_URL} are the most")
    try:
        parts = urlsplit(url)
        password, query = parts.password, parts.query or parts.fragment
    except ValueError as error:
        _bad_url(url, f"it cannot be read: {error}")
    if parts.scheme not in SCHEMES:
        schemes = ", ".join(f"{scheme}://" for scheme in SCHEMES)
        _bad_url(url, f"it must begin with one of {schemes}")
    if password is not None:
        _bad_url(url, "it holds a password: give it as `password`, which is stored encrypted")
    if query:
        _bad_url(url, "what follows ? or # is not read; leave it out")
    check_storable("queue", url)
    _check_place(url, parts.netloc.rpartition("@")[2], closed_ports)
    address = broker_address(url)
    if address.broker is Broker.REDIS and not re.fullmatch(r"[0-9]{0,5}", address.path):
        _bad_url(url, "after the host only the number of a database may stand, like /0")
    if address.broker in (Broker.NATS, Broker.KAFKA) and address.path:
        _bad_url(url, "nothing may stand after the host; a topic has a field of its own")


def _check_place(url: str, place: str, closed_ports: Collection[int]) -> None:
    """Host and port, by the rules for those of HTTP."""
    try:
        check_http_target(HttpTarget(f"http://{place}/"), closed_ports=closed_ports)
    except InvalidInput as error:
        _bad_url(url, error.fix)
    if (port := broker_address(url).port) in closed_ports:
        _bad_url(url, f"the installation's admin has closed port {port}")


def _check_topic(field: str, topic: str, broker: Broker) -> None:
    if not topic or len(topic) > MAX_TOPIC:
        raise InvalidInput(field, topic, f"1 to {MAX_TOPIC} characters")
    check_storable(field, topic)
    if not topic.isprintable():
        raise InvalidInput(field, topic, "no control characters")
    if broker is Broker.NATS and _NATS_SUBJECT.fullmatch(topic) is None:
        fix = "a subject is words with dots between them, without spaces, * and >"
        raise InvalidInput(field, topic, fix)
    if broker is Broker.KAFKA and _KAFKA_TOPIC.fullmatch(topic) is None:
        raise InvalidInput(field, topic, "letters, digits, dots, hyphens and _")
    if len(topic.encode()) > MAX_TOPIC:  # RabbitMQ counts bytes
        raise InvalidInput(field, topic, f"at most {MAX_TOPIC} bytes")


def _check_password(password: Secret) -> None:
    if not password.value.strip() or len(password.value) > MAX_PASSWORD:
        raise InvalidInput("password", password, f"1 to {MAX_PASSWORD} characters")
    try:
        check_storable("password", password.value)
    except InvalidInput as error:
        raise InvalidInput("password", password, error.fix) from error


def _bad_url(url: str, fix: str) -> NoReturn:
    raise InvalidInput("queue", url, fix)
