"""What planners suggested: the calls of their sessions."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from uuid import UUID

from cadenza.adapters.memory.tables import Tables
from cadenza.application.ports.suggestions import LedTo
from cadenza.domain.errors import NotFound
from cadenza.domain.session import Session, ToolCall
from cadenza.domain.suggestion import Suggestion


class MemorySuggestions:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def open_suggestions(self, tenant_id: UUID, limit: int) -> Sequence[Suggestion]:
        sessions = [
            session for session in self._tables.sessions.values() if session.tenant_id == tenant_id
        ]
        sessions.sort(key=lambda session: session.id)
        sessions.sort(key=lambda session: session.started_at, reverse=True)
        now = self._tables.clock.now()
        suggestions = [
            suggestion_of(self._tables, session, index)
            for session in sessions
            for index, call in enumerate(session.tool_calls)
            if _is_open(call, now)
        ]
        return suggestions[:limit]

    async def get_suggestion(self, tenant_id: UUID, session_id: UUID, call: int) -> Suggestion:
        return suggestion_of(self._tables, self._tables.session(tenant_id, session_id), call)

    async def runs_of_session(
        self, tenant_id: UUID, session_id: UUID, limit: int
    ) -> Sequence[LedTo]:
        tables = self._tables
        session = tables.session(tenant_id, session_id)
        runs = [
            run
            for endpoint_id in tables.ids_of_job[session.job_id]
            for run_id in tables.runs_of[endpoint_id].values()
            if (run := tables.runs[run_id]).plan is not None
            and run.plan.get("session_id") == str(session_id)
        ]
        runs.sort(key=lambda run: (run.slot_at, run.endpoint_id))
        return [
            LedTo(
                run.id,
                run.endpoint_id,
                tables.endpoints[run.endpoint_id].endpoint.name,
                run.slot_at,
                run.source,
                run.status,
            )
            for run in runs[:limit]
        ]


def suggestion_of(tables: Tables, session: Session, call: int) -> Suggestion:
    """NotFound where the session suggested nothing in this call."""
    calls = session.tool_calls
    if not 0 <= call < len(calls) or not calls[call].suggested:
        raise NotFound(f"session {session.id} suggested nothing in call {call}")
    suggested = calls[call]
    assert suggested.holds_until is not None
    return Suggestion(
        session_id=session.id,
        call=call,
        endpoint_id=session.endpoint_id,
        endpoint_name=tables.endpoints[session.endpoint_id].endpoint.name,
        brain=session.brain,
        tool=suggested.tool,
        arguments=suggested.arguments,
        result=suggested.result,
        reasoning=session.reasoning,
        suggested_at=session.started_at,
        open_until=suggested.holds_until,
        tenant_id=session.tenant_id,
        rule_id=suggested.rule_id,
        accepted_by=suggested.accepted_by,
    )


def waiting_calls(tables: Tables, endpoint_id: UUID, brain: str) -> Iterator[ToolCall]:
    """What this brain suggested about an endpoint and nobody has accepted."""
    now = tables.clock.now()
    for session in tables.sessions.values():
        if session.endpoint_id == endpoint_id and session.kind == brain:
            yield from (call for call in session.tool_calls if _is_open(call, now))


def _is_open(call: ToolCall, now: datetime) -> bool:
    if not call.suggested or call.accepted_by is not None:
        return False
    return call.holds_until is not None and call.holds_until > now
