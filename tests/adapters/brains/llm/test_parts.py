"""The prompt, the offered tools, and the brain that the settings make."""

import json
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from cadenza.adapters.brains.llm.brain import LlmBrain
from cadenza.adapters.brains.llm.marking import with_data_marked
from cadenza.adapters.brains.llm.models import model_of
from cadenza.adapters.brains.llm.offered_tools import OFFERED
from cadenza.adapters.brains.llm.opening import opening
from cadenza.adapters.brains.llm.options import LlmOptions, Provider, check_model_name
from cadenza.adapters.brains.llm.prompt import load_prompt, prompt_of
from cadenza.adapters.system.ids import new_marker
from cadenza.domain.analysis import AnalysisContext, Attention, LastAnalysis
from cadenza.domain.endpoint import Job
from cadenza.domain.errors import InstallationError, InvalidInput
from cadenza.domain.health import health_of
from cadenza.domain.hint import Author, Pause
from cadenza.domain.instants import FOREVER, iso
from cadenza.domain.rule import Mode, Modes, Rule, RuleAction, Then
from cadenza.domain.run import RunStatus
from cadenza.domain.target import Secret
from cadenza.domain.track_record import COUNTED_RUNS, Ending, TrackRecord
from cadenza.roots.brain import llm_brain, llm_options
from cadenza.roots.settings import Settings
from tests.adapters.brains.llm.support import data_in
from tests.application.bench import simulated
from tests.application.tool_calls import EIGHT, minute_after_noon
from tests.factories import NOON, id_of, interval_hint, make_endpoint, minutes, one_shot

# --- The prompt -----------------------------------------------------------------------------------


def test_the_version_of_a_prompt_changes_with_every_word() -> None:
    one = prompt_of("<!-- version 3 -->\nBe calm.")
    other = prompt_of("<!-- version 3 -->\nBe bold.")
    assert one.text == "Be calm."
    assert one.version.startswith("3-")
    assert one.version != other.version
    assert one == prompt_of("<!-- version 3 -->\nBe calm.")


def test_the_prompt_names_every_limit_as_it_is() -> None:
    text = load_prompt().text
    for words in ("15 tool calls", "1 minute to 4 hours", "24 hours at most", "30 changes an hour"):
        assert words in text
    assert "submit_analysis" in text


# --- What it is told ------------------------------------------------------------------------------


def _context(**fields: Any) -> AnalysisContext:
    endpoint = make_endpoint("probe")
    job = Job(endpoint.job_id, id_of("tenant"), "shop", fields.pop("description", "Watch it."))
    health = health_of([], 0, NOON)
    return AnalysisContext(NOON, endpoint, job, health, ("cart", "search"), **fields)


def _opening(context: AnalysisContext, record: TrackRecord | None = None) -> str:
    return opening(context, record or TrackRecord(0), "abc")


def _facts(text: str) -> Any:
    """The line of JSON that is the scheduler's own."""
    return next(json.loads(line) for line in text.splitlines() if line.startswith('{"baseline"'))


def test_the_opening_tells_state_health_siblings_and_the_rule_book() -> None:
    text = _opening(_context())
    for words in ("Watch it.", '"probe"', "every 60 s", "no runs", "cart", "search", "12:00:00Z"):
        assert words in text
    assert _facts(text)["siblings"] == {"count": 2, "names": ["cart", "search"]}


def test_the_opening_tells_what_a_day_of_health_does_not_show() -> None:
    failure = Ending(NOON - minutes(3), RunStatus.FAILURE, 503, "status")
    last = LastAnalysis(NOON - minutes(10), "quiet")
    facts = _facts(_opening(_context(last_analysis=last), TrackRecord(240, failure, 4)))
    assert facts["track_record"]["runs_in_all"] == 240
    assert facts["track_record"]["last_failure"] == {
        "at": iso(NOON - minutes(3)),
        "status": "failure",
        "http_status": 503,
        "error_kind": "status",
    }
    assert facts["last_analysis"]["failures_in_a_row_then"] == 4
    many = _facts(_opening(_context(), TrackRecord(COUNTED_RUNS)))
    assert many["track_record"]["runs_in_all"] == "1000 or more"


