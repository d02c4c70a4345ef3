"""For a Starlette endpoint: `call = await received(receiver, request)`."""

from starlette.exceptions import HTTPException
from starlette.requests import Request

from cadenza.receive.verifying import Call, Receiver, Rejected


async def received(receiver: Receiver, request: Request) -> Call:
    """The call that a request is; an answer with 401 where it is none."""
    try:
        body = b""
        async for chunk in request.stream():
            body += chunk
            receiver.check_size(len(body))
        request._body = body  # pyright: ignore[reportPrivateUsage]  # noqa: SLF001 - as request.body() keeps it
        return receiver.verify(request.headers, body)
    except Rejected as rejected:
        raise HTTPException(rejected.status, rejected.why) from rejected
