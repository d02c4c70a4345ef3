"""Answers that come in pieces: no piece has an effect before the whole is there."""

from typing import Any

import pytest

from cadenza.adapters.brains.llm.options import Provider as Kind
from cadenza.domain.session import Session, SessionEnd
from tests.adapters.brains.llm.provider import (
    Answer,
    Raw,
    Reply,
    Stream,
    script,
)
from tests.adapters.brains.llm.streams import (
    DONE,
    Event,
    anthropic_error,
    google_error,
    on_the_wire,
    openai_error,
)
from tests.adapters.brains.llm.support import (
    FASTER,
    KEY,
    PROTOCOLS,
    SUBMIT,
    SUBMITS,
    Scene,
    calls_of,
    every_kind,
    scene,
)
from tests.factories import seconds

READ = ("get_latest_response", {})
ENDS_A_PAUSE = ("pause_until", {"reason": "over"})  # also where nothing of it has come but its name
ACTS = Answer([ENDS_A_PAUSE, FASTER, SUBMIT], text="I will act.")
openai_and_anthropic = pytest.mark.parametrize("kind", [Kind.OPENAI, Kind.ANTHROPIC])


def events_of(kind: Kind, answer: Answer = ACTS) -> list[Event]:
    return PROTOCOLS[kind].events(answer)


def up_to_its_end(kind: Kind) -> int:
    """How many events come before the one that says that the answer is whole."""
    words = {Kind.ANTHROPIC: "message_delta", Kind.GOOGLE: "finishReason"}
    word = words.get(kind, '"finish_reason": "tool_calls"').encode()
    return next(n for n, event in enumerate(events_of(kind)) if word in on_the_wire(event))


async def _broke_off(at: Scene, session: Session) -> str:
    """Nothing was done, it is told why, and the next session is normal."""
    assert (session.end, session.tool_calls) == (SessionEnd.FAILED, ())
    assert at.bench.endpoint().interval_hint is None
    assert at.planner.refusal is not None
    assert KEY not in at.stored
    (warning,) = session.warnings
    at.provider.model = script(Answer([SUBMIT]))
    normal = await at.again()
    assert (normal.end, normal.warnings) == (SessionEnd.SUBMITTED, ())
    assert at.planner.refusal is None
    return warning


@every_kind
async def test_a_stream_is_asked_for_with_its_usage(kind: Kind) -> None:
    async with scene(script(SUBMITS), kind, stream=True) as at:
        session = await at.session()
        assert session.tokens == 1050
        body = at.provider.asked[0].body
        if kind in (Kind.OPENAI, Kind.COMPATIBLE):
            assert body["stream_options"] == {"include_usage": True}


# --- A stream that breaks off ---------------------------------------------------------------------


@every_kind
async def test_a_connection_that_is_cut_between_any_two_events_has_no_effect(kind: Kind) -> None:
    events = events_of(kind)
    async with scene(script(SUBMITS), kind, stream=True) as at:
        await at.session()
        for number in range(up_to_its_end(kind) + 1):
            at.provider.model = script(Stream(events[:number], "cut"))
            warning = await _broke_off(at, await at.again())
            assert "broke off" in warning


@every_kind
async def test_a_stream_that_just_ends_between_any_two_events_has_no_effect(kind: Kind) -> None:
    events = events_of(kind)
    async with scene(script(SUBMITS), kind, stream=True) as at:
        await at.session()
        for number in range(up_to_its_end(kind)):
            at.provider.model = script(Stream(events[:number]))
            warning = await _broke_off(at, await at.again())
            assert "protocol" in warning or "the stream ended before the answer did" in warning


@openai_and_anthropic
async def test_a_stream_without_its_last_event_is_whole_where_the_answer_has_ended(
    kind: Kind,
) -> None:
    async with scene(script(Stream(events_of(kind)[:-1])), kind, stream=True) as at:
        session = await at.session()
        assert (session.end, session.tokens) == (SessionEnd.SUBMITTED, 1050)
        assert at.bench.endpoint().interval_hint is not None


async def _stands_still(kind: Kind, then: Any, part: float) -> None:
    events = events_of(kind)[: int(up_to_its_end(kind) * part)]
    async with scene(script(Stream(events, then)), kind, stream=True, timeout=seconds(0.3)) as at:
        warning = await _broke_off(at, await at.session())
        assert "did not answer in time" in warning


@every_kind
@pytest.mark.parametrize("part", [0, 0.5])
async def test_a_stream_that_stands_still_is_given_up_at_the_timeout(
    kind: Kind, part: float
) -> None:
    await _stands_still(kind, "hang", part)


@openai_and_anthropic  # Google's library knows no comments
@pytest.mark.parametrize("part", [0, 0.5])
async def test_a_stream_that_only_says_that_it_is_there_is_given_up_at_the_timeout(
    kind: Kind, part: float
) -> None:
    await _stands_still(kind, "drip", part)