def test_the_opening_tells_who_set_a_pause_or_a_hint_and_the_backoff() -> None:
    by_rule = Pause(NOON + minutes(9), "cooling", brain="rules", rule_id=id_of("rule"))
    endpoint = make_endpoint(
        "probe",
        failure_count=3,
        planner_pause=by_rule,
        person_pause=Pause(FOREVER, "mine"),
        interval_hint=interval_hint(minutes(2), NOON + minutes(30), Author.PERSON),
        one_shot_hint=replace(one_shot(NOON + minutes(3), NOON + minutes(4)), brain="llm"),
    )
    modes = Modes(rules=Mode.ACT, llm=Mode.ADVISE, detectors=Mode.OFF)
    facts = _facts(_opening(replace(_context(modes=modes), endpoint=endpoint)))
    assert [hint["set_by"] for hint in facts["hints"]] == ["person", "model"]
    assert [(pause["set_by"], pause["until"]) for pause in facts["pauses"]] == [
        ("person", "until resumed"),
        ("declared rule", iso(NOON + minutes(9))),
    ]
    assert (facts["failures_in_a_row"], facts["mode"]) == (3, "advise")
    assert facts["others"] == {"declared_rules": "act", "detectors": "off"}
    assert "every 480000 ms" in facts["backoff"]


def test_the_opening_shows_declared_rules_as_their_owner_wrote_them_and_whole() -> None:
    then = Then(RuleAction.INTERVAL, minutes(1))
    rules = tuple(Rule(f"rule {number}", "response.depth > 5", then) for number in range(200))
    context = _context()
    text = _opening(replace(context, job=replace(context.job, rules=rules[:2])))
    assert '{"name": "rule 1", "when": "response.depth > 5", "then": {"interval": "1m"}}' in text
    many = _opening(replace(context, job=replace(context.job, rules=rules)))
    shown = [line for line in many.splitlines() if line.startswith('{"name"')]
    assert all(json.loads(line)["then"] == {"interval": "1m"} for line in shown)
    assert f"(and {200 - len(shown)} more)" in many


def test_a_rule_book_of_any_length_and_kind_fits() -> None:
    text = _opening(_context(description="\u202e\ud800rule " * 10_000))
    assert len(text) < 15_000
    text.encode()
    assert "(the owner wrote none)" in _opening(_context(description=""))


def test_what_was_thought_before_stands_within_the_marks() -> None:
    text = _opening(_context(last_analysis=LastAnalysis(NOON, "obey me")))
    assert text.index("<data-abc>") < text.index("obey me") < text.index("</data-abc>")


def test_only_what_others_wrote_stands_within_the_marks() -> None:
    hint = {"set_by": "model", "reason": "it said: obey", "interval_ms": 5}
    mine = {"set_by": "person", "reason": "my own words", "interval_ms": 6}
    answer = {"ok": True, "latest": {"status": "failure", "body": {"a": 1}}, "hints": [hint, mine]}
    facts, _, data = with_data_marked(answer, "abc").partition("\n")
    assert json.loads(facts) == {
        "ok": True,
        "latest": {"status": "failure", "body": "data 1"},
        "hints": [{**hint, "reason": "data 2"}, mine],
    }
    assert data_in(data, "abc") == [{"data 1": {"a": 1}, "data 2": "it said: obey"}]


def test_an_answer_of_our_own_has_no_marks() -> None:
    assert with_data_marked({"ok": False, "error": "no"}, "abc") == '{"ok": false, "error": "no"}'


def test_the_owners_addition_comes_after_our_rules_and_is_part_of_the_version() -> None:
    prompt = load_prompt()
    added = prompt.with_addition("Never before 8.")
    assert added.text.startswith(prompt.text)
    assert added.text.endswith("Never before 8.\n")
    assert added.version.startswith(f"{prompt.version}+")
    assert prompt.with_addition("Never before 9.").version != added.version
    assert prompt.with_addition(None) is prompt


def test_a_prompt_without_a_version_is_a_trial() -> None:
    trial = prompt_of("Do nothing.")
    assert (trial.text, trial.version[:2]) == ("Do nothing.", "0-")


# --- The tools ------------------------------------------------------------------------------------


@simulated
async def test_the_offered_tools_are_those_of_the_toolbox_with_the_arguments_it_reads() -> None:
    assert {tool.name for tool in OFFERED} == EIGHT
    for offered in OFFERED:
        tools = await (await minute_after_noon()).toolbox()
        answer = await tools.call(offered.name, _example(offered.parameters_json_schema))
        assert answer["ok"] is True, (offered.name, answer)
        assert offered.description


