"""What planners suggested and nobody has accepted yet."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from cadenza.domain.audit import AuditEntry
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


class SuggestionStore(Protocol):
    async def open_suggestions(self, tenant_id: UUID, limit: int) -> Sequence[Suggestion]:
        """Those that can still be accepted, the newest first."""
        ...

    def accepting(
        self, tenant_id: UUID, session_id: UUID, call: int, entry: AuditEntry
    ) -> AbstractAsyncContextManager[Suggestion]:
        """Mark one as accepted, once; Refused where it was before, or is past its time.

        What is done inside is of one piece with the mark: both hold, or neither does.
        """
        ...

    async def note_refusal(self, tenant_id: UUID, session_id: UUID, entry: AuditEntry) -> None:
        """What somebody accepted could not be done."""
        ...

    async def runs_of_session(
        self, tenant_id: UUID, session_id: UUID, limit: int
    ) -> Sequence[LedTo]:
        """The runs that its hints and pauses led to, the oldest first."""
        ...
