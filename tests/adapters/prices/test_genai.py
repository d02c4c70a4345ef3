"""Prices: from the tables, from settings, and never 0 where nobody knows."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cadenza.adapters.prices.genai import GenaiPrices
from cadenza.domain.billing import ModelApi, TokenUsage
from cadenza.domain.errors import InvalidInput

OPENAI, ANTHROPIC = ModelApi.OPENAI, ModelApi.ANTHROPIC
POET = {"cadenza-poet": {"input": 2, "output": "8.5"}}


class Noon:
    def now(self) -> datetime:
        return datetime(2026, 11, 18, 12, tzinfo=UTC)

    async def sleep(self, duration: timedelta) -> None:
        raise NotImplementedError


def prices(overrides: Any = None) -> GenaiPrices:
    return GenaiPrices(Noon(), overrides)


def test_a_model_of_the_tables() -> None:
    usage = TokenUsage(input_tokens=1_000_000, output_tokens=1_000_000)
    assert prices().credits(OPENAI, "gpt-4o-mini", usage) == 150_000 + 600_000


def test_cached_tokens_cost_what_the_tables_say() -> None:
    usage = TokenUsage(1_000_000, 0, cache_read_tokens=400_000)
    assert prices().credits(OPENAI, "gpt-4o-mini", usage) == 90_000 + 30_000
    usage = TokenUsage(1_000_000, 0, cache_read_tokens=400_000, cache_write_tokens=200_000)
    model = "claude-sonnet-4-5"
    assert prices().credits(ANTHROPIC, model, usage) > 0


def test_a_part_of_a_credit_is_a_whole_one() -> None:
    assert prices().credits(OPENAI, "gpt-4o-mini", TokenUsage(1, 0)) == 1
    assert prices().credits(OPENAI, "gpt-4o-mini", TokenUsage()) == 0


@pytest.mark.parametrize(
    ("api", "model"),
    [
        (OPENAI, "openai/gpt-4o-mini"),  # as a LiteLLM proxy has them
        (OPENAI, "anthropic/claude-sonnet-4-5"),
        (OPENAI, "claude-sonnet-4-5"),
        (OPENAI, "gemini-2.5-pro"),
        (OPENAI, "text-embedding-3-small"),
        (ANTHROPIC, "claude-sonnet-4-5-20250929"),
    ],
)
def test_names_as_they_are_used(api: ModelApi, model: str) -> None:
    assert prices().is_known(api, model)
    assert prices().credits(api, model, TokenUsage(1_000_000, 0)) > 0


@pytest.mark.parametrize("model", ["cadenza-poet", "no/such", "", "/", "gpt", "x" * 200])
def test_an_unknown_model_is_an_error_that_says_what_to_do(model: str) -> None:
    assert not prices().is_known(OPENAI, model)
    with pytest.raises(InvalidInput, match="CADENZA_PRICES=") as error:
        prices().credits(OPENAI, model, TokenUsage())
    assert error.value.field == "model"


def test_a_model_that_is_in_the_tables_without_a_price_is_unknown() -> None:
    assert not prices().is_known(OPENAI, "google/gemma-3")
    assert not prices().is_known(OPENAI, "github-copilot/gpt-4o")


def test_an_override_makes_a_model_known_and_counts_before_the_tables() -> None:
    mine = prices({**POET, "gpt-4o-mini": {"input": 1, "output": 1}})
    assert mine.credits(OPENAI, "cadenza-poet", TokenUsage(10, 10)) == 20 + 85
    assert mine.credits(ANTHROPIC, "cadenza-poet", TokenUsage(10, 10)) == 20 + 85
    assert mine.credits(OPENAI, "gpt-4o-mini", TokenUsage(10, 10)) == 20


def test_the_cache_of_an_override_costs_as_input_does_unless_it_is_said() -> None:
    usage = TokenUsage(10, 0, cache_read_tokens=4, cache_write_tokens=2)
    assert prices(POET).credits(OPENAI, "cadenza-poet", usage) == 20
    cheap = {"m": {"input": 2, "output": 8, "cache_read": 1, "cache_write": 3}}
    assert prices(cheap).credits(OPENAI, "m", usage) == 8 + 4 + 6


def test_a_model_of_ones_own_may_be_free() -> None:
    free = prices({"local": {"input": 0, "output": 0}})
    assert free.credits(OPENAI, "local", TokenUsage(10, 10)) == 0


@pytest.mark.parametrize(
    ("override", "field"),
    [
        ({"input": 1}, "prices.m"),
        ({}, "prices.m"),
        ({"input": 1, "output": 1, "cached": 1}, "prices.m"),
        ({"input": -1, "output": 1}, "prices.m.input"),
        ({"input": "NaN", "output": 1}, "prices.m.input"),
        ({"input": 1, "output": "much"}, "prices.m.output"),
        ({"input": 1, "output": None}, "prices.m.output"),
        ({"input": 1, "output": True}, "prices.m.output"),
    ],
)
def test_a_bad_override_is_named(override: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as error:
        prices({"m": override})
    assert error.value.field == field
