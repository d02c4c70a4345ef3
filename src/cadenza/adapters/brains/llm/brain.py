"""The Brain port over a language model."""

from collections.abc import Callable

from cadenza.adapters.brains.llm.client import bounded_client
from cadenza.adapters.brains.llm.conversation import Conversation
from cadenza.adapters.brains.llm.models import model_of, settings_of
from cadenza.adapters.brains.llm.opening import opening
from cadenza.adapters.brains.llm.options import LlmOptions
from cadenza.adapters.brains.llm.prompt import load_prompt
from cadenza.application.ports.brain import Tools, Usage
from cadenza.domain.analysis import AnalysisContext, Attention


class LlmBrain:
    def __init__(self, options: LlmOptions, new_marker: Callable[[], str]) -> None:
        self._options = options
        self._new_marker = new_marker
        self._client = bounded_client(options)
        self._model = model_of(options, self._client)
        self._settings = settings_of(options)
        self._prompt = load_prompt()
        self.name = f"llm {options.provider} {options.model}"
        self.attention = Attention.ON_CHANGE
        self.reserved_tokens = options.session_tokens
        self.reserved_cost = options.highest_cost

    def pre_check(self, _context: AnalysisContext) -> None:
        """It always takes a session."""

    async def analyse(self, context: AnalysisContext, tools: Tools) -> Usage:
        marker = self._new_marker()
        conversation = Conversation(
            self._model, self._settings, self._options, self._prompt, marker, tools
        )
        record = await tools.track_record()
        return await conversation.hold(opening(context, record, marker, self._options.secrets))

    async def aclose(self) -> None:
        await self._client.aclose()
