"""Messages of a queue: verified however long they waited, and their results reported."""

from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from cadenza.adapters.system.clock import wall_clock
from cadenza.receive import NotReported, Rejected, reply_headers, report_result_async
from tests.receive.calls import BODY, receiver, signed

RUN = "019aa9f2-0000-7000-8000-000000000001"
WAITS = {"cadenza-run-id": RUN, "cadenza-result-token": "cdzr_x", "cadenza-reply-to": "answers"}


async def test_a_message_is_genuine_also_when_it_waited_for_hours() -> None:
    headers = await signed(sent_at=wall_clock() - timedelta(hours=6))
    call = receiver().verify_message({**headers, **WAITS}, BODY)
    assert (call.run_id, call.result_token, call.reply_to) == (RUN, "cdzr_x", "answers")
    assert call.json() == {"depth": 3}
    assert "cdzr_x" not in repr(call)
    with pytest.raises(Rejected):
        receiver().verify(headers, BODY)  # as a request it would be one that is sent again


async def test_fields_as_a_stream_has_them_are_read_too() -> None:
    headers = await signed()
    raw: dict[Any, Any] = {name.encode(): value.encode() for name, value in headers.items()}
    assert receiver().verify_message(raw, BODY.decode()).attempt == 1


async def test_what_was_changed_is_old_or_is_not_signed_is_rejected() -> None:
    headers = await signed(sent_at=wall_clock() - timedelta(days=8))
    with pytest.raises(Rejected, match="more than 7 days"):
        receiver().verify_message(headers, BODY)
    receiver().verify_message(headers, BODY, max_age=None)
    wrong: list[dict[str, str]] = [
        {},
        {**headers, "webhook-timestamp": "soon"},
        {**headers, "webhook-timestamp": "9" * 30},
        {**headers, "webhook-id": "other"},
        {**headers, "webhook-signature": "v1,AAAA"},
    ]
    for fields in wrong:
        with pytest.raises(Rejected):
            receiver().verify_message(fields, BODY, max_age=None)
    with pytest.raises(Rejected, match="not signed with one of our keys"):
        receiver().verify_message(headers, BODY + b" ", max_age=None)


async def test_a_result_is_reported_again_until_it_is_taken() -> None:
    asked: list[tuple[str, str, Any]] = []

    async def take(request: web.Request) -> web.Response:
        token = request.headers["Cadenza-Result-Token"]
        asked.append((request.path, token, await request.json()))
        taken = {"run_id": RUN, "status": "success"}
        return web.json_response(taken, status=503 if len(asked) == 1 else 200)

    app = web.Application()
    app.router.add_post("/{tail:.*}", take)
    call = receiver().verify_message({**await signed(), **WAITS}, BODY)
    async with TestServer(app) as server:
        await report_result_async(call, str(server.make_url("/")), {"rows": 4})
    wanted = {"status": "success", "body": {"rows": 4}, "message": None}
    assert asked == [(f"/api/v1/runs/{RUN}/result", "cdzr_x", wanted)] * 2


async def test_what_cadenza_refuses_is_told_with_its_words() -> None:
    async def refuse(_: web.Request) -> web.Response:
        return web.json_response({"detail": "the run has ended"}, status=409)

    app = web.Application()
    app.router.add_post("/{tail:.*}", refuse)
    call = receiver().verify_message({**await signed(), **WAITS}, BODY)
    async with TestServer(app) as server:
        with pytest.raises(NotReported, match="the run has ended") as error:
            await report_result_async(call, str(server.make_url("/")), status="failure")
    assert error.value.status == 409


async def test_a_redirect_and_a_strangers_answer_are_no_report() -> None:
    """A redirect is asked without the report, and may well lead to a page that answers 200."""
    seen: list[str] = []

    async def redirect(request: web.Request) -> web.Response:
        seen.append(request.method)
        raise web.HTTPFound("/login")

    async def page(request: web.Request) -> web.Response:
        seen.append(request.method)
        return web.Response(text="<h1>Welcome</h1>")

    app = web.Application()
    app.router.add_post("/api/{tail:.*}", redirect)
    app.router.add_route("*", "/{tail:.*}", page)
    call = receiver().verify_message({**await signed(), **WAITS}, BODY)
    async with TestServer(app) as server:
        with pytest.raises(NotReported, match="redirects to /login") as error:
            await report_result_async(call, str(server.make_url("/")))
        assert error.value.status == 302
        with pytest.raises(NotReported, match="not as Cadenza does"):
            await report_result_async(call, str(server.make_url("/elsewhere")))
    assert seen == ["POST", "POST"]


async def test_headers_that_would_smuggle_others_are_rejected() -> None:
    """They are not signed: only id, time and body are."""
    headers = await signed()
    for name in WAITS:
        with pytest.raises(Rejected):
            receiver().verify_message({**headers, **WAITS, name: "x\r\nX-Evil: 1"}, BODY)


async def test_a_run_that_does_not_wait_has_nothing_to_report_to() -> None:
    call = receiver().verify_message(await signed(), BODY)
    with pytest.raises(NotReported, match="await_result"):
        await report_result_async(call, "https://cadenza.example")
    with pytest.raises(NotReported, match="reply_to"):
        reply_headers(call)


async def test_a_reply_carries_run_token_and_status() -> None:
    call = receiver().verify_message({**await signed(), **WAITS}, BODY)
    assert reply_headers(call, "failure", "no paper") == {
        "cadenza-run-id": RUN,
        "cadenza-result-token": "cdzr_x",
        "cadenza-status": "failure",
        "cadenza-message": "no paper",
    }
