"""The model of each provider. Everything is passed, because the libraries read the environment."""

from typing import Any

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from cadenza.adapters.brains.llm.options import LlmOptions, Provider
from cadenza.domain.errors import InvalidInput


def model_of(options: LlmOptions, client: httpx2.AsyncClient) -> Model[Any]:
    if options.provider is Provider.COMPATIBLE:
        return _compatible(options, client)
    if options.api_key is None:
        raise InvalidInput("llm_api_key", None, f"{options.provider} needs a key")
    key = options.api_key.value
    if options.provider is Provider.ANTHROPIC:
        return _anthropic(options, key, client)
    if options.provider is Provider.GOOGLE:
        return _google(options, key, client)
    return _openai(options, key, client)


def settings_of(options: LlmOptions) -> ModelSettings:
    """One attempt a request, with a deadline: trying again is for the breaker to decide."""
    seconds = options.timeout.total_seconds()
    tokens = options.max_output_tokens
    settings = ModelSettings(
        max_tokens=tokens, timeout=seconds, request_timeout=seconds, max_retries=0
    )
    if options.temperature is not None:
        settings["temperature"] = options.temperature
    return settings


# Each imports its own library: an installation may have only the one that it uses.


def _openai(options: LlmOptions, key: str, client: httpx2.AsyncClient) -> Model[Any]:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    provider = OpenAIProvider(
        options.base_url or "https://api.openai.com/v1", key, http_client=client
    )
    return OpenAIChatModel(options.model, provider=provider)


def _compatible(options: LlmOptions, client: httpx2.AsyncClient) -> Model[Any]:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider  # noqa: PLC0415

    if options.base_url is None:
        raise InvalidInput("llm_base_url", None, f"{options.provider} needs an address")
    key = options.api_key.value if options.api_key else None
    provider = OpenAICompatibleProvider(
        "compatible", base_url=options.base_url, api_key=key, http_client=client
    )
    return OpenAIChatModel(options.model, provider=provider)


def _anthropic(options: LlmOptions, key: str, client: httpx2.AsyncClient) -> Model[Any]:
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

    address = options.base_url or "https://api.anthropic.com"
    provider = AnthropicProvider(api_key=key, base_url=address, http_client=client)
    return AnthropicModel(options.model, provider=provider)


def _google(options: LlmOptions, key: str, client: httpx2.AsyncClient) -> Model[Any]:
    from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415
    from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415

    address = options.base_url or "https://generativelanguage.googleapis.com"
    provider = GoogleProvider(api_key=key, base_url=address, http_client=client)
    return GoogleModel(options.model, provider=provider)
