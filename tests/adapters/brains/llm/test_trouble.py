"""Providers that fail in every way: the session is stored, the next is normal, no key is seen."""

import gzip
import json
import logging
from typing import Any

import pytest

from cadenza.adapters.brains.llm.options import Provider as Kind
from cadenza.domain.session import SessionEnd
from tests.adapters.brains.llm.provider import Answer, Cut, Endless, Hang, Raw, Reply, script
from tests.adapters.brains.llm.support import (
    FASTER,
    KEY,
    SUBMITS,
    Scene,
    both_modes,
    every_kind,
    scene,
)
from tests.factories import seconds

STREAM = b'data: {"id": "x", "choices": []}\n\ndata: [DONE]\n\n'
ACTS = Answer([FASTER])


def refusal(message: str, status: int = 400, **headers: str) -> Raw:
    """An error in a form that every library reads."""
    error = {"type": "error", "message": message, "code": status}
    return Raw(status, json.dumps({"type": "error", "error": error}).encode(), headers=headers)


TROUBLE: dict[str, Reply] = {
    "HTTP 429": refusal("slow down", 429),
    "HTTP 500": refusal("oops", 500),
    "HTTP 503": Raw(503, b"<html>Bad gateway</html>", "text/html"),
    "HTTP 529": refusal("overloaded", 529),
    "HTTP 401": refusal(f"Incorrect API key provided: {KEY}", 401),
    "HTTP 404": refusal("no such model", 404),
    "redirects elsewhere": Raw(302, headers={"Location": "http://127.0.0.1:9/elsewhere"}),
    "broke off": Cut(),
    "longer than 2000000 bytes": Endless(),
    "compressed": Raw(body=gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"}),
    "protocol": Raw(body=b'{"id": "x", "cho'),
}
NOT_THE_PROTOCOL: dict[str, Reply] = {
    "nothing": Raw(),
    "null": Raw(body=b"null"),
    "a list": Raw(body=b"[]"),
    "an empty object": Raw(body=b"{}"),
    "plain text": Raw(body=b"hello", content_type="text/plain"),
    "a page": Raw(body=b"<html></html>", content_type="text/html"),
    "a stream that nobody asked for": Raw(body=STREAM, content_type="text/event-stream"),
    "wrong types": Raw(body=b'{"choices": 7, "content": 7, "candidates": 7}'),
    "no text at all": Raw(body=b"\xff\xfe\x00\x80"),
    "deep": Raw(body=b'{"choices": ' + b"[" * 100_000),
    "an empty choice": Raw(body=b'{"choices": [], "content": [], "candidates": []}'),
}


async def _next_is_normal(at: Scene) -> None:
    at.provider.model = script(SUBMITS)
    session = await at.again()
    assert (session.end, session.warnings) == (SessionEnd.SUBMITTED, ())
    assert at.planner.refusal is None


@every_kind
@pytest.mark.parametrize("trouble", TROUBLE)
@both_modes
async def test_trouble_is_stored_with_its_reason_and_puts_the_next_sessions_off(
    kind: Kind, trouble: str, stream: bool
) -> None:
    async with scene(script(TROUBLE[trouble]), kind, stream=stream) as at:
        session = await at.session()
        (warning,) = session.warnings
        assert session.end is SessionEnd.FAILED
        assert trouble in warning
        assert session.prompt_version is not None
        assert at.planner.refusal is not None
        assert len(at.provider.asked) == 1  # nothing tries again behind our back
        assert KEY not in at.stored
        await _next_is_normal(at)


@every_kind
@pytest.mark.parametrize("what", NOT_THE_PROTOCOL)
@both_modes
async def test_an_answer_that_is_none_ends_the_session_and_no_more(
    kind: Kind, what: str, stream: bool
) -> None:
    async with scene(script(NOT_THE_PROTOCOL[what]), kind, stream=stream) as at:
        session = await at.session()
        assert session.end in (SessionEnd.FAILED, SessionEnd.UNFINISHED)
        assert session.warnings
        await _next_is_normal(at)


@every_kind
@both_modes
async def test_a_provider_is_left_alone_for_as_long_as_it_asks(kind: Kind, stream: bool) -> None:
    async with scene(
        script(refusal("slow down", 429, **{"Retry-After": "600"})), kind, stream=stream
    ) as at:
        ended_at = at.bench.now
        await at.session()
        assert at.planner._sessions.rest_until == ended_at + seconds(600)
        await at.bench.sleep(599)
        assert at.planner.refusal is not None
        await at.bench.sleep(1)
        assert at.planner.refusal is None


@pytest.mark.parametrize("asked", ["-1", "never", "1e400", "nan", "99999999999999"])
@both_modes
async def test_a_retry_after_that_makes_no_sense_does_no_harm(asked: str, stream: bool) -> None:
    async with scene(
        script(refusal("slow down", 429, **{"Retry-After": asked})), stream=stream
    ) as at:
        await at.session()
        rest_until = at.planner._sessions.rest_until
        assert rest_until is not None
        assert seconds(5) <= rest_until - at.bench.now <= seconds(3600)
        await _next_is_normal(at)


@every_kind
@both_modes
async def test_a_request_that_the_provider_rejects_is_no_trouble_of_the_provider(
    kind: Kind, stream: bool
) -> None:
    async with scene(
        script(refusal(f"the tools\u202e of {KEY} are not supported")), kind, stream=stream
    ) as at:
        session = await at.session()
        (warning,) = session.warnings
        assert "HTTP 400: the tools of *** are not supported" in warning
        assert at.planner.refusal is None
        await _next_is_normal(at)


@every_kind
@both_modes
async def test_a_provider_that_hangs_is_given_up_at_the_timeout(kind: Kind, stream: bool) -> None:
    async with scene(script(Hang()), kind, timeout=seconds(0.3), stream=stream) as at:
        session = await at.session()
        assert session.end is SessionEnd.FAILED
        assert "did not answer in time" in session.warnings[0]
        assert at.planner.refusal is not None
        await _next_is_normal(at)


@both_modes
async def test_a_session_that_takes_too_long_is_cut_off_with_what_it_did(stream: bool) -> None:
    async with scene(script(ACTS, Hang()), limit=0.5, stream=stream) as at:
        session = await at.session()
        assert (session.end, session.tokens) == (SessionEnd.FAILED, 1050)
        assert [call.took_effect for call in session.tool_calls] == [True]
        assert "took longer than 0.5 s" in session.warnings[0]
        await _next_is_normal(at)


@every_kind
@pytest.mark.parametrize("trouble", [refusal("oops", 500), Cut()], ids=["HTTP 500", "cut"])
@both_modes
async def test_trouble_half_way_keeps_what_was_done_and_charges_what_was_used(
    kind: Kind, trouble: Reply, stream: bool
) -> None:
    async with scene(script(ACTS, trouble), kind, input_price=1.0, stream=stream) as at:
        session = await at.session()
        assert (session.end, session.tokens) == (SessionEnd.FAILED, 1050)
        assert session.cost == pytest.approx(0.001)
        assert [call.took_effect for call in session.tool_calls] == [True]
        assert at.bench.endpoint().interval_hint is not None
        allowance = at.bench.month
        assert (allowance.used, allowance.reserved) == (1050, 0)
        await _next_is_normal(at)


@both_modes
async def test_nobody_at_the_address_is_trouble_too(stream: bool) -> None:
    async with scene(script(SUBMITS), base_url="http://127.0.0.1:9/v1", stream=stream) as at:
        session = await at.session()
        assert session.end is SessionEnd.FAILED
        assert "could not be reached" in session.warnings[0]


@every_kind
@both_modes
async def test_what_is_said_about_a_wrong_key_is_not_kept_for_it_shows_parts_of_the_key(
    kind: Kind, stream: bool
) -> None:
    hint = f"{KEY[:10]}****{KEY[-6:]}"
    async with scene(
        script(refusal(f"Incorrect API key provided: {hint}", 401)), kind, stream=stream
    ) as at:
        await at.session()
        assert hint not in at.stored
        assert KEY[:10] not in at.stored


@every_kind
@both_modes
async def test_a_key_is_nowhere_to_be_read_whatever_the_model_says(
    kind: Kind, caplog: pytest.LogCaptureFixture, stream: bool
) -> None:
    caplog.set_level(logging.DEBUG)
    leaks: list[tuple[str, Any]] = [
        ("propose_interval", {"interval_ms": 60_000, "reason": f"it is {KEY}"}),
        (KEY, {KEY: KEY}),
        ("pause_until", {"until_iso": KEY}),
        ("submit_analysis", {"reasoning": f"the key is {KEY}!", "actions_taken": [KEY]}),
    ]
    async with scene(
        script(Answer(leaks, text=KEY)), kind, body={"echo": KEY}, stream=stream
    ) as at:
        session = await at.session()
        assert session.reasoning == "the key is ***!"
        assert KEY not in at.stored
        assert KEY not in repr(at.bench.endpoint())
        assert KEY not in caplog.text
