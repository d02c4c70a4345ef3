"""Sessions with a model over the wire of each provider."""

import json
from dataclasses import replace
from typing import Any

import pytest

from cadenza.adapters.brains.llm.options import Provider as Kind
from cadenza.domain.session import SessionEnd
from tests.adapters.brains.llm.provider import Answer, script
from tests.adapters.brains.llm.support import (
    FASTER,
    KEY,
    SUBMIT,
    SUBMITS,
    both_modes,
    calls_of,
    every_kind,
    scene,
)
from tests.application.tool_calls import EIGHT

READ = ("get_latest_response", {})


@every_kind
@both_modes
async def test_a_session_reads_acts_and_submits(kind: Kind, stream: bool) -> None:
    model = script(Answer([READ]), Answer([FASTER]), SUBMITS)
    prices = {"input_price": 2.0, "output_price": 10.0}
    async with scene(model, kind, body={"load": 0.9}, **prices, stream=stream) as at:
        session = await at.session()
        assert (session.end, session.reasoning) == (SessionEnd.SUBMITTED, "all is well")
        assert calls_of(session) == [
            ("get_latest_response", True),
            ("propose_interval", True),
            ("submit_analysis", True),
        ]
        assert session.tokens == 3 * 1050
        assert session.cost == pytest.approx(3 * (1000 * 2 + 50 * 10) / 1e6)
        assert session.warnings == ()
        assert session.prompt_version is not None
        assert at.bench.endpoint().interval_hint is not None
        assert '\\"load\\": 0.9' in at.provider.asked[1].text
        assert "ai-interval" in at.provider.asked[2].text


@every_kind
@both_modes
async def test_the_model_is_offered_the_eight_tools_with_their_schemas(
    kind: Kind, stream: bool
) -> None:
    async with scene(script(SUBMITS), kind, stream=stream) as at:
        await at.session()
        offered = at.provider.asked[0].text
        assert all(f'"{name}"' in offered for name in EIGHT)
        assert "next_analysis_in_ms" in offered
        assert "rule book" in offered
        assert "Watch it all." in offered


@every_kind
@both_modes
async def test_tools_called_in_one_breath_all_run_in_order(kind: Kind, stream: bool) -> None:
    async with scene(script(Answer([READ, FASTER, SUBMIT])), kind, stream=stream) as at:
        session = await at.session()
        assert [name for name, _ in calls_of(session)] == [READ[0], FASTER[0], SUBMIT[0]]
        assert (session.end, len(at.provider.asked)) == (SessionEnd.SUBMITTED, 1)


@every_kind
@both_modes
async def test_a_call_beside_the_final_one_is_refused_after_it_and_kept(
    kind: Kind, stream: bool
) -> None:
    async with scene(script(Answer([SUBMIT, FASTER])), kind, stream=stream) as at:
        session = await at.session()
        assert calls_of(session) == [("submit_analysis", True), ("propose_interval", False)]
        assert at.bench.endpoint().interval_hint is None


@every_kind
@both_modes
async def test_a_call_that_makes_no_sense_is_answered_so_that_the_model_can_correct_it(
    kind: Kind, stream: bool
) -> None:
    wrong = Answer([("propose_interval", {"interval_ms": "fast"})])
    async with scene(script(wrong, Answer([FASTER]), SUBMITS), kind, stream=stream) as at:
        session = await at.session()
        assert [ok for _, ok in calls_of(session)] == [False, True, True]
        assert "expected a number" in at.provider.asked[1].text


