"""Prices of models for a program that rarely needs one: the tables are loaded with the first."""

from collections.abc import Mapping
from functools import cached_property

from cadenza.application.ports.clock import Clock
from cadenza.application.ports.gateway import Prices
from cadenza.domain.billing import ModelApi, TokenUsage


class LoadedPrices:
    def __init__(self, clock: Clock, overrides: Mapping[str, Mapping[str, float]]) -> None:
        self._clock = clock
        self._overrides = overrides

    def credits(self, api: ModelApi, model: str, usage: TokenUsage) -> int:
        return self._prices.credits(api, model, usage)

    @cached_property
    def _prices(self) -> Prices:
        from cadenza.adapters.prices.genai import GenaiPrices  # noqa: PLC0415 - large tables

        return GenaiPrices(self._clock, self._overrides)
