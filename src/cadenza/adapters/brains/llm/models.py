"""The model of each provider. Everything is passed, because the libraries read the environment."""

from typing import Any

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from cadenza.adapters.brains.llm.options import LlmOptions, Provider
from cadenza.domain.errors import InvalidInput

_ADDRESSES = {
    Provider.OPENAI: "https://api.openai.com/v1",
    Provider.ANTHROPIC: "https://api.anthropic.com",
    Provider.GOOGLE: "https://generativelanguage.googleapis.com",
}


def model_of(options: LlmOptions, client: httpx2.AsyncClient) -> Model[Any]:
    """Imports only the library of its provider: an installation may have no other."""
    key = options.api_key.value if options.api_key else None
    address = options.base_url or _ADDRESSES.get(options.provider)
    if address is None:
        raise InvalidInput("llm_base_url", None, f"{options.provider} needs an address")
    if options.provider is Provider.COMPATIBLE:
        from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider  # noqa: PLC0415

        compatible = OpenAICompatibleProvider(
            "compatible", base_url=address, api_key=key, http_client=client
        )
        return OpenAIChatModel(options.model, provider=compatible)
    if key is None:
        raise InvalidInput("llm_api_key", None, f"{options.provider} needs a key")
    if options.provider is Provider.ANTHROPIC:
        from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
        from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

        anthropic = AnthropicProvider(api_key=key, base_url=address, http_client=client)
        return AnthropicModel(options.model, provider=anthropic)
    if options.provider is Provider.GOOGLE:
        from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415
        from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415

        google = GoogleProvider(api_key=key, base_url=address, http_client=client)
        return GoogleModel(options.model, provider=google)
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    return OpenAIChatModel(options.model, provider=OpenAIProvider(address, key, http_client=client))


def settings_of(options: LlmOptions) -> ModelSettings:
    """One attempt a request, with a deadline: trying again is for the breaker to decide.

    Providers that keep a prompt only where they are asked to are asked: each request of a session
    begins with what the one before it held, and each session with the same rules and tools.
    """
    seconds = options.timeout.total_seconds()
    tokens = options.max_output_tokens
    settings = ModelSettings(
        max_tokens=tokens, timeout=seconds, request_timeout=seconds, max_retries=0, cache=True
    )
    if options.temperature is not None:
        settings["temperature"] = options.temperature
    return settings
