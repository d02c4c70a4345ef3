"""What a replay may spend on a model, and what it has spent: the Quota port for one replay."""

from collections.abc import Sequence
from dataclasses import dataclass

from cadenza.adapters.system.ids import new_id
from cadenza.application.ports.gateway import Prices
from cadenza.application.ports.planning import Reservation
from cadenza.domain.endpoint import Job
from cadenza.domain.quota import OverLimit, QuotaWarning


@dataclass(slots=True)
class Purse:
    most_sessions: int
    prices: Prices | None = None  # None: nobody is asked who costs
    sessions: int = 0  # that cost something: rules ask for none
    tokens: int = 0
    cost: float = 0.0

    async def reserve(self, job: Job, tokens: int, cost: float = 0.0) -> Reservation | OverLimit:
        if self.sessions >= self.most_sessions:
            return OverLimit("sessions", "replay", "it", self.most_sessions, 0, 1)
        self.sessions += 1
        return Reservation(new_id(), job.tenant_id, "", tokens, cost)

    async def settle(
        self, reservation: Reservation, used: int, cost: float = 0.0
    ) -> Sequence[QuotaWarning]:
        del reservation
        self.tokens += used
        self.cost += cost
        return ()

    def __str__(self) -> str:
        sessions = "1 session" if self.sessions == 1 else f"{self.sessions} sessions"
        money = f", {self.cost:.4f} in money" if self.cost else ""
        return f"{sessions} with the model, {self.tokens:,} tokens{money}"
