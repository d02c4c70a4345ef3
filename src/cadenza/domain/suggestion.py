"""Suggestions: what a planner would have done, for a person to accept while it makes sense."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from cadenza.domain.analysis import Waiting
from cadenza.domain.errors import InvalidInput, NotFound, Refused
from cadenza.domain.instants import iso
from cadenza.domain.session import Session

NEARLY = 0.2  # numbers this close ask for the same thing


@dataclass(frozen=True, slots=True)
class Suggestion:
    session_id: UUID
    job_id: UUID
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
    dismissed_by: str | None = None

    def check_open(self, now: datetime) -> None:
        """Refused where somebody was faster, or it took too long."""
        if self.accepted_by is not None:
            raise Refused(f"it was accepted by {self.accepted_by}")
        if self.dismissed_by is not None:
            raise Refused(f"it was dismissed by {self.dismissed_by}; undo that first")
        if self.open_until <= now:
            raise Refused(f"it could be accepted until {iso(self.open_until)}")


def suggestion_of(session: Session, index: int | None, endpoint_name: str) -> Suggestion:
    """Of one call, or of the only one. NotFound where the session suggested nothing there."""
    index = _only_suggestion(session) if index is None else index
    calls = session.tool_calls
    call = calls[index] if 0 <= index < len(calls) else None
    if call is None or not call.suggested or call.holds_until is None:
        raise NotFound(f"session {session.id} suggested nothing in call {index}")
    return Suggestion(
        session_id=session.id,
        job_id=session.job_id,
        call=index,
        endpoint_id=session.endpoint_id,
        endpoint_name=endpoint_name,
        brain=session.brain,
        tool=call.tool,
        arguments=call.arguments,
        result=call.result,
        reasoning=session.reasoning,
        suggested_at=session.started_at,
        open_until=call.holds_until,
        tenant_id=session.tenant_id,
        rule_id=call.rule_id,
        accepted_by=call.accepted_by,
        dismissed_by=call.dismissed_by,
    )


def _only_suggestion(session: Session) -> int:
    suggested = [index for index, call in enumerate(session.tool_calls) if call.suggested]
    waiting = [index for index in suggested if session.tool_calls[index].accepted_by is None]
    if not suggested:
        raise NotFound(f"session {session.id} suggested nothing")
    if len(waiting or suggested) > 1:
        places = ", ".join(map(str, waiting or suggested))
        raise InvalidInput("call", "nothing", f"it suggested several things; give one of {places}")
    return (waiting or suggested)[0]


def suggestions_of(session: Session, endpoint_name: str, now: datetime) -> Iterator[Suggestion]:
    """Those that can still be accepted."""
    for index, call in enumerate(session.tool_calls):
        if call.can_be_accepted(now):
            yield suggestion_of(session, index, endpoint_name)


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
