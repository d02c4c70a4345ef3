"""Prices of models, from the tables of genai-prices as they were installed, and from settings."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from genai_prices import Usage
from genai_prices.data import providers
from genai_prices.data_snapshot import find_provider_by_id
from genai_prices.types import ModelInfo
from genai_prices.types import Provider as PricedProvider

from cadenza.application.ports.clock import Clock
from cadenza.domain.billing import ModelApi, TokenUsage, credits_of
from cadenza.domain.errors import InvalidInput

Override = Mapping[str, object]  # {"input", "output", "cache_read"?, "cache_write"?}
_PER = Decimal(1_000_000)  # tokens
_REQUIRED = ("input", "output")
_FIELDS = (*_REQUIRED, "cache_read", "cache_write")
_FIX = (
    "a model whose price is known; set one, in dollars per million tokens: "
    'CADENZA_PRICES={"MODEL": {"input": 1, "output": 2}}'
)


class GenaiPrices:
    """Overrides are dollars per million tokens, and count before the tables."""

    def __init__(self, clock: Clock, overrides: Mapping[str, Override] | None = None) -> None:
        self._clock = clock  # some prices depend on the day
        self._overrides = {
            model: _read(model, override) for model, override in (overrides or {}).items()
        }

    def credits(self, api: ModelApi, model: str, usage: TokenUsage) -> int:
        if (prices := self._overrides.get(model)) is not None:
            return credits_of(_priced(prices, usage))
        match = _find(api, model)
        if match is None:
            raise InvalidInput("model", model, _FIX)
        provider, info = match
        used = Usage(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_read_tokens=usage.cache_read_tokens,
            cache_write_tokens=usage.cache_write_tokens,
        )
        price = info.calc_price(used, provider, genai_request_timestamp=self._clock.now())
        return credits_of(price.total_price)

    def is_known(self, api: ModelApi, model: str) -> bool:
        return model in self._overrides or _find(api, model) is not None


@lru_cache(maxsize=1024)
def _find(api: ModelApi, model: str) -> tuple[PricedProvider, ModelInfo] | None:
    """At the API's own provider; at the one that is named before a slash, as proxies have it; or
    at the one that the name belongs to. The library's own search keeps every name for ever."""
    name = model.lower()
    prefix, slash, rest = name.partition("/")
    candidates = [(find_provider_by_id(providers, api), name)]
    if slash:
        candidates.append((find_provider_by_id(providers, prefix), rest))
    candidates += [(provider, name) for provider in providers if _claims(provider, name)]
    for provider, searched in candidates:
        info = provider and provider.find_model(searched, all_providers=providers)
        if provider and info and _has_price(info):
            return provider, info
    return None


def _claims(provider: PricedProvider, name: str) -> bool:
    return provider.model_match is not None and provider.model_match.is_match(name)


def _has_price(info: ModelInfo) -> bool:
    """Some models are in the tables without a price for tokens, which would make them free."""
    if isinstance(info.prices, list):
        return all(price.prices.input_mtok is not None for price in info.prices)
    return info.prices.input_mtok is not None


def _priced(prices: Mapping[str, Decimal], usage: TokenUsage) -> Decimal:
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    return (
        prices["input"] * (usage.input_tokens - cached)
        + prices["output"] * usage.output_tokens
        + prices.get("cache_read", prices["input"]) * usage.cache_read_tokens
        + prices.get("cache_write", prices["input"]) * usage.cache_write_tokens
    ) / _PER


def _read(model: str, override: Override) -> dict[str, Decimal]:
    for name in override:
        if name not in _FIELDS:
            raise InvalidInput(f"prices.{model}", name, f"only {', '.join(_FIELDS)}")
    for name in _REQUIRED:
        if name not in override:
            raise InvalidInput(f"prices.{model}", dict(override), f"it needs {name}")
    return {name: _dollars(f"prices.{model}.{name}", value) for name, value in override.items()}


def _dollars(path: str, value: object) -> Decimal:
    try:
        dollars = Decimal(str(value))
    except InvalidOperation:
        dollars = Decimal("NaN")
    if not dollars.is_finite() or dollars < 0:
        raise InvalidInput(path, value, "dollars per million tokens, 0 or more")
    return dollars
