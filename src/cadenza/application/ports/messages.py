"""Message brokers: a connection publishes, and is told when the broker has taken a message."""

from asyncio import Event
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from cadenza.domain.queue_target import BrokerAddress
from cadenza.domain.value import value

Take = Callable[[Mapping[str, str]], Awaitable[None]]  # the fields of a reply


class BrokerFailure(Exception):
    """The broker did not take a message: one of a few kinds, and a sentence of ours."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


class BrokerGone(BrokerFailure):
    """The connection ended; whether the broker has the message is not known."""


@value
class Message:
    topic: str
    exchange: str
    key: str  # messages of one slot share it
    group: str  # messages of one endpoint share it, and keep their order where a broker has one
    headers: Mapping[str, str]
    body: bytes


class MessageBroker(Protocol):
    """One connection to one broker."""

    @property
    def leads_to(self) -> Sequence[tuple[str, int]]:
        """Hosts and ports that the client goes to by itself, to be judged before each message."""
        ...

    async def publish(self, message: Message) -> str:
        """Until the broker confirms; gives back what it calls the message."""
        ...

    async def take_replies(self, reply_to: str, take: Take, ready: Event) -> None:
        """Whatever arrives there, until it is cancelled; a reply is gone once it was taken. `ready`
        is set as soon as none is missed."""
        ...

    async def close(self) -> None: ...


Connect = Callable[[BrokerAddress, str | None, Sequence[str]], Awaitable[MessageBroker]]
