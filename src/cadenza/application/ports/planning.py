"""What planners keep: the state of analyses, sessions, suggestions and quotas."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from cadenza.domain.endpoint import Job
from cadenza.domain.quota import Allowance, OverLimit, Period, QuotaWarning
from cadenza.domain.session import Session
from cadenza.domain.suggestion import Suggestion


@dataclass(frozen=True, slots=True)
class Reservation:
    id: UUID
    tenant_id: UUID
    month: str
    tokens: int
    cost: float = 0.0
    job_id: UUID | None = None  # None: of a time when only tenants had limits
    day: str | None = None

    @property
    def periods(self) -> Iterator[Period]:
        yield Period(self.tenant_id, self.month)
        if self.job_id is not None and self.day is not None:
            yield Period(self.tenant_id, self.day, self.job_id)


class Quota(Protocol):
    """What a planner asks before and after a session that costs something."""

    async def reserve(self, job: Job, tokens: int, cost: float = 0.0) -> Reservation | OverLimit:
        """Set tokens and money aside, or say which limit is in the way."""
        ...

    async def settle(
        self, reservation: Reservation, used: int, cost: float = 0.0
    ) -> Sequence[QuotaWarning]:
        """Turn what was set aside into what was used; settling it again changes nothing."""
        ...


class PlannerRows(Protocol):
    async def save_analysis_states(
        self, sessions: Sequence[Session], holder: str
    ) -> frozenset[UUID]:
        """What each brain remembers of an endpoint; a session that is not worth keeping is counted.

        Ends the leases of this holder, and gives the endpoints that are still there. NotFound where
        one is deleted at the same moment, and nothing is stored."""
        ...

    async def note_skipped(self, session: Session) -> bool:
        """Why no session is held about an endpoint; False where that is known already."""
        ...

    async def insert_sessions(self, sessions: Sequence[Session]) -> None:
        """One that is there already stays as it is."""
        ...

    async def count_refusal(self, session: Session, since: datetime) -> bool:
        """Count it with the newest session of its endpoint and brain that was refused the same
        since then; False where there is none."""
        ...

    async def lock_suggestion(self, tenant_id: UUID, session_id: UUID, call: int) -> Suggestion:
        """NotFound where there is no such session, or it suggested nothing in this call."""
        ...

    async def mark_accepted(self, suggestion: Suggestion, actor: str, until_at: datetime) -> None:
        """The runs it leads to are looked for until then."""
        ...

    async def mark_dismissed(self, suggestion: Suggestion, actor: str | None) -> None:
        """Nobody: it is as it was before."""
        ...

    async def lock_allowance(self, period: Period) -> Allowance:
        """An empty one where nothing was used in it."""
        ...

    async def save_allowance(self, period: Period, allowance: Allowance) -> None: ...

    async def insert_reservation(self, reservation: Reservation) -> None: ...

    async def take_reservation(self, reservation_id: UUID) -> Reservation | None:
        """It is there no more; None where it was not."""
        ...

    async def take_old_reservations(
        self, tenant_id: UUID, before: datetime
    ) -> Sequence[Reservation]: ...
