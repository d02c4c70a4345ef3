"""A brain thinks in a session: it reads its context, calls tools, and submits its analysis."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from cadenza.domain.analysis import AnalysisContext, Attention
from cadenza.domain.billing import Basis, ModelApi, TokenUsage
from cadenza.domain.endpoint import Job
from cadenza.domain.track_record import TrackRecord


@dataclass(frozen=True, slots=True)
class AskedModel:
    api: ModelApi
    name: str


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One answer of a model."""

    asked: AskedModel
    answered: str  # the model that the answer names
    usage: TokenUsage
    basis: Basis = Basis.COUNTED


@dataclass(frozen=True, slots=True)
class Usage:
    """What a session has used, by which prompt, and what somebody should know about it."""

    tokens: int = 0
    cost: float = 0.0  # where no prices are set, what the brain says
    prompt_version: str | None = None
    warnings: tuple[str, ...] = ()
    fired: tuple[UUID, ...] = ()  # the declared rules that did something
    memory: Mapping[str, Any] | None = None  # to be remembered of the endpoint; None: as before


class Tools(Protocol):
    async def call(
        self, tool: str, arguments: dict[str, Any], rule_id: UUID | None = None
    ) -> dict[str, Any]:
        """Run one tool, perhaps for a declared rule. A bad call is answered with `ok: false` and
        the reason, never raised."""
        ...

    async def track_record(self) -> TrackRecord:
        """Of the analysed endpoint: more than a look after every run could afford to read."""
        ...

    def report_usage(self, usage: Usage) -> None:
        """What the session has used so far: it counts also where the session is cut off."""
        ...

    def report_call(self, call: ModelCall) -> None:
        """A model has answered: each answer is priced, and charged where an account pays."""
        ...


class Brain(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def attention(self) -> Attention: ...

    @property
    def reserved_tokens(self) -> int:
        """What a session may cost at most; 0 for a brain that is free."""
        ...

    def model_for(self, job: Job, /) -> AskedModel | None:
        """The model that sessions about this job ask; None for a brain that asks none."""
        ...

    async def pre_check(self, context: AnalysisContext, /) -> Usage | None:
        """What a look came to that wants no tools, and waits for nothing but expressions of the
        owner: most of those of a brain that is free. None where it takes a session; then `analyse`
        is asked."""
        ...

    async def analyse(self, context: AnalysisContext, tools: Tools) -> Usage: ...
