"""Which model is asked, how, and what it may cost."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from cadenza.domain.errors import InvalidInput
from cadenza.domain.target import Secret

MILLION = 1_000_000


class Provider(StrEnum):
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    COMPATIBLE = "openai-compatible"  # anything that speaks chat completions at a base URL


# How the names of each provider's own models begin.
_FAMILIES = {
    Provider.OPENAI: ("gpt", "chatgpt", "o1", "o3", "o4", "ft:"),
    Provider.ANTHROPIC: ("claude",),
    Provider.GOOGLE: ("gemini", "gemma"),
}


def check_model_name(asked: Provider | None, field: str, name: str) -> None:
    """A name that is another provider's for certain is refused; a new one may be anybody's.

    A compatible server may have every model, and where no provider is set nobody knows.
    """
    if asked is None or asked is Provider.COMPATIBLE or name.startswith(_FAMILIES[asked]):
        return
    for other, beginnings in _FAMILIES.items():
        if name.startswith((f"{other}:", f"{other}/", *beginnings)):
            has = f"its name alone, without {other}" if other is asked else f"one of {asked}'s"
            fix = f"this installation asks {asked}: give {has}, or leave it out"
            raise InvalidInput(field, name, fix)


@dataclass(frozen=True, slots=True)
class LlmOptions:
    provider: Provider
    model: str
    api_key: Secret | None = None
    base_url: str | None = None
    timeout: timedelta = timedelta(seconds=60)  # of one request, to the last byte of its answer
    temperature: float | None = None  # None: the provider's own; some models take no other
    max_output_tokens: int = 2000  # of one answer
    session_tokens: int = 50_000  # of a whole session: reserved before it, and never asked beyond
    stream: bool = False  # answers come in pieces, so that no proxy cuts an idle connection
    input_price: float = 0.0  # of a million tokens, in whatever money the quota is in
    output_price: float = 0.0

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        return (input_tokens * self.input_price + output_tokens * self.output_price) / MILLION

    @property
    def secrets(self) -> tuple[Secret, ...]:
        return () if self.api_key is None else (self.api_key,)