@pytest.mark.parametrize(
    "written",
    [
        "{not json",
        "[1, 2]",
        '"text"',
        "null",
        "NaN",
        '{"interval_ms": 1e999}',
        "[" * 100_000,
        '{"interval_ms": ' + "9" * 5000 + "}",
        '{"interval_ms": 30000, "interval_ms": {}}',
        "\u0000\ud83d",
    ],
    ids=lambda text: text[:12].encode("ascii", "replace").decode(),
)
@pytest.mark.parametrize(
    ("kind", "stream"),
    [(Kind.OPENAI, False), (Kind.OPENAI, True), (Kind.ANTHROPIC, True)],
    ids=["openai-whole", "openai-stream", "anthropic-stream"],
)
async def test_arguments_that_are_no_object_are_answered_and_recorded(
    written: str, kind: Kind, stream: bool
) -> None:
    wrong = Answer([("propose_interval", written)])
    async with scene(script(wrong, Answer([FASTER]), SUBMITS), kind, stream=stream) as at:
        session = await at.session()
        assert [ok for _, ok in calls_of(session)] == [False, True, True]
        assert session.end is SessionEnd.SUBMITTED


@every_kind
@both_modes
async def test_a_number_that_json_has_no_word_for_can_be_answered(kind: Kind, stream: bool) -> None:
    wrong = Answer([("propose_interval", {"interval_ms": float("inf"), "reason": "x"})])
    async with scene(script(wrong, Answer([FASTER]), SUBMITS), kind, stream=stream) as at:
        session = await at.session()
        assert [ok for _, ok in calls_of(session)] == [False, True, True]


@every_kind
@pytest.mark.parametrize("name", ["delete_endpoint", "x" * 3000, "run; rm -rf /", ""])
@both_modes
async def test_a_tool_that_does_not_exist_is_answered_and_recorded(
    kind: Kind, name: str, stream: bool
) -> None:
    async with scene(script(Answer([(name, {"id": 1})]), SUBMITS), kind, stream=stream) as at:
        session = await at.session()
        assert [ok for _, ok in calls_of(session)] == [False, True]
        assert session.tool_calls[0].tool == name[:100]


@every_kind
@both_modes
async def test_a_model_that_writes_text_is_reminded_and_may_still_submit(
    kind: Kind, stream: bool
) -> None:
    async with scene(script(Answer(text="All is well."), SUBMITS), kind, stream=stream) as at:
        session = await at.session()
        assert (session.end, session.warnings) == (SessionEnd.SUBMITTED, ())
        assert "Nobody reads text" in at.provider.asked[1].text


@every_kind
@both_modes
async def test_a_model_that_only_writes_text_is_given_up(kind: Kind, stream: bool) -> None:
    async with scene(script(Answer(text="I would rather talk.")), kind, stream=stream) as at:
        session = await at.session()
        assert session.end is SessionEnd.FAILED
        assert session.trouble == "the model answered with text instead of tools"
        assert (len(at.provider.asked), session.tokens) == (3, 3150)
        assert session.next_analysis_at is not None


@every_kind
@both_modes
async def test_a_refusal_ends_the_session_and_is_told(kind: Kind, stream: bool) -> None:
    async with scene(script(Answer(refusal="I cannot help with that.")), kind, stream=stream) as at:
        session = await at.session()
        assert session.end is SessionEnd.FAILED
        assert "refused" in " ".join(session.warnings)
        assert at.planner.refusal is None


@both_modes
async def test_a_model_that_never_ends_runs_out_of_calls(stream: bool) -> None:
    async with scene(script(Answer([READ])), session_tokens=1_000_000, stream=stream) as at:
        session = await at.session()
        assert session.end is SessionEnd.OUT_OF_CALLS
        assert [ok for _, ok in calls_of(session)] == [True] * 15
        assert "15 tool calls" in session.trouble
        assert session.tokens == 15 * 1050


@both_modes
async def test_a_thousand_calls_in_one_answer_end_the_session(stream: bool) -> None:
    async with scene(script(Answer([FASTER] * 1000)), stream=stream) as at:
        session = await at.session()
        assert session.end is SessionEnd.OUT_OF_CALLS
        assert len(session.tool_calls) == 15
        assert len(at.provider.asked) == 1


@both_modes
async def test_a_session_asks_no_more_than_its_tokens_allow(stream: bool) -> None:
    model = script(Answer([READ], tokens=(4000, 100)))
    async with scene(model, session_tokens=10_000, max_output_tokens=500, stream=stream) as at:
        session = await at.session()
        assert (session.tokens, len(at.provider.asked)) == (8200, 2)
        assert "token limit" in session.warnings[0]
        allowance = at.bench.month
        assert (allowance.used, allowance.reserved) == (8200, 0)


