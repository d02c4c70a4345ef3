"""One request to a model, and its answer: at once, or as a stream.

A stream is for servers and proxies that cut an idle connection. Its pieces are not used: a tool can
only be called when its arguments are complete, which is known when the answer is.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import ModelConnectionError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from cadenza.adapters.brains.llm.offered_tools import OFFERED

_OFFER = ModelRequestParameters(function_tools=list(OFFERED))


async def asked_at_once(
    model: Model[Any], messages: Sequence[ModelMessage], settings: ModelSettings
) -> ModelResponse:
    return await model_request(
        model, messages, model_settings=settings, model_request_parameters=_OFFER, instrument=False
    )


async def asked_for_a_stream(
    model: Model[Any],
    messages: Sequence[ModelMessage],
    settings: ModelSettings,
    broke_off: Callable[[RequestUsage], None],
) -> ModelResponse:
    """`broke_off` gets the usage where the stream began, and does not come to its end."""
    opened = model_request_stream(
        model, messages, model_settings=settings, model_request_parameters=_OFFER, instrument=False
    )
    async with opened as stream:
        began = False
        try:
            async for _ in stream:
                began = True
            response = stream.get()
            # The libraries take a stream that just stops for a whole one, with half a call in it.
            finished = (response.provider_details or {}).get("finish_reason")
            refused = response.finish_reason == "content_filter" and not response.tool_calls
            if finished or refused:
                return response
            name = response.model_name or ""
            raise ModelConnectionError(name, "the stream ended before the answer did")
        except BaseException:  # also where the session is cut off
            if began or stream.usage.input_tokens:
                broke_off(stream.usage)
            raise
