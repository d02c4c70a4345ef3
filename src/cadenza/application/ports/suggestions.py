"""What planners suggested and nobody has accepted yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from cadenza.domain.suggestion import Suggestion


@dataclass(frozen=True, slots=True)
class LedTo:
    """A run whose slot was chosen by a session's hint or pause."""

    run_id: UUID
    endpoint_id: UUID
    endpoint_name: str
    slot_at: datetime
    source: str
    status: str


class SuggestionReads(Protocol):
    async def open_suggestions(
        self, tenant_id: UUID, limit: int, job_ids: frozenset[UUID] | None = None
    ) -> Sequence[Suggestion]:
        """Those that can still be accepted, the newest first; of some jobs, or of all."""
        ...

    async def get_suggestion(
        self, tenant_id: UUID, session_id: UUID, call: int | None
    ) -> Suggestion:
        """NotFound where there is no such session, or it suggested nothing in this call."""
        ...

    async def runs_of_session(
        self, tenant_id: UUID, session_id: UUID, limit: int
    ) -> Sequence[LedTo]:
        """The runs that its hints and pauses led to, the oldest first."""
        ...
