"""Targets that answer as a script says."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.application.ports.clock import Clock
from cadenza.domain.run import Claim, Outcome, RunStatus


@dataclass(frozen=True, slots=True)
class Reply:
    outcome: Outcome
    takes: timedelta = timedelta(0)


class ScriptedDispatcher:
    def __init__(self, clock: Clock, script: Callable[[Claim, datetime], Reply]) -> None:
        self._clock = clock
        self._script = script

    async def dispatch(self, claim: Claim) -> Outcome:
        reply = self._script(claim, self._clock.now())
        limit = claim.target.timeout
        await self._clock.sleep(min(reply.takes, limit))
        if reply.takes > limit:
            return Outcome(RunStatus.TIMEOUT, "timeout", f"no answer within {limit}")
        return reply.outcome
