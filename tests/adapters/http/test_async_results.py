"""A 202 that is waited for: by its Location, by a report with the token, or up to the deadline."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from cadenza.adapters.http import polling
from cadenza.domain.errors import Refused
from cadenza.domain.run import Outcome, RunStatus
from cadenza.domain.target import HttpTarget, Secret
from tests.adapters.http.support import Caller, Request, Talk, Target, answering, both, serving
from tests.factories import seconds
from tests.results import ResultDesk


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polling, "FIRST_GAP", 0.01)


@asynccontextmanager
async def waiting() -> AsyncIterator[tuple[Target, Caller, ResultDesk]]:
    desk = ResultDesk()
    async with both(results=desk.waiting) as (target, caller):
        try:
            yield target, caller, desk
        finally:
            await desk.waiting.end()


def accepting(location: str | None = None, **headers: str) -> Any:
    more = {} if location is None else {"Location": location}
    return answering("", "202 Accepted", **more, **headers)


async def call(
    desk: ResultDesk, caller: Caller, url: str, name: str = "orders", **fields: Any
) -> Outcome:
    target = HttpTarget(url, **{"timeout": seconds(10), "awaits_result": True, **fields})
    return await caller.dispatcher.dispatch(await desk.claim(target, name))


async def test_without_being_asked_to_wait_a_202_is_a_success() -> None:
    async with waiting() as (target, caller, desk):
        url = target.on("/work", accepting("/status"))
        outcome = await call(desk, caller, url, awaits_result=False)
    assert (outcome.status, outcome.status_code) == (RunStatus.SUCCESS, 202)
    assert "cadenza-result-token" not in target.requests[0].headers
    assert [request.path for request in target.requests] == ["/work"]


async def test_its_location_is_asked_until_it_has_the_result() -> None:
    asked = 0

    async def status(talk: Talk, request: Request) -> None:
        nonlocal asked
        asked += 1
        if asked < 3:
            await talk.answer("", "202 Accepted")
        else:
            await talk.answer('{"rows": 7}', Content_Type="application/json")

    async with waiting() as (target, caller, desk):
        target.on("/status/1", status)
        url = target.on("/work", accepting("/status/1"))
        outcome = await call(desk, caller, url, method="POST", body="{}")
    assert (outcome.status, outcome.status_code, outcome.body) == (
        *(RunStatus.SUCCESS, 200, {"rows": 7}),
    )
    first, *polls = target.requests
    assert [request.method for request in polls] == ["GET"] * 3
    assert all(request.body == b"" for request in polls)
    key = first.headers["idempotency-key"]
    assert {request.headers["idempotency-key"] for request in polls} == {key}


async def test_what_its_location_says_in_the_end_is_judged_like_any_answer() -> None:
    async with waiting() as (target, caller, desk):
        target.on("/status", answering('{"ok": false}', Content_Type="application/json"))
        target.on("/gone", answering("", "410 Gone"))
        for location, kind in (("/status", "assertion"), ("/gone", "status")):
            url = target.on("/work", accepting(location))
            outcome = await call(desk, caller, url, name=kind, success_when="body.ok")
            assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, kind)


async def test_a_location_that_is_away_for_a_moment_is_asked_again() -> None:
    asked = 0

    async def status(talk: Talk, request: Request) -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            talk.writer.close()
        elif asked == 2:
            await talk.answer("", "503 Service Unavailable", Retry_After="0")
        else:
            await talk.answer("done")

    async with waiting() as (target, caller, desk):
        target.on("/status", status)
        outcome = await call(desk, caller, target.on("/work", accepting("/status")))
    assert (outcome.status, outcome.body) == (RunStatus.SUCCESS, "done")


async def test_a_location_of_another_origin_is_not_asked_unless_redirects_are_followed() -> None:
    async with waiting() as (target, caller, desk), serving() as other:
        url = target.on("/work", accepting(other.url("/status")))
        secret = {"X-Key": Secret("sesame")}
        outcome = await call(desk, caller, url, secret_headers=secret)
        assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "protocol")
        assert "another origin" in str(outcome.error_message)
        assert other.requests == []

        followed = await call(
            desk, caller, url, name="other", secret_headers=secret, max_redirects=1
        )
        assert followed.status is RunStatus.SUCCESS
        (request,) = other.requests
        assert "x-key" not in request.headers
        assert "cadenza-result-token" not in request.headers, "who has it could report"


async def test_a_location_that_may_not_be_called_is_a_failure() -> None:
    async with waiting() as (target, caller, desk):
        url = target.on("/work", accepting("http://169.254.169.254/latest"))
        outcome = await call(desk, caller, url, max_redirects=3)
    assert outcome.error_kind == "blocked_address"


async def test_a_report_with_the_token_ends_it_at_once() -> None:
    async with waiting() as (target, caller, desk):
        url = target.on("/work", accepting())
        claim = await desk.claim(HttpTarget(url, timeout=seconds(30), awaits_result=True))
        running = asyncio.create_task(caller.dispatcher.dispatch(claim))
        await desk.until_waiting(claim)
        headers = target.requests[0].headers
        assert headers["cadenza-run-id"] == str(claim.run_id)
        await desk.report(claim, headers["cadenza-result-token"], body={"rows": 3})
        outcome = await running
    assert (outcome.status, outcome.body) == (RunStatus.SUCCESS, {"rows": 3})


async def test_a_reported_failure_is_one_and_success_when_holds_for_reports() -> None:
    async with waiting() as (target, caller, desk):
        url = target.on("/work", accepting())
        for status, body, kind in (
            ("failure", {"ok": True}, "reported"),
            ("success", {"ok": False}, "assertion"),
        ):
            fields = {"timeout": seconds(30), "awaits_result": True, "success_when": "body.ok"}
            claim = await desk.claim(HttpTarget(url, **fields), name=status)
            running = asyncio.create_task(caller.dispatcher.dispatch(claim))
            await desk.until_waiting(claim)
            token = target.requests[-1].headers["cadenza-result-token"]
            await desk.report(claim, token, status, body)
            outcome = await running
            assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, kind)
            assert outcome.body == body


async def test_past_its_deadline_it_is_a_timeout_and_takes_no_report() -> None:
    async with waiting() as (target, caller, desk):
        url = target.on("/work", accepting())
        claim = await desk.claim(HttpTarget(url, timeout=seconds(0.3), awaits_result=True))
        outcome = await caller.dispatcher.dispatch(claim)
        assert (outcome.status, outcome.error_kind) == (RunStatus.TIMEOUT, "no_result")
        assert outcome.error_message == "it was accepted, but has no result within 0.3 s"
        with pytest.raises(Refused, match="has ended"):
            await desk.report(claim, target.requests[0].headers["cadenza-result-token"])


async def test_the_next_attempt_does_not_send_what_was_reported_to_the_lost_one() -> None:
    async with waiting() as (target, caller, desk):
        url = target.on("/work", accepting())
        claim = await desk.claim(HttpTarget(url, timeout=seconds(30), awaits_result=True))
        running = asyncio.create_task(caller.dispatcher.dispatch(claim))
        await desk.until_waiting(claim)
        running.cancel()  # its worker is lost
        await asyncio.wait([running])
        await desk.report(claim, target.requests[0].headers["cadenza-result-token"], body=5)
        outcome = await caller.dispatcher.dispatch(replace(claim, attempt=2))
    assert (outcome.status, outcome.body) == (RunStatus.SUCCESS, 5)
    assert len(target.requests) == 1


async def test_an_answer_that_is_no_202_is_the_result() -> None:
    async with waiting() as (target, caller, desk):
        outcome = await call(desk, caller, target.url("/work"))
    assert (outcome.status, outcome.body) == (RunStatus.SUCCESS, {"ok": True})
