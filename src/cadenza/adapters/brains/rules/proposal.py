"""What rules propose: one tool call, and the sentence that gives the reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cadenza.domain.analysis import Material


@dataclass(frozen=True, slots=True)
class Proposal:
    tool: str
    arguments: dict[str, Any]
    sentence: str
    confidence: float = 1.0


class DeclaredRules(Protocol):
    """The owner's own rules, which come before every detector and are bound by no budget."""

    def proposals(self, material: Material) -> Sequence[Proposal]: ...
