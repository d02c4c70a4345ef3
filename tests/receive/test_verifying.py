"""What a receiver lets through, and what it says to the rest."""

import json
from collections.abc import Iterable
from datetime import timedelta
from io import BytesIO
from typing import Annotated, Any

import httpx2 as httpx
import pytest
from fastapi import Depends, FastAPI
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cadenza.adapters.signing.standard_webhooks import new_signing_secret
from cadenza.adapters.system.clock import wall_clock
from cadenza.domain.errors import InvalidInput
from cadenza.receive import Call, Receiver, Rejected, asgi, wsgi
from cadenza.receive.fastapi import VerifiedCall
from cadenza.receive.starlette import received
from tests.factories import NOON
from tests.receive.calls import BODY, SECRET, receiver, signed


async def test_a_genuine_call_says_what_it_is() -> None:
    headers = await signed(key=f"the-endpoint:{NOON.isoformat()}", attempt=2)
    call = receiver().verify(headers, BODY)
    assert (call.endpoint_id, call.slot_at, call.attempt) == ("the-endpoint", NOON, 2)
    assert call.key == headers["webhook-id"]
    assert call.json() == {"depth": 3}


async def test_while_keys_are_changed_both_are_good() -> None:
    both = Receiver(new_signing_secret().value, SECRET.value)
    assert both.verify(await signed(), BODY).slot_at == NOON


async def test_another_key_another_body_or_another_time_is_rejected() -> None:
    stranger = Receiver(new_signing_secret().value)
    with pytest.raises(Rejected):
        stranger.verify(await signed(), BODY)
    with pytest.raises(Rejected):
        receiver().verify(await signed(), BODY + b" ")
    for off in (timedelta(minutes=6), -timedelta(minutes=6)):
        with pytest.raises(Rejected, match="timestamp"):
            receiver().verify(await signed(sent_at=wall_clock() + off), BODY)
    with pytest.raises(Rejected, match="larger"):
        receiver(max_body=3).verify(await signed(), BODY)


async def test_what_is_signed_but_no_slot_is_rejected() -> None:
    with pytest.raises(Rejected, match="not a call of Cadenza"):
        receiver().verify(await signed(key="some other webhook"), BODY)


@given(
    headers=st.dictionaries(
        st.sampled_from(
            ["webhook-id", "webhook-timestamp", "webhook-signature", "cadenza-attempt"]
        ),
        st.text(max_size=40) | st.sampled_from(["v1,", "v1,é", "1e999", "nan", "v1,YQ==", "-1"]),
    ),
    body=st.binary(max_size=20),
)
def test_nothing_hostile_gets_through_or_breaks_it(headers: dict[str, str], body: bytes) -> None:
    with pytest.raises(Rejected):
        receiver().verify(headers, body)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_é", "not base64!"])
def test_a_secret_that_is_none_is_said_at_once(secret: str) -> None:
    if secret == "not base64!":  # base64 reads past what it does not know
        secret = "a"
    with pytest.raises(InvalidInput):
        Receiver(secret)
    with pytest.raises(InvalidInput):
        Receiver()


# --- In applications ------------------------------------------------------------------------


def fastapi_app() -> Any:
    app, verified = FastAPI(), VerifiedCall(receiver())

    @app.post("/")
    async def queue(call: Annotated[Call, Depends(verified)], request: Request) -> dict[str, Any]:
        return {"key": call.key, "body": await request.json()}

    return app


def starlette_app() -> Any:
    async def queue(request: Request) -> JSONResponse:
        call = await received(receiver(), request)
        return JSONResponse({"key": call.key, "body": await request.json()})

    return Starlette(routes=[Route("/", queue, methods=["POST"])])


def asgi_app() -> Any:
    async def queue(scope: Any, receive: Any, send: Any) -> None:
        body = (await receive())["body"]
        answer = json.dumps({"key": scope[asgi.CALL].key, "body": json.loads(body)}).encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": answer})

    return asgi.VerifiedCalls(queue, receiver())


@pytest.mark.parametrize("make", [fastapi_app, starlette_app, asgi_app])
async def test_an_application_gets_the_call_and_its_body(make: Any) -> None:
    transport = httpx.ASGITransport(app=make())
    async with httpx.AsyncClient(transport=transport, base_url="http://us") as client:
        headers = await signed()
        good = await client.post("/", headers=headers, content=BODY)
        assert good.json() == {"key": headers["webhook-id"], "body": {"depth": 3}}
        bad = await client.post("/", headers=headers, content=BODY + b" ")
        assert bad.status_code == 401
        large = await client.post("/", headers=headers, content=b"x" * (1024 * 1024 + 1))
        assert large.status_code == 413


async def test_a_wsgi_application_gets_the_call_and_its_body() -> None:
    def queue(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        start("200 OK", [])
        return [environ[wsgi.CALL].key.encode(), environ["wsgi.input"].read()]

    app, headers = wsgi.VerifiedCalls(queue, receiver()), await signed()
    names = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}

    def ask(body: bytes, length: str) -> tuple[str, list[bytes]]:
        said: list[str] = []
        environ = {**names, "wsgi.input": BytesIO(body), "CONTENT_LENGTH": length}
        answer = list(app(environ, lambda status, _: said.append(status)))
        return said[0], answer

    assert ask(BODY, str(len(BODY))) == ("200 OK", [headers["webhook-id"].encode(), BODY])
    assert ask(BODY + b" ", str(len(BODY) + 1))[0] == "401 Unauthorized"
    assert ask(BODY, "a lot")[0] == "401 Unauthorized"
    assert ask(BODY, "99999999")[0] == "413 Content Too Large"
