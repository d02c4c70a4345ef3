"""Prices of models for a program that rarely needs one: the tables are loaded with the first."""

from functools import cached_property

from cadenza.application.ports.clock import Clock
from cadenza.application.ports.gateway import Prices
from cadenza.domain.billing import ModelApi, TokenUsage
from cadenza.domain.errors import InvalidInput


class LoadedPrices:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def credits(self, api: ModelApi, model: str, usage: TokenUsage) -> int:
        try:
            return self._prices.credits(api, model, usage)
        except ImportError as error:
            fix = "no price is known here: install `cadenza[graphs]` on the server"
            raise InvalidInput("model", model, fix) from error

    @cached_property
    def _prices(self) -> Prices:
        from cadenza.adapters.prices.genai import GenaiPrices  # noqa: PLC0415 - large tables

        return GenaiPrices(self._clock)