ERRORS: dict[str, dict[Kind, Event]] = {
    "server": {
        Kind.OPENAI: openai_error("server_error"),
        Kind.ANTHROPIC: anthropic_error("overloaded_error"),
        Kind.GOOGLE: google_error("UNAVAILABLE"),
    },
    "limit": {
        Kind.OPENAI: openai_error("rate_limit_exceeded"),
        Kind.ANTHROPIC: anthropic_error("rate_limit_error"),
        Kind.GOOGLE: google_error("RESOURCE_EXHAUSTED"),
    },
    "unheard of": {
        Kind.OPENAI: openai_error(KEY),
        Kind.ANTHROPIC: anthropic_error(KEY),
        Kind.GOOGLE: google_error(KEY),
    },
    "no JSON": dict.fromkeys((Kind.OPENAI, Kind.GOOGLE), (None, '{"error": {'))
    | {Kind.ANTHROPIC: ("error", "{oops")},
}


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("kind", [Kind.OPENAI, Kind.ANTHROPIC, Kind.GOOGLE])
async def test_an_error_in_the_middle_of_a_stream_has_no_effect(kind: Kind, error: str) -> None:
    events = events_of(kind)[: up_to_its_end(kind)]
    reply = Stream([*events, ERRORS[error][kind]])
    async with scene(script(reply), kind, stream=True) as at:
        await _broke_off(at, await at.session())


# --- What it costs --------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("then", ["end", "cut", "hang"])
async def test_what_was_said_to_be_used_before_a_stream_broke_off_is_charged(
    kind: Kind, then: Any
) -> None:
    """Anthropic and Google say it at the beginning; OpenAI at the end, so that it is estimated."""
    broken = Stream(events_of(kind)[: up_to_its_end(kind)], then)
    told = {Kind.ANTHROPIC: 1001, Kind.GOOGLE: 1050}.get(kind)
    model = script(Answer([FASTER]), broken)
    patience = {"timeout": seconds(1.5)} if then == "hang" else {}
    async with scene(model, kind, stream=True, **patience) as at:
        session = await at.session()
        tokens = session.tokens - 1050
        assert session.end is SessionEnd.FAILED
        assert tokens == told if told is not None else 1000 < tokens < 6000
        assert calls_of(session) == [("propose_interval", True)]
        allowance = at.bench.month
        assert (allowance.used, allowance.reserved) == (1050 + tokens, 0)


async def test_a_session_that_is_cut_off_in_a_stream_is_charged_what_was_said_until_then() -> None:
    model = script(Answer([FASTER]), Stream(events_of(Kind.ANTHROPIC)[:5], "hang"))
    async with scene(model, Kind.ANTHROPIC, stream=True, limit=0.5) as at:
        session = await at.session()
        assert (session.end, session.tokens) == (SessionEnd.FAILED, 2051)
        assert "took longer than 0.5 s" in session.warnings[0]
        assert calls_of(session) == [("propose_interval", True)]


# --- Odd streams ----------------------------------------------------------------------------------


def fragment(index: Any, **fields: Any) -> Event:
    call = {"index": index, "type": "function", **fields}
    choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}
    return None, {"id": "x", "created": 1, "model": "test", "choices": [choice]}


def named(index: Any, name: str, written: str = "") -> Event:
    return fragment(index, id=f"call_{name}", function={"name": name, "arguments": written})


def written(index: Any, text: str) -> Event:
    return fragment(index, function={"arguments": text})


FINISH: Event = (
    None,
    {
        "id": "x",
        "created": 1,
        "model": "test",
        "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}],
    },
)


def of_calls(*fragments: Event) -> Stream:
    return Stream([*fragments, FINISH, DONE])


async def test_the_pieces_of_two_calls_may_come_in_turns() -> None:
    reply = of_calls(
        named(0, "propose_interval"),
        named(1, "get_latest_response"),
        written(0, '{"interval_ms": 30'),
        written(1, "{"),
        written(0, '000, "reason": "load"}'),
        written(1, "}"),
    )
    async with scene(script(reply, SUBMITS), stream=True) as at:
        session = await at.session()
        assert calls_of(session) == [
            ("propose_interval", True),
            ("get_latest_response", True),
            ("submit_analysis", True),
        ]
        hint = at.bench.endpoint().interval_hint
        assert hint is not None
        assert hint.interval == seconds(30)


ODD: dict[str, Reply] = {
    "one number for two calls": of_calls(
        named(0, "get_latest_response", "{}"), named(0, "clear_hints", '{"reason": "x"}')
    ),
    "no numbers": of_calls(named(None, "get_latest_response", "{}"), written(None, "}")),
    "a call without a name": of_calls(written(0, '{"interval_ms": 30000}')),
    "a call that is cut": of_calls(named(0, "propose_interval"), written(0, '{"interval_ms": 3')),
    "pieces of no call": of_calls(fragment(0), fragment(7, function=None)),
    "only its end": of_calls(),
    "nothing but comments": Raw(body=b": hello\n\n" * 50, content_type="text/event-stream"),
    "an answer at once": Raw(body=b'{"choices": [{"message": {"content": "hm"}}]}'),
}


@pytest.mark.parametrize("what", ODD)
async def test_an_odd_stream_ends_the_session_or_is_answered_and_the_next_is_normal(
    what: str,
) -> None:
    async with scene(script(ODD[what], SUBMITS), stream=True) as at:
        session = await at.session()
        assert session.end is SessionEnd.SUBMITTED or session.warnings
        assert not any(call.took_effect for call in session.tool_calls)
        at.provider.model = script(SUBMITS)
        assert (await at.again()).warnings == ()


async def test_a_stream_may_be_as_long_as_its_tokens_in_events_of_their_own() -> None:
    text = Answer(text="x" * 2_500_000)
    async with scene(script(text, SUBMITS), stream=True) as at:
        assert "longer than 2000000 bytes" in (await at.session()).warnings[0]
    more = {"max_output_tokens": 10_000, "session_tokens": 5_000_000}
    async with scene(script(text, SUBMITS), stream=True, **more) as at:
        assert (await at.session()).end is SessionEnd.SUBMITTED
