"""A brain that does what a function says, through the same tools as every other."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from cadenza.application.ports.brain import Tools, Usage
from cadenza.domain.analysis import AnalysisContext, Attention
from cadenza.domain.endpoint import Job


@dataclass(frozen=True, slots=True)
class FunctionBrain:
    thought: Callable[[AnalysisContext, Tools], Awaitable[None]]
    name: str = "function"
    attention: Attention = Attention.OWN_RUNS
    reserved_tokens: int = 0

    def model_for(self, _job: Job) -> None:
        """It asks none."""

    async def pre_check(self, _context: AnalysisContext) -> None:
        """It always takes a session: nobody knows what the function will do."""

    async def analyse(self, context: AnalysisContext, tools: Tools) -> Usage:
        await self.thought(context, tools)
        return Usage()
