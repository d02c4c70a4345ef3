"""NATS JetStream: a message counts as published when a stream has acknowledged it.

Its `Nats-Msg-Id` is the idempotency key, so that a stream drops what it has seen within its window.
The client goes to the address that was judged, does not reconnect by itself, and so never follows
the addresses that a server tells it of.
"""

import asyncio
from collections.abc import Coroutine, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from nats.aio.client import Client
from nats.errors import AuthorizationError, Error, MaxPayloadError
from nats.js.errors import APIError, NoStreamResponseError

from cadenza.adapters.messaging.connecting import first_that_connects, tls_context
from cadenza.adapters.messaging.failures import not_connected, short
from cadenza.application.ports.messages import BrokerFailure, BrokerGone, Message, Take
from cadenza.domain.queue_target import BrokerAddress

CONNECT_SECONDS = 30
CLOSE_SECONDS = 0.5
CONFIRM_SECONDS = 3600  # the deadline of a run comes before it
GROUP = "cadenza"
INBOX = "_INBOX"  # where answers to us come


class _Client(Client):
    """Sends no password in the clear where TLS is asked for: the library believes a server, or
    whoever is on the way to it, that says it has none."""

    needs_tls = False

    def _connect_command(self) -> bytes:
        if self.needs_tls and not self._server_info.get("tls_required"):
            raise BrokerFailure("tls", "no secure connection: the server offers none")
        return super()._connect_command()


async def connect(
    address: BrokerAddress, password: str | None, addresses: Sequence[str]
) -> "NatsBroker":
    return await first_that_connects(addresses, lambda one: _connected(address, password, one))


async def _connected(address: BrokerAddress, password: str | None, host: str) -> "NatsBroker":
    options: dict[str, Any] = {"user": address.user, "password": password}
    if address.user is None:
        options = {"token": password}
    options |= {"tls": tls_context(), "tls_hostname": address.host}  # also where a server wants it
    place = f"[{host}]" if ":" in host else host
    client, connected = _Client(), False
    client.needs_tls = address.is_tls
    state = _State()

    async def end() -> None:
        state.end()

    async def heard(error: Exception) -> None:
        """The library would try again for minutes, and write to the log; a run says it."""
        if not connected:
            raise error
        state.hear(str(error))

    try:
        await client.connect(  # pyright: ignore[reportUnknownMemberType]
            [f"{'tls' if address.is_tls else 'nats'}://{place}:{address.port}"],
            name="cadenza",
            allow_reconnect=False,
            connect_timeout=CONNECT_SECONDS,
            error_cb=heard,
            disconnected_cb=end,
            closed_cb=end,
            **{name: value for name, value in options.items() if value is not None},
        )
        connected = True
    except (Error, OSError, asyncio.IncompleteReadError, ValueError) as error:
        if isinstance(error, AuthorizationError) or "authorization" in str(error).lower():
            raise BrokerFailure("refused", "NATS refuses us: check user and password") from error
        raise not_connected(error) from error
    finally:
        if not connected:
            # After a handshake that failed, the library waits for the end of what it never began.
            with suppress(Exception):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await client.close()
    return NatsBroker(client, state)


class _State:
    """What a server says beside its answers: that it ends, or that a subject is not for us."""

    def __init__(self) -> None:
        self._ended = False
        self._waiting: dict[asyncio.Future[None], str] = {}

    def end(self) -> None:
        self._ended = True
        for waiting in self._waiting:
            _fail(waiting, BrokerGone("connection", "the connection to NATS broke"))

    def hear(self, error: str) -> None:
        if "permissions violation" not in error.lower():
            return
        refusal = f"NATS refuses us: {short(error.removeprefix('nats: '))}"
        for waiting, subject in self._waiting.items():
            if f'"{subject}"' in error or INBOX in error:
                _fail(waiting, BrokerFailure("refused", refusal))

    @contextmanager
    def watched(self, subject: str) -> "Generator[asyncio.Future[None]]":
        """A future that fails when it ends, or refuses the subject."""
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[waiting] = subject
        if self._ended:
            self.end()
        try:
            yield waiting
        finally:
            del self._waiting[waiting]
            if waiting.done():
                waiting.exception()  # seen, whether or not it was waited for
            else:
                waiting.cancel()


def _fail(waiting: "asyncio.Future[None]", failure: BrokerFailure) -> None:
    if not waiting.done():
        waiting.set_exception(failure)


class NatsBroker:
    leads_to: Sequence[tuple[str, int]] = ()

    def __init__(self, client: Client, state: _State) -> None:
        self._client = client
        self._state = state
        self._stream: Any = client.jetstream()  # pyright: ignore[reportUnknownMemberType]

    async def publish(self, message: Message) -> str:
        headers = {**message.headers, "Nats-Msg-Id": message.key}
        sent = self._stream.publish(
            message.topic, message.body, timeout=CONFIRM_SECONDS, headers=headers
        )
        try:
            confirmed = await self._unless_refused(message.topic, sent)
        except NoStreamResponseError as error:
            fix = f"no stream takes the subject {message.topic!r}: create one for it"
            raise BrokerFailure("unroutable", fix) from error
        except APIError as error:
            why = short(error.description or "it failed")
            raise BrokerFailure("rejected", f"NATS says: {why}") from error
        except MaxPayloadError as error:
            raise BrokerFailure("rejected", "NATS takes no message that large") from error
        except (Error, OSError) as error:
            raise BrokerGone("connection", "the connection to NATS broke") from error
        return f"{confirmed.stream}:{confirmed.seq}"

    async def _unless_refused(self, subject: str, request: Coroutine[Any, Any, Any]) -> Any:
        """The library waits on for an answer where its connection has ended, or none may come. What
        the server said first counts: it refuses a subscription before it says that it has it."""
        answer = asyncio.create_task(request)
        try:
            with self._state.watched(subject) as trouble:
                await asyncio.wait([answer, trouble], return_when=asyncio.FIRST_COMPLETED)
                return await (trouble if trouble.done() else answer)
        finally:
            answer.cancel()

    async def take_replies(self, reply_to: str, take: Take, ready: asyncio.Event) -> None:
        """Of the moment: what is said while no worker listens is not heard."""
        replies: Any = None
        try:
            replies = await self._unless_refused(reply_to, self._subscribed(reply_to))
            ready.set()
            await self._unless_refused(reply_to, self._taken(replies, take))
        except (Error, OSError) as error:
            raise BrokerGone("connection", "the connection to NATS broke") from error
        finally:
            # Else the server goes on to send it a share of the replies, which nobody would read.
            if replies is not None:
                with suppress(Error, OSError):
                    await replies.unsubscribe()
        raise BrokerGone("connection", "the connection to NATS broke")

    async def _subscribed(self, reply_to: str) -> Any:
        subscription: Any = await self._client.subscribe(reply_to, queue=GROUP)  # pyright: ignore
        try:
            await self._client.flush()
        except BaseException:
            with suppress(Error, OSError):
                await subscription.unsubscribe()
            raise
        return subscription

    async def _taken(self, replies: Any, take: Take) -> None:
        async for reply in replies.messages:
            headers: dict[str, str] = reply.headers or {}
            fields = {name.lower(): value for name, value in headers.items()}
            await take({**fields, "body": reply.data.decode("utf-8", "replace")})

    async def close(self) -> None:
        with suppress(Error, OSError, asyncio.CancelledError):
            await self._client.close()