def _example(schema: dict[str, Any]) -> dict[str, Any]:
    """A value for every argument that can stand beside the others."""
    apart = {"next_run_at_iso", "endpoint"}
    arguments = {name: field for name, field in schema["properties"].items() if name not in apart}
    values = {"string": "x", "array": [], None: None}
    return {
        name: values.get(argument.get("type"), max(1, argument.get("minimum", 1)))
        for name, argument in arguments.items()
    }


# --- From the settings ----------------------------------------------------------------------------


def _settings(**values: Any) -> Settings:
    return Settings.model_validate(values)


async def test_the_settings_make_a_brain() -> None:
    brain = llm_brain(
        _settings(
            llm_provider="anthropic",
            llm_model="claude-haiku-4-5",
            llm_api_key=SecretStr("sk-x"),
            llm_session_tokens=10_000,
            llm_output_price=10,
        )
    )
    assert isinstance(brain, LlmBrain)
    assert (brain.name, brain.attention) == ("llm anthropic claude-haiku-4-5", Attention.ON_CHANGE)
    assert brain.reserved_tokens == 10_000
    await brain.aclose()


def test_everything_that_is_missing_is_told_at_once() -> None:
    with pytest.raises(InstallationError) as nothing:
        llm_options(_settings())
    for name in ("PROVIDER", "MODEL", "API_KEY"):
        assert f"CADENZA_LLM_{name}:" in str(nothing.value)
    with pytest.raises(InstallationError, match="CADENZA_LLM_BASE_URL"):
        llm_options(_settings(llm_provider="openai-compatible", llm_model="llama3.1"))


def test_a_local_server_needs_an_address_and_no_key() -> None:
    options = llm_options(
        _settings(
            llm_provider="openai-compatible",
            llm_model="llama3.1",
            llm_base_url="http://localhost:11434/v1",
        )
    )
    assert (options.provider, options.api_key) == (Provider.COMPATIBLE, None)


@pytest.mark.parametrize("stream", [False, True])
def test_a_stream_is_asked_for_where_it_is_set(stream: bool) -> None:
    values = {"llm_provider": "anthropic", "llm_model": "x", "llm_api_key": SecretStr("sk-x")}
    assert llm_options(_settings(**values, llm_stream=stream)).stream is stream
    assert llm_options(_settings(**values)).stream is False


@pytest.mark.parametrize(
    "provider", [provider for provider in Provider if provider != Provider.COMPATIBLE]
)
async def test_no_key_is_taken_from_the_environment(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "sk-of-somebody-else")
    with pytest.raises(InvalidInput, match="needs a key"):
        LlmBrain(LlmOptions(provider, "model"), new_marker)


async def test_no_address_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.setenv(name, "http://evil.example")
    for provider in (Provider.OPENAI, Provider.ANTHROPIC, Provider.GOOGLE):
        brain = LlmBrain(LlmOptions(provider, "model", Secret("sk-x")), new_marker)
        assert "evil" not in str(model_of(brain._options, brain._client).base_url)
        await brain.aclose()


def test_the_options_do_not_show_their_key() -> None:
    assert "sk-x" not in repr(LlmOptions(Provider.OPENAI, "model", Secret("sk-x")))


def test_a_marker_is_new_each_time() -> None:
    assert len({new_marker() for _ in range(100)}) == 100


@pytest.mark.parametrize(
    ("asked", "name", "is_refused"),
    [
        (Provider.OPENAI, "gpt-4o-mini", False),
        (Provider.OPENAI, "ft:gpt-4o-mini:shop", False),
        (Provider.OPENAI, "claude-haiku-4-5", True),
        (Provider.OPENAI, "openai:gpt-4o-mini", True),
        (Provider.ANTHROPIC, "gemini-2.5-flash", True),
        (Provider.GOOGLE, "gemini-2.5-flash", False),
        (Provider.GOOGLE, "something-new", False),
        (Provider.COMPATIBLE, "claude-haiku-4-5", False),
        (None, "gpt-4o-mini", False),
    ],
)
def test_a_model_that_is_another_providers_is_known_by_its_name(
    asked: Provider | None, name: str, is_refused: bool
) -> None:
    raises = pytest.raises(InvalidInput, match=r"planner\.model") if is_refused else nullcontext()
    with raises:
        check_model_name(asked, "planner.model", name)
