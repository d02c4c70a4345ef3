"""What planners keep: analyses, sessions, suggestions and quotas."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from uuid import UUID

from cadenza.adapters.memory.rows import AnalysisRow, ReservationRow
from cadenza.adapters.memory.searching import is_among
from cadenza.adapters.memory.tables import OverTables, Tables, key_of
from cadenza.adapters.memory.writes import Writes
from cadenza.application.ports.planning import Reservation
from cadenza.application.ports.suggestions import LedTo
from cadenza.domain.analysis import AnalysisReason
from cadenza.domain.quota import Allowance, Period
from cadenza.domain.session import Session
from cadenza.domain.suggestion import Suggestion, suggestion_of, suggestions_of


class MemorySuggestions(OverTables):
    async def open_suggestions(
        self, tenant_id: UUID, limit: int, job_ids: frozenset[UUID] | None = None
    ) -> Sequence[Suggestion]:
        tables, now = self._tables, self._tables.clock.now()
        sessions = sorted(tables.sessions.values(), key=lambda session: session.id)
        sessions.sort(key=lambda session: session.started_at, reverse=True)
        suggestions = (
            suggestion
            for session in sessions
            if session.tenant_id == tenant_id and is_among(session.job_id, job_ids)
            for suggestion in suggestions_of(session, _endpoint_name(tables, session), now)
        )
        return list(islice(suggestions, limit))

    async def get_suggestion(
        self, tenant_id: UUID, session_id: UUID, call: int | None
    ) -> Suggestion:
        session = self._tables.session(tenant_id, session_id)
        return suggestion_of(session, call, _endpoint_name(self._tables, session))

    async def runs_of_session(
        self, tenant_id: UUID, session_id: UUID, limit: int
    ) -> Sequence[LedTo]:
        tables = self._tables
        session = tables.session(tenant_id, session_id)
        runs = [
            LedTo(run.id, endpoint_id, row.endpoint.name, run.slot_at, run.source, run.status)
            for endpoint_id in tables.ids_of_job[session.job_id]
            for row in [tables.endpoints[endpoint_id]]
            for run_id in tables.runs_of[endpoint_id].values()
            if (run := tables.runs[run_id]).plan is not None
            and run.plan.get("session_id") == str(session_id)
        ]
        return sorted(runs, key=lambda run: (run.slot_at, run.endpoint_id))[:limit]


def _endpoint_name(tables: Tables, session: Session) -> str:
    return tables.endpoints[session.endpoint_id].endpoint.name


class MemoryPlannerRows(Writes):
    """A transaction's verbs."""

    async def save_analysis_states(
        self, sessions: Sequence[Session], holder: str
    ) -> frozenset[UUID]:
        endpoints = self._tables.endpoints
        present = [session for session in sessions if session.endpoint_id in endpoints]
        for session in present:
            key = (session.endpoint_id, session.kind)
            before = self._tables.analyses.get(key, AnalysisRow())
            self._put(self._tables.analyses, key, _after(before, session, holder))
        return frozenset(session.endpoint_id for session in present)

    async def note_skipped(self, session: Session) -> bool:
        key = (session.endpoint_id, session.kind)
        before = self._tables.analyses.get(key, AnalysisRow())
        if session.endpoint_id not in self._tables.endpoints or before.trouble == session.trouble:
            return False
        self._put(self._tables.analyses, key, replace(before, trouble=session.trouble))
        return True

    async def insert_sessions(self, sessions: Sequence[Session]) -> None:
        for session in sessions:
            if session.id not in self._tables.sessions:
                self._put(self._tables.sessions, session.id, session)

    async def count_refusal(self, session: Session, since: datetime) -> bool:
        refused = (session.endpoint_id, session.brain, session.refusal)
        alike = [
            other
            for other in self._tables.sessions.values()
            if (other.endpoint_id, other.brain, other.refusal) == refused
            and (other.last_at or other.started_at) > since
        ]
        if not alike:
            return False
        newest = max(alike, key=lambda other: other.started_at)
        counted = replace(newest, repeats=newest.repeats + 1, last_at=session.started_at)
        self._put(self._tables.sessions, newest.id, counted)
        return True

    async def lock_suggestion(self, tenant_id: UUID, session_id: UUID, call: int) -> Suggestion:
        session = self._tables.session(tenant_id, session_id)
        return suggestion_of(session, call, _endpoint_name(self._tables, session))

    async def mark_accepted(
        self,
        suggestion: Suggestion,
        actor: str,
        until_at: datetime,  # noqa: ARG002 - all runs are looked at for what it led to
    ) -> None:
        self._mark(suggestion, accepted_by=actor)

    async def mark_dismissed(self, suggestion: Suggestion, actor: str | None) -> None:
        self._mark(suggestion, dismissed_by=actor)

    def _mark(self, suggestion: Suggestion, **marks: str | None) -> None:
        session = self._tables.sessions[suggestion.session_id]
        calls = list(session.tool_calls)
        calls[suggestion.call] = replace(calls[suggestion.call], **marks)
        marked = replace(session, tool_calls=tuple(calls))
        self._put(self._tables.sessions, session.id, marked)

    async def lock_allowance(self, period: Period) -> Allowance:
        return self._tables.allowances.get(key_of(period), Allowance(None))

    async def save_allowance(self, period: Period, allowance: Allowance) -> None:
        self._put(self._tables.allowances, key_of(period), allowance)

    async def insert_reservation(self, reservation: Reservation) -> None:
        row = ReservationRow(reservation, self._now)
        self._put(self._tables.reservations, reservation.id, row)

    async def take_reservation(self, reservation_id: UUID) -> Reservation | None:
        row = self._tables.reservations.get(reservation_id)
        if row is None:
            return None
        self._delete(self._tables.reservations, reservation_id)
        return row.reservation

    async def take_old_reservations(
        self, tenant_id: UUID, before: datetime
    ) -> Sequence[Reservation]:
        old = [
            row.reservation
            for row in self._tables.reservations.values()
            if row.tenant_id == tenant_id and row.reserved_at < before
        ]
        for reservation in old:
            self._delete(self._tables.reservations, reservation.id)
        return old


def _after(row: AnalysisRow, session: Session, holder: str) -> AnalysisRow:
    fired = {**row.fired, **dict.fromkeys(session.fired, session.started_at)}
    is_ours = row.leased_by == holder
    return AnalysisRow(
        session.started_at,
        session.next_analysis_at,
        session.reasoning,
        row.idle_count + (not session.worth_keeping),
        {rule_id: at for rule_id, at in fired.items() if rule_id not in session.forgotten},
        row.memory if session.memory is None else session.memory,
        None if is_ours else row.leased_until,
        None if is_ours else row.leased_by,
        session.started_at if session.reason is AnalysisReason.STREAK else row.streak_looked_at,
        session.failed_looks,
        session.trouble,
    )
