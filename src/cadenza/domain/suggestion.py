"""Suggestions: what a planner would have done, for a person to accept while it makes sense."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from cadenza.domain.analysis import Waiting
from cadenza.domain.errors import Refused
from cadenza.domain.instants import iso

NEARLY = 0.2  # numbers this close ask for the same thing


@dataclass(frozen=True, slots=True)
class Suggestion:
    session_id: UUID
    call: int  # its index among the calls of the session, from 0
    endpoint_id: UUID
    endpoint_name: str
    brain: str
    tool: str
    arguments: Any
    result: dict[str, Any]
    reasoning: str
    suggested_at: datetime
    open_until: datetime
    tenant_id: UUID
    rule_id: UUID | None = None  # the declared rule that it was for
    accepted_by: str | None = None

    def check_open(self, now: datetime) -> None:
        """Refused where somebody was faster, or it took too long."""
        if self.accepted_by is not None:
            raise Refused(f"it was accepted by {self.accepted_by}")
        if self.open_until <= now:
            raise Refused(f"it could be accepted until {iso(self.open_until)}")


def is_waiting(tool: str, arguments: Any, waiting: Iterable[Waiting]) -> bool:
    """Whether nearly the same has been suggested and nobody has accepted it yet."""
    return any(other.tool == tool and _alike(other.arguments, arguments) for other in waiting)


def _alike(old: Any, new: Any) -> bool:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        before, after = cast("Mapping[str, Any]", old), cast("Mapping[str, Any]", new)
        names = before.keys() - {"reason"}  # in other words, it is still the same
        if names != after.keys() - {"reason"}:
            return False
        return all(_alike(before[name], after[name]) for name in names)
    if isinstance(old, int | float) and isinstance(new, int | float):
        return abs(old - new) <= NEARLY * max(abs(old), abs(new))
    return old == new