@both_modes
async def test_what_the_tools_answered_counts_before_it_is_sent(stream: bool) -> None:
    body = ["x" * 900]
    model = script(Answer([("get_latest_response", {})] * 14, tokens=(1000, 100)), SUBMITS)
    async with scene(
        model, body=body, session_tokens=6000, max_output_tokens=500, stream=stream
    ) as at:
        session = await at.session()
        assert (session.tokens, len(at.provider.asked)) == (1100, 1)
        assert "token limit" in session.warnings[0]


@pytest.mark.filterwarnings("ignore:Failed to extract usage")
@pytest.mark.parametrize("tokens", [None, (0, 0), (-5, -5)], ids=str)
@both_modes
async def test_a_provider_that_does_not_count_is_charged_an_estimate(
    tokens: Any, stream: bool
) -> None:
    async with scene(script(Answer([SUBMIT], tokens=tokens)), stream=stream) as at:
        session = await at.session()
        assert session.end is SessionEnd.SUBMITTED
        assert 500 < session.tokens < 10_000
        assert session.warnings == ("the provider did not say what was used; it was estimated",)


@both_modes
@pytest.mark.parametrize("tokens", [(10**30, 10**30), (4_000_000, 50), (1000, 4_000_000)])
async def test_a_provider_that_says_more_was_used_than_can_be_is_charged_an_estimate(
    stream: bool, tokens: tuple[int, int]
) -> None:
    """One such answer closed the tenant's month."""
    async with scene(script(Answer([SUBMIT], tokens=tokens)), stream=stream) as at:
        session = await at.session()
        assert 1000 < session.tokens < 20_000
        assert session.warnings == (
            "the provider said that more was used than can be; it was estimated",
        )


@every_kind
@both_modes
async def test_what_was_set_reaches_the_provider(kind: Kind, stream: bool) -> None:
    options: dict[str, Any] = {"temperature": 0.25, "max_output_tokens": 777}
    async with scene(script(SUBMITS), kind, **options, stream=stream) as at:
        await at.session()
        asked = at.provider.asked[0]
        assert "0.25" in asked.text
        assert "777" in asked.text
        assert KEY in json.dumps(asked.headers)
        assert KEY not in asked.text


async def test_a_local_server_needs_no_key() -> None:
    async with scene(script(SUBMITS), Kind.COMPATIBLE, api_key=None) as at:
        assert (await at.session()).end is SessionEnd.SUBMITTED


@every_kind
async def test_a_job_may_have_a_model_and_words_of_its_own(kind: Kind) -> None:
    async with scene(script(SUBMITS), kind) as at:
        await at.session()
        job_id = at.bench.endpoint().job_id
        row = at.bench.tables.jobs[job_id]
        policy = replace(row.job.planner, model="gemini-x", prompt="Never before\u202e 8 o'clock.")
        at.bench.tables.jobs[job_id] = replace(row, job=replace(row.job, planner=policy))
        session = await at.again()
        usual, own = at.provider.asked
        assert "gemini-x" not in usual.path + usual.text
        assert "gemini-x" in own.path + own.text
        assert "Never before 8 o'clock." in own.text
        assert own.text.index("# The end") < own.text.index("Never before 8")
        before = at.bench.sessions[0].prompt_version
        assert before is not None
        assert session.prompt_version is not None
        assert session.prompt_version.startswith(f"{before}+")


async def test_a_provider_that_keeps_prompts_only_on_request_is_asked_to() -> None:
    async with scene(script(SUBMITS), Kind.ANTHROPIC) as at:
        await at.session()
        (asked,) = at.provider.asked
        assert asked.body["system"][-1]["cache_control"]["type"] == "ephemeral"
        assert asked.body["tools"][-1]["cache_control"]["type"] == "ephemeral"
