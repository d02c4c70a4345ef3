"""What is kept besides runs: the planner's sessions, the audit log, a job's timeline."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from cadenza.application.ports.records import AuditRecord, AuditSearch, SessionSearch
from cadenza.application.ports.run_search import ListedRun
from cadenza.application.timeline import Entry, Span, job_timeline, place_of
from cadenza.domain.instants import milliseconds
from cadenza.domain.session import Session, SessionEnd
from cadenza.web.api.access import Admin, ApiDependencies, Reader
from cadenza.web.api.paging import Cursor, Limit, Searched, Text
from cadenza.web.api.routes import router
from cadenza.web.api.runs import RunShown, run_shown
from cadenza.web.api.schemas import Shown
from cadenza.web.api.suggestions import RunLedTo, runs_led_to
from cadenza.web.api.time_pages import From, TimePage, To, check_order, read_place, time_page

routes = router("Records")
RUNS_SHOWN = 20
Word = Annotated[Text | None, Query(min_length=1, max_length=200)]


class ToolCallShown(Shown):
    tool: str
    arguments: Any
    result: dict[str, Any]
    took_effect: bool
    suggested: bool = Field(description="It would have taken effect, and waits for a person.")
    open_until: datetime | None = Field(description="How long a suggestion can be accepted.")
    accepted_by: str | None


class SessionShown(Shown):
    id: UUID
    job_id: UUID
    endpoint_id: UUID
    brain: str
    started_at: datetime
    duration_ms: int
    ended_as: SessionEnd
    reasoning: str
    confidence: float | None
    tokens: int
    cost: float
    tools: list[str] = Field(description="The tools that were called, in their order.")
    next_analysis_at: datetime | None


class SessionInFullShown(SessionShown):
    tool_calls: list[ToolCallShown]
    warnings: list[str]
    runs: list[RunLedTo] = Field(
        description="The first runs whose slots its hints and pauses chose; all of them: /runs."
    )


class AuditShown(Shown):
    id: int
    at: datetime
    actor: str
    action: str
    subject: str
    data: dict[str, Any]


class TimelineEntry(Shown):
    at: datetime
    kind: Literal["run", "act", "session"]
    run: RunShown | None = None
    act: AuditShown | None = None
    session: SessionShown | None = None


@routes.get("/sessions")
async def list_sessions(
    caller: Reader,
    dependencies: ApiDependencies,
    endpoint_id: UUID | None = None,
    job_id: UUID | None = None,
    brain: Word = None,
    search: Searched = None,
    from_at: From = None,
    to: To = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> TimePage[SessionShown]:
    """What the planner did or wanted, newest first; `search` looks into its reasoning."""
    check_order(from_at, to)
    wanted = SessionSearch(
        endpoint_id, job_id, brain, search, from_at, to, read_place(cursor), limit
    )
    found = await dependencies.reads.records.search_sessions(caller.tenant_id, wanted)
    return time_page(found, _session_shown)


@routes.get("/sessions/{session_id}")
async def get_session(
    session_id: UUID, caller: Reader, dependencies: ApiDependencies
) -> SessionInFullShown:
    session = await dependencies.reads.records.get_session(caller.tenant_id, session_id)
    calls = [
        ToolCallShown(
            tool=each.tool,
            arguments=each.arguments,
            result=each.result,
            took_effect=each.took_effect,
            suggested=each.suggested,
            open_until=each.holds_until if each.suggested else None,
            accepted_by=each.accepted_by,
        )
        for each in session.tool_calls
    ]
    return SessionInFullShown(
        **_session_fields(session),
        tool_calls=calls,
        warnings=list(session.warnings),
        runs=await runs_led_to(dependencies, caller, session_id, RUNS_SHOWN),
    )


@routes.get("/audit")
async def list_audit(
    caller: Admin,
    dependencies: ApiDependencies,
    actor: Annotated[Word, Query(description="A piece of it.")] = None,
    action: Annotated[Word, Query(description="Like `endpoint.pause`.")] = None,
    subject: Annotated[Word, Query(description="The id of what it was done to.")] = None,
    from_at: From = None,
    to: To = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> TimePage[AuditShown]:
    """Who did what, newest first."""
    check_order(from_at, to)
    subjects = (subject,) if subject is not None else ()
    wanted = AuditSearch(actor, action, subjects, from_at, to, read_place(cursor), limit)
    found = await dependencies.reads.records.search_audit(caller.tenant_id, wanted)
    return time_page(found, _audit_shown)


@routes.get("/jobs/{job_id}/timeline")
async def get_timeline(
    job_id: UUID,
    caller: Reader,
    dependencies: ApiDependencies,
    from_at: From = None,
    to: To = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> TimePage[TimelineEntry]:
    """Runs, acts of people and sessions of the planner, merged by time, newest first."""
    check_order(from_at, to)
    await dependencies.jobs.get_job(caller.tenant_id, job_id)
    span = Span(from_at, to, read_place(cursor), limit)
    reads = dependencies.reads
    found = await job_timeline(reads.runs, reads.records, caller.tenant_id, job_id, span)
    return time_page(found, _timeline_entry)


def _timeline_entry(entry: Entry) -> TimelineEntry:
    at, _ = place_of(entry)
    if isinstance(entry, ListedRun):
        return TimelineEntry(at=at, kind="run", run=run_shown(entry))
    if isinstance(entry, AuditRecord):
        return TimelineEntry(at=at, kind="act", act=_audit_shown(entry))
    return TimelineEntry(at=at, kind="session", session=_session_shown(entry))


def _audit_shown(entry: AuditRecord) -> AuditShown:
    return AuditShown(
        id=entry.id.int,
        at=entry.at,
        actor=entry.actor,
        action=entry.action,
        subject=entry.subject,
        data=entry.data,
    )


def _session_shown(session: Session) -> SessionShown:
    return SessionShown(**_session_fields(session))


def _session_fields(session: Session) -> dict[str, Any]:
    return {
        "id": session.id,
        "job_id": session.job_id,
        "endpoint_id": session.endpoint_id,
        "brain": session.brain,
        "started_at": session.started_at,
        "duration_ms": milliseconds(session.duration),
        "ended_as": session.end,
        "reasoning": session.reasoning,
        "confidence": session.confidence,
        "tokens": session.tokens,
        "cost": session.cost,
        "tools": [each.tool for each in session.tool_calls],
        "next_analysis_at": session.next_analysis_at,
    }
