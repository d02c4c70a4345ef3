"""The Brain port over a language model."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from pydantic_ai.models import Model

from cadenza.adapters.brains.llm.client import bounded_client
from cadenza.adapters.brains.llm.conversation import Conversation
from cadenza.adapters.brains.llm.models import model_of, settings_of
from cadenza.adapters.brains.llm.opening import opening
from cadenza.adapters.brains.llm.options import LlmOptions, Provider
from cadenza.adapters.brains.llm.prompt import Prompt, load_prompt
from cadenza.application.ports.brain import AskedModel, Tools, Usage
from cadenza.domain.analysis import AnalysisContext, Attention
from cadenza.domain.billing import ModelApi
from cadenza.domain.endpoint import Job


class LlmBrain:
    def __init__(
        self, options: LlmOptions, new_marker: Callable[[], str], prompt: Prompt | None = None
    ) -> None:
        self._options = options
        self._new_marker = new_marker
        self._client = bounded_client(options)
        self._model_named = cache(self._new_model)
        self._model_named(options.model)  # what is wrong with the options shows at once
        self._settings = settings_of(options)
        self._prompt = prompt or load_prompt()
        self.name = f"llm {options.provider} {options.model}"
        self.attention = Attention.ON_CHANGE
        self.reserved_tokens = options.session_tokens

    def model_for(self, job: Job) -> AskedModel:
        is_anthropic = self._options.provider is Provider.ANTHROPIC
        api = ModelApi.ANTHROPIC if is_anthropic else ModelApi.OPENAI
        return AskedModel(api, job.planner.model or self._options.model)

    async def pre_check(self, _context: AnalysisContext) -> None:
        """It always takes a session."""

    async def analyse(self, context: AnalysisContext, tools: Tools) -> Usage:
        """With the model and the addition that the job's owner chose, if any."""
        policy, marker = context.job.planner, self._new_marker()
        asked = self.model_for(context.job)
        conversation = Conversation(
            self._model_named(asked.name),
            self._settings,
            self._options,
            self._prompt.with_addition(policy.prompt),
            marker,
            tools,
            asked,
            policy.tokens_per_session,
        )
        record = await tools.track_record()
        return await conversation.hold(opening(context, record, marker, self._options.secrets))

    def _new_model(self, name: str) -> Model[Any]:
        return model_of(replace(self._options, model=name), self._client)

    async def aclose(self) -> None:
        await self._client.aclose()
