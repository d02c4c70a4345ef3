"""Which dispatcher serves which kind of target."""

from collections.abc import Mapping

from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.domain.run import Claim, Outcome, RunStatus
from cadenza.domain.target import Target


class RoutedDispatcher:
    def __init__(self, dispatchers: Mapping[type[Target], Dispatcher]) -> None:
        self._dispatchers = dispatchers

    async def dispatch(self, claim: Claim) -> Outcome:
        if claim.unreadable is not None:
            return Outcome(RunStatus.FAILURE, "secret", claim.unreadable)
        dispatcher = self._dispatchers.get(type(claim.target))
        if dispatcher is None:
            kind = type(claim.target).__name__
            return Outcome(RunStatus.FAILURE, "not_allowed", f"this worker does not run a {kind}")
        return await dispatcher.dispatch(claim)
