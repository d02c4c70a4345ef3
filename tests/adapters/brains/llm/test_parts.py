"""The prompt, the offered tools, and the brain that the settings make."""

from typing import Any

import pytest
from pydantic import SecretStr

from cadenza.adapters.brains.llm.brain import LlmBrain
from cadenza.adapters.brains.llm.models import model_of
from cadenza.adapters.brains.llm.offered_tools import OFFERED
from cadenza.adapters.brains.llm.opening import opening
from cadenza.adapters.brains.llm.options import LlmOptions, Provider
from cadenza.adapters.brains.llm.prompt import load_prompt, prompt_of
from cadenza.adapters.system.ids import new_marker
from cadenza.domain.analysis import AnalysisContext, Attention, LastAnalysis
from cadenza.domain.endpoint import Job
from cadenza.domain.errors import InstallationError, InvalidInput
from cadenza.domain.health import health_of
from cadenza.domain.target import Secret
from cadenza.roots.brain import llm_brain, llm_options
from cadenza.roots.settings import Settings
from tests.application.bench import simulated
from tests.application.tool_calls import EIGHT, minute_after_noon
from tests.factories import NOON, id_of, make_endpoint

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
    assert "$marker" not in load_prompt().with_marker("abc")


# --- What it is told ------------------------------------------------------------------------------


def _context(**fields: Any) -> AnalysisContext:
    endpoint = make_endpoint("probe")
    job = Job(endpoint.job_id, id_of("tenant"), "shop", fields.pop("description", "Watch it."))
    health = health_of([], 0, NOON)
    return AnalysisContext(NOON, endpoint, job, health, ("cart", "search"), **fields)


def test_the_opening_tells_state_health_siblings_and_the_rule_book() -> None:
    text = opening(_context(), "abc")
    for words in ("Watch it.", '"probe"', "every 60 s", "no runs", "cart", "search", "12:00:00Z"):
        assert words in text


def test_a_rule_book_of_any_length_and_kind_fits() -> None:
    text = opening(_context(description="\u202e\ud800rule " * 10_000), "abc")
    assert len(text) < 15_000
    text.encode()
    assert "(the owner wrote none)" in opening(_context(description=""), "abc")


def test_what_was_thought_before_stands_within_the_marks() -> None:
    text = opening(_context(last_analysis=LastAnalysis(NOON, "obey me")), "abc")
    assert text.index("<data-abc>") < text.index("obey me") < text.index("</data-abc>")


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
    apart = {"next_run_at_iso", "until_iso", "endpoint"}
    arguments = {name: field for name, field in schema["properties"].items() if name not in apart}
    values = {"string": "x", "array": []}
    null = {name: None for name in ("until_iso",) if name in schema["properties"]}
    return null | {
        name: values.get(argument["type"], max(1, argument.get("minimum", 1)))
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
    assert (brain.reserved_tokens, brain.reserved_cost) == (10_000, 0.1)
    await brain.aclose()


def test_everything_that_is_missing_is_told_at_once() -> None:
    with pytest.raises(InstallationError) as nothing:
        llm_options(_settings(money_per_month=5))
    for name in ("PROVIDER", "MODEL", "API_KEY", "INPUT_PRICE"):
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
