"""A brain thinks in a session: it reads its context, calls tools, and submits its analysis."""

from dataclasses import dataclass
from typing import Any, Protocol

from cadenza.domain.analysis import Attention, Material


@dataclass(frozen=True, slots=True)
class Usage:
    tokens: int = 0
    cost: float = 0.0


class Tools(Protocol):
    async def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Run one tool. A bad call is answered with `ok: false` and the reason, never raised."""
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

    async def analyse(self, material: Material, tools: Tools) -> Usage: ...
