from typing import Protocol

from cadenza.domain.run import Claim, Outcome


class Dispatcher(Protocol):
    async def dispatch(self, claim: Claim) -> Outcome:
        """Send one attempt and wait for its end; what goes wrong is an outcome, not an error."""
        ...
