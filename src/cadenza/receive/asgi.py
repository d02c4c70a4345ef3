"""For any ASGI application: middleware that lets only genuine calls through.

    app = VerifiedCalls(app, Receiver("whsec_…"))

The call is in the scope as `cadenza.call`; the body can be read as ever.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from cadenza.receive.verifying import Call, Receiver, Rejected

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
CALL = "cadenza.call"


class VerifiedCalls:
    def __init__(self, app: Application, receiver: Receiver) -> None:
        self._app = app
        self._receiver = receiver

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            body = await _body(self._receiver, receive)
            call = self._receiver.verify(_headers(scope), body)
        except Rejected as rejected:
            await _refuse(send, rejected)
            return
        await self._app({**scope, CALL: call}, _again(call, receive), send)


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


async def _body(receiver: Receiver, receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Rejected("the caller is gone")
        body += message.get("body", b"")
        receiver.check_size(len(body))
        if not message.get("more_body", False):
            return body


def _again(call: Call, receive: Receive) -> Receive:
    """The body once more for the application, then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": call.body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message


async def _refuse(send: Send, rejected: Rejected) -> None:
    headers = [(b"content-type", b"application/problem+json")]
    await send({"type": "http.response.start", "status": rejected.status, "headers": headers})
    await send({"type": "http.response.body", "body": rejected.problem})
