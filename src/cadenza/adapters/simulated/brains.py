"""Brains that do what a function or a script says, through the same tools as every other."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cadenza.application.ports.brain import Tools, Usage
from cadenza.domain.analysis import AnalysisContext, Attention

Thought = Callable[[AnalysisContext, Tools], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class FunctionBrain:
    thought: Thought
    name: str = "function"
    attention: Attention = Attention.OWN_RUNS
    reserved_tokens: int = 0
    reserved_cost: float = 0.0

    def pre_check(self, _context: AnalysisContext) -> None:
        """It always takes a session: nobody knows what the function will do."""

    async def analyse(self, context: AnalysisContext, tools: Tools) -> Usage:
        await self.thought(context, tools)
        return Usage()


@dataclass(frozen=True, slots=True)
class Step:
    """From this instant on, at the first look at this endpoint: one tool call."""

    at: datetime
    endpoint: str
    tool: str
    arguments: dict[str, Any]


@dataclass(slots=True)
class ScriptedBrain:
    script: Sequence[Step]
    name: str = "scripted"
    attention: Attention = Attention.OWN_RUNS
    reserved_tokens: int = 0
    reserved_cost: float = 0.0
    _done: set[int] = field(default_factory=set[int])

    def pre_check(self, context: AnalysisContext) -> Usage | None:
        return None if any(self._due(context)) else Usage()

    async def analyse(self, context: AnalysisContext, tools: Tools) -> Usage:
        for number, step in self._due(context):
            self._done.add(number)
            await tools.call(step.tool, step.arguments)
        return Usage()

    def _due(self, context: AnalysisContext) -> Iterator[tuple[int, Step]]:
        for number, step in enumerate(self.script):
            is_due = step.endpoint == context.endpoint.name and step.at <= context.now
            if is_due and number not in self._done:
                yield number, step
