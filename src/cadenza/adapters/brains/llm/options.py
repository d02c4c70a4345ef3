"""Which model is asked, how, and what it may cost."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from cadenza.domain.target import Secret

MILLION = 1_000_000


class Provider(StrEnum):
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    COMPATIBLE = "openai-compatible"  # anything that speaks chat completions at a base URL


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
