"""What rules propose: one tool call, and the sentence that gives the reason."""

from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from cadenza.domain.analysis import AnalysisContext


@dataclass(frozen=True, slots=True)
class Proposal:
    tool: str
    arguments: dict[str, Any]
    sentence: str
    confidence: float = 1.0
    rule_id: UUID | None = None  # the declared rule that it comes from


@dataclass(frozen=True, slots=True)
class Ruling:
    """What declared rules propose in an analysis; warnings name rules that have no yes or no."""

    proposals: tuple[Proposal, ...] = ()
    warnings: tuple[str, ...] = ()


class DeclaredRules(Protocol):
    """The owner's own rules, which come before every detector and are bound by no budget."""

    async def ruling(self, context: AnalysisContext) -> Ruling: ...

    async def speak_for(self, context: AnalysisContext) -> bool:
        """Whether a rule steers the endpoint at present, so that no detector may."""
        ...
