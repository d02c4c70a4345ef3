"""How much a call used: as the provider says it, or else as an estimate.

The estimate, where a stream was cut before its usage came or an answer has none: a token for every
four characters of text that was sent and received, one for each number of a text that was sent as
tokens, and a thousand for a picture or file. What the provider said until then is taken as it is.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from typing import Any, cast

from cadenza.adapters.gateway.dialects import CHAT, MESSAGES, Dialect
from cadenza.domain.billing import ModelApi, TokenUsage

CHARACTERS_PER_TOKEN = 4
TOKENS_OF_A_FILE = 1_000
MAX_COUNT = 1_000_000_000  # no call has more: a number above it is rubbish
MAX_ERROR = 500  # characters
_NO_TEXT = frozenset(("role", "type", "id", "index", "signature", "media_type", "stop_reason"))
_ENDED = frozenset(("response.completed", "response.incomplete", "response.failed"))

Json = Mapping[str, Any]


class Reading:
    """What an answer has said of its usage so far, and how much text it brought."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._raw: dict[str, Any] = {}
        self._tokens = 0.0  # of the text that was received
        self.is_understood = False  # at least one part of it was JSON as it should be
        self.is_complete = False  # the provider's last word on usage is known
        self.error: str | None = None

    def read_whole(self, body: Json) -> None:
        self._note(body, body.get("usage"))
        self.is_complete = self.usage is not None
        for field in ("choices", "output", "content"):
            self._tokens += _tokens_in(body.get(field))

    def read_event(self, event: Json) -> None:
        kind = event.get("type")
        if self._dialect is MESSAGES:
            message = _object(event.get("message"))
            self._note(event, message.get("usage") or event.get("usage"))
            self._tokens += _tokens_in(event.get("delta"))
            stopped = _object(event.get("delta")).get("stop_reason") is not None
            is_last = kind == "message_delta" and stopped
        elif self._dialect is CHAT:
            self._note(event, event.get("usage"))
            for choice in _list(event.get("choices")):
                self._tokens += _tokens_in(_object(choice).get("delta"))
            is_last = is_usage_only(event)
        else:
            self._note(event, _object(event.get("response")).get("usage"))
            self._tokens += _tokens_in(event.get("delta"))
            is_last = kind in _ENDED
        self.is_complete = self.is_complete or (is_last and self.usage is not None)

    def end(self) -> None:
        """The stream ended as it should: what it said last of its usage is its last word."""
        self.is_complete = self.is_complete or (
            self._dialect is not MESSAGES and self.usage is not None
        )

    @property
    def usage(self) -> TokenUsage | None:
        is_anthropic = self._dialect.api is ModelApi.ANTHROPIC
        return _anthropic_usage(self._raw) if is_anthropic else _openai_usage(self._raw)

    @property
    def is_worthless(self) -> bool:
        """Nothing came that could be charged for: not an answer of a model, or only an error."""
        is_error = self.error is not None and not self._tokens
        return self.usage is None and (is_error or not self.is_understood)

    def estimated(self, sent: Json) -> TokenUsage:
        received = ceil(self._tokens)
        reported = self.usage
        if reported is None:
            return TokenUsage(
                ceil(sum(_tokens_in(sent.get(field)) for field in self._dialect.sends)), received
            )
        return replace(reported, output_tokens=max(reported.output_tokens, received))

    def _note(self, part: Json, usage: Any) -> None:
        self.is_understood = True
        # Anthropic tells it in two parts, of which the second repeats some as null.
        self._raw |= {name: value for name, value in _object(usage).items() if value is not None}
        error = part.get("error")
        if error is None and part.get("type") == "error":
            error = part
        if error and self.error is None:
            self.error = str(_object(error).get("message") or error)[:MAX_ERROR]


def is_usage_only(event: Json) -> bool:
    """The chunk that a client of chat completions only gets where it asked for it."""
    return event.get("choices") == [] and isinstance(event.get("usage"), dict)


def _openai_usage(raw: Json) -> TokenUsage | None:
    """Chat completions and embeddings say prompt and completion, responses say input and output."""
    input_tokens = _count(raw.get("prompt_tokens", raw.get("input_tokens")))
    if input_tokens is None:
        return None
    output_tokens = _count(raw.get("completion_tokens", raw.get("output_tokens"))) or 0
    details = _object(raw.get("prompt_tokens_details", raw.get("input_tokens_details")))
    read = min(_count(details.get("cached_tokens")) or 0, input_tokens)
    written = min(_count(details.get("cache_write_tokens")) or 0, input_tokens - read)
    return TokenUsage(input_tokens, output_tokens, read, written)


def _anthropic_usage(raw: Json) -> TokenUsage | None:
    """Its input tokens are those beside the cache; ours are all of them."""
    input_tokens = _count(raw.get("input_tokens"))
    if input_tokens is None:
        return None
    read = _count(raw.get("cache_read_input_tokens")) or 0
    written = _count(raw.get("cache_creation_input_tokens")) or 0
    output_tokens = _count(raw.get("output_tokens")) or 0
    return TokenUsage(input_tokens + read + written, output_tokens, read, written)


def _tokens_in(value: Any) -> float:
    """An estimate; without recursion, for a body may be nested deeply."""
    tokens = 0.0
    waiting = [("", value)]
    while waiting:
        name, item = waiting.pop()
        if isinstance(item, str):
            is_file = item.startswith("data:") or name == "data"
            tokens += TOKENS_OF_A_FILE if is_file else len(item) / CHARACTERS_PER_TOKEN
        elif isinstance(item, dict):
            fields = cast("dict[str, Any]", item).items()
            waiting += [(key, inner) for key, inner in fields if key not in _NO_TEXT]
        elif isinstance(item, list):
            waiting += [(name, inner) for inner in cast("list[Any]", item)]
        elif isinstance(item, int) and not isinstance(item, bool) and name == "":
            tokens += 1  # of a text that the client made tokens of
    return tokens


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if is_count and 0 <= value <= MAX_COUNT else None


def _object(value: Any) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
