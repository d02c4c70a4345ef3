"""What planners suggested, kept with their sessions."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from uuid import UUID

from cadenza.adapters.memory.tables import Tables
from cadenza.application.ports.suggestions import LedTo
from cadenza.domain.audit import AuditEntry
from cadenza.domain.errors import NotFound, Refused
from cadenza.domain.instants import iso
from cadenza.domain.session import Session, ToolCall
from cadenza.domain.suggestion import Suggestion


def waiting_calls(tables: Tables, endpoint_id: UUID, brain: str) -> Iterator[ToolCall]:
    """What this brain suggested about an endpoint and nobody accepted."""
    now = tables.clock.now()
    for session in tables.sessions:
        if session.endpoint_id != endpoint_id or session.kind != brain:
            continue
        for place, call in enumerate(session.tool_calls):
            if _is_open(tables, session, place, now):
                yield call


def _is_open(tables: Tables, session: Session, place: int, now: datetime) -> bool:
    call = session.tool_calls[place]
    if not call.suggested or call.holds_until is None or call.holds_until <= now:
        return False
    return (session.id, place) not in tables.accepted


class MemorySuggestions:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def open_suggestions(self, tenant_id: UUID, limit: int) -> Sequence[Suggestion]:
        now = self._tables.clock.now()
        found = [
            self._suggestion(session, place)
            for session in self._tables.sessions
            if session.tenant_id == tenant_id
            for place in range(len(session.tool_calls))
            if _is_open(self._tables, session, place, now)
        ]
        return sorted(found, key=lambda each: each.suggested_at, reverse=True)[:limit]

    @asynccontextmanager
    async def accepting(
        self, tenant_id: UUID, session_id: UUID, call: int, entry: AuditEntry
    ) -> AsyncGenerator[Suggestion]:
        session = self._session(tenant_id, session_id)
        if not 0 <= call < len(session.tool_calls) or not session.tool_calls[call].suggested:
            raise NotFound(f"session {session_id} suggested nothing in call {call}")
        if (session_id, call) in self._tables.accepted:
            raise Refused(f"it was accepted by {self._tables.accepted[session_id, call]}")
        suggestion = self._suggestion(session, call)
        if suggestion.open_until <= self._tables.clock.now():
            raise Refused(f"it could be accepted until {iso(suggestion.open_until)}")
        self._tables.accepted[session_id, call] = entry.actor
        try:
            yield suggestion
        except BaseException:
            del self._tables.accepted[session_id, call]
            raise

    async def note_refusal(self, tenant_id: UUID, session_id: UUID, entry: AuditEntry) -> None:
        """There is no audit log here."""

    async def runs_of_session(
        self, tenant_id: UUID, session_id: UUID, limit: int
    ) -> Sequence[LedTo]:
        self._session(tenant_id, session_id)
        runs = [
            run
            for run in self._tables.runs.values()
            if run.plan is not None and run.plan.get("session_id") == str(session_id)
        ]
        return [
            LedTo(
                run.id,
                run.endpoint_id,
                self._tables.endpoints[run.endpoint_id].endpoint.name,
                run.slot_at,
                run.source,
                run.status,
            )
            for run in sorted(runs, key=lambda run: run.slot_at)[:limit]
        ]

    def _session(self, tenant_id: UUID, session_id: UUID) -> Session:
        for session in self._tables.sessions:
            if (session.id, session.tenant_id) == (session_id, tenant_id):
                return session
        raise NotFound(f"no session {session_id}")

    def _suggestion(self, session: Session, place: int) -> Suggestion:
        call = session.tool_calls[place]
        assert call.holds_until is not None
        return Suggestion(
            session.id,
            place,
            session.endpoint_id,
            self._tables.endpoints[session.endpoint_id].endpoint.name,
            session.brain,
            call.tool,
            call.arguments,
            call.result,
            session.reasoning,
            session.started_at,
            call.holds_until,
        )
