"""For any WSGI application (Flask, Django): middleware that lets only genuine calls through.

    app.wsgi_app = VerifiedCalls(app.wsgi_app, Receiver("whsec_…"))

The call is in the environment as `cadenza.call`; the body can be read as ever.
"""

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any

from cadenza.receive.verifying import Call, Receiver, Rejected

Environment = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environment, StartResponse], Iterable[bytes]]
CALL = "cadenza.call"
_PHRASES = {401: "Unauthorized", 409: "Conflict", 413: "Content Too Large"}


class VerifiedCalls:
    def __init__(self, app: Application, receiver: Receiver) -> None:
        self._app = app
        self._receiver = receiver

    def __call__(self, environ: Environment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            call = call_of(self._receiver, environ)
        except Rejected as rejected:
            status = f"{rejected.status} {_PHRASES.get(rejected.status, 'Rejected')}"
            start_response(status, [("Content-Type", "application/problem+json")])
            return [rejected.problem]
        again = {CALL: call, "wsgi.input": BytesIO(call.body)}
        return self._app({**environ, **again}, start_response)


def call_of(receiver: Receiver, environ: Environment) -> Call:
    """The call that a request is; Rejected where it is none."""
    body = environ["wsgi.input"].read(_length(receiver, environ))
    headers = {
        name.removeprefix("HTTP_").replace("_", "-"): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    return receiver.verify(headers, body)


def _length(receiver: Receiver, environ: Environment) -> int:
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
    except ValueError as error:
        raise Rejected("its length is no number") from error
    receiver.check_size(length)
    return max(0, length)
