"""One session with a model: ask, run the tools it calls, send the results, until it submits.

The loop is ours, over the library's plain requests, and not the library's agent: every call, also a
malformed one or one of a tool that does not exist, goes to the Toolbox, which answers and records
it, and the usage is known after each answer, however the session ends.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from cadenza.adapters.brains.llm.asking import asked_at_once, asked_for_a_stream
from cadenza.adapters.brains.llm.failures import failure_of
from cadenza.adapters.brains.llm.marking import encodable, with_data_marked
from cadenza.adapters.brains.llm.offered_tools import NAMES
from cadenza.adapters.brains.llm.options import LlmOptions
from cadenza.adapters.brains.llm.prompt import Prompt
from cadenza.application.ports.brain import AskedModel, ModelCall, Tools, Usage
from cadenza.domain.billing import Basis, TokenUsage
from cadenza.domain.bounds import MAX_TOOL_CALLS
from cadenza.domain.errors import BrainFailed
from cadenza.domain.redaction import redacted

MAX_REQUESTS = MAX_TOOL_CALLS + 5  # each tool by itself, the end, and some mistakes
MAX_REMINDERS = 2
CHARACTERS_PER_TOKEN = 3
MOST_ADDED = 100_000  # tokens that a provider or a proxy may add to what was sent and allowed
_SAYS_NOTHING = "did not say what was used"
REMINDER = "Nobody reads text. Call a tool, or end the session with submit_analysis."


class Conversation:
    def __init__(
        self,
        model: Model[Any],
        settings: ModelSettings,
        options: LlmOptions,
        prompt: Prompt,
        marker: str,
        tools: Tools,
        asked: AskedModel,
        most_tokens: int | None = None,
    ) -> None:
        self._model = model
        self._settings = settings
        self._options = options
        self._instructions = prompt.text
        self._marker = marker
        self._tools = tools
        self._asked = asked
        self._most_tokens = most_tokens or options.session_tokens
        self._calls = 0
        self._messages: list[ModelMessage] = []
        self._last_tokens = len(self._instructions) // CHARACTERS_PER_TOKEN  # sent with each
        self._unanswered = 0  # characters since the last answer
        self._reminders = 0
        self._usage = Usage(prompt_version=prompt.version)

    async def hold(self, opening: str) -> Usage:
        self._tools.report_usage(self._usage)
        self._say(UserPromptPart(opening))
        for _ in range(MAX_REQUESTS):
            # The next request holds what the last one did, its answer, and what was added since.
            added = self._unanswered // CHARACTERS_PER_TOKEN
            next_tokens = self._last_tokens + added + self._options.max_output_tokens
            if self._usage.tokens + next_tokens > self._most_tokens:
                raise BrainFailed("it ended where the next answer could pass its token limit")
            if await self._is_over(await self._ask()):
                return self._usage
        raise BrainFailed(f"it had not submitted after {MAX_REQUESTS} answers")

    async def _is_over(self, response: ModelResponse) -> bool:
        if calls := response.tool_calls:
            return await self._run(calls)
        if response.finish_reason == "content_filter":
            raise BrainFailed("the model refused to answer")
        self._reminders += 1
        if self._reminders > MAX_REMINDERS:
            raise BrainFailed("the model answered with text instead of tools")
        self._say(UserPromptPart(REMINDER))
        return False

    async def _ask(self) -> ModelResponse:
        request = (self._model, self._messages, self._settings)
        try:
            if self._options.stream:
                response = await asked_for_a_stream(*request, self._charge_broken)
            else:
                response = await asked_at_once(*request)
            self._charge(response)
            if response.parts:
                parts = [_sendable(part) for part in response.parts]
                self._messages.append(replace(response, parts=parts))
            return response
        except Exception as error:  # noqa: BLE001 - libraries of three vendors fail in many ways
            # Without its cause: the provider's own error may show the request, key and all.
            raise failure_of(error, self._options.secrets) from None

    def _say(self, *parts: UserPromptPart | ToolReturnPart) -> None:
        self._unanswered = sum(len(str(part.content)) for part in parts)
        self._messages.append(ModelRequest(parts, instructions=self._instructions))

    def _charge(self, response: ModelResponse) -> None:
        usage, model = _counted(response.usage), response.model_name or ""
        if usage.input_tokens > 0 and self._is_possible(usage):
            self._spend(usage, Basis.COUNTED, model)
            return
        # A server that does not count is not free; one that counts wrongly must not close a month.
        said = "said that more was used than can be" if usage.input_tokens > 0 else _SAYS_NOTHING
        self._warn(f"the provider {said}; it was estimated")
        guess = TokenUsage(self._guess_sent(), _guess([response]))
        self._spend(guess, Basis.ESTIMATED, model)

    def _charge_broken(self, usage: RequestUsage) -> None:
        """What a stream used before it broke off: as far as it was told, else by what was sent."""
        known = _counted(usage)
        is_known = known.input_tokens > 0 and self._is_possible(known)
        self._spend(known if is_known else TokenUsage(self._guess_sent()), Basis.ESTIMATED)

    def _is_possible(self, usage: TokenUsage) -> bool:
        """A token is a byte of what was sent at the least, and answers have a limit."""
        sent = len(ModelMessagesTypeAdapter.dump_json(self._messages)) + MOST_ADDED
        return usage.input_tokens <= sent and usage.output_tokens <= (
            self._options.max_output_tokens + MOST_ADDED
        )

    def _guess_sent(self) -> int:
        """Each message holds the instructions, which are sent once."""
        repeated = sum(isinstance(message, ModelRequest) for message in self._messages) - 1
        instructions = len(self._instructions) // CHARACTERS_PER_TOKEN
        return max(0, _guess(self._messages) - repeated * instructions)

    def _spend(self, usage: TokenUsage, basis: Basis, model: str = "") -> None:
        asked, answered = usage.input_tokens, usage.output_tokens
        self._tools.report_call(ModelCall(self._asked, model or self._asked.name, usage, basis))
        self._last_tokens = asked + answered
        self._usage = replace(
            self._usage,
            tokens=self._usage.tokens + asked + answered,
            cost=self._usage.cost + self._options.cost(asked, answered),
        )
        self._tools.report_usage(self._usage)

    def _warn(self, warning: str) -> None:
        if warning not in self._usage.warnings:
            self._usage = replace(self._usage, warnings=(*self._usage.warnings, warning))
            self._tools.report_usage(self._usage)

    async def _run(self, calls: Sequence[ToolCallPart]) -> bool:
        """In the order they came; True where the session is over."""
        results: list[ToolReturnPart] = []
        submitted = False
        for call in calls[: MAX_TOOL_CALLS - self._calls]:
            self._calls += 1
            # The provider knows the key, and its model may write it anywhere.
            name = redacted(call.tool_name, self._options.secrets)
            arguments = redacted(_arguments(call), self._options.secrets)
            answer = await self._tools.call(name, arguments)
            submitted |= name == "submit_analysis" and answer.get("ok") is True
            text = with_data_marked(answer, self._marker, self._options.secrets)
            results.append(ToolReturnPart(_offered(call), text, call.tool_call_id))
        if submitted or self._calls >= MAX_TOOL_CALLS:
            return True
        self._say(*results)
        return False


def _counted(usage: RequestUsage) -> TokenUsage:
    """As the provider says; cached tokens are among those of the input."""
    cached = (usage.cache_read_tokens, usage.cache_write_tokens)
    counts = (usage.input_tokens, usage.output_tokens, *cached)
    asked, answered, read, written = (max(count, 0) for count in counts)
    return TokenUsage(max(asked, read + written), answered, read, written)


def _arguments(call: ToolCallPart) -> Any:
    """What the model wrote, parsed where it is JSON; the Toolbox rejects the rest."""
    if not isinstance(call.args, str):
        return {} if call.args is None else call.args
    try:
        return json.loads(call.args) if call.args.strip() else {}
    except (ValueError, RecursionError):
        return call.args


def _offered(call: ToolCallPart) -> str:
    """Providers refuse a history with names that no tool can have."""
    return call.tool_name if call.tool_name in NAMES else "unknown_tool"


def _sendable(part: ModelResponsePart) -> ModelResponsePart:
    """As it can be sent back: what a model wrote may not be encodable."""
    if isinstance(part, TextPart):
        return replace(part, content=encodable(part.content))
    if isinstance(part, ToolCallPart):
        return replace(part, tool_name=_offered(part), args=encodable(_written(part)))
    return part


def _written(call: ToolCallPart) -> str:
    """Its arguments, quoted as a string where they hold a number that JSON cannot express."""
    text = call.args if isinstance(call.args, str) else json.dumps(call.args or {})
    try:
        json.dumps(_arguments(call), allow_nan=False)
    except (ValueError, RecursionError):
        return json.dumps(text)
    return text


def _guess(messages: Sequence[ModelMessage]) -> int:
    return len(ModelMessagesTypeAdapter.dump_json(list(messages))) // CHARACTERS_PER_TOKEN
