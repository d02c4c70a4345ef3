"""Chooses the dispatcher for each kind of target."""

from collections.abc import Mapping

from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.domain.run import Claim, Outcome, RunStatus
from cadenza.domain.target import ShellTarget, Target


class RoutedDispatcher:
    def __init__(self, dispatchers: Mapping[type[Target], Dispatcher]) -> None:
        self._dispatchers = dispatchers

    async def dispatch(self, claim: Claim) -> Outcome:
        if claim.unreadable is not None:
            return Outcome(RunStatus.FAILURE, "secret", claim.unreadable)
        dispatcher = self._dispatchers.get(type(claim.target))
        if dispatcher is None:
            return Outcome(RunStatus.FAILURE, "not_allowed", _not_run(claim.target))
        return await dispatcher.dispatch(claim)


def _not_run(target: Target) -> str:
    if isinstance(target, ShellTarget):
        return (
            "this worker runs no commands: start it with CADENZA_SHELL_ALLOWED=true, or call an "
            "address instead"
        )
    return f"this worker runs no {type(target).__name__}"
