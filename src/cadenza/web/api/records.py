"""What is recorded besides runs: the planner's sessions with what they suggest, the audit log, a
job's timeline."""

from uuid import UUID

from cadenza.application.ports.records import AuditSearch, SessionSearch
from cadenza.application.ports.search_result import Span
from cadenza.application.timeline import job_timeline
from cadenza.web.api.access import Admin, ApiDependencies, Operator, Reader
from cadenza.web.api.parsing.bodies import AcceptBody
from cadenza.web.api.parsing.cursors import read_time_cursor
from cadenza.web.api.parsing.query import (
    Action,
    Actor,
    Cursor,
    Few,
    From,
    Limit,
    Searched,
    Subject,
    To,
    Word,
    check_order,
)
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.pages import TimePage, time_page_response
from cadenza.web.api.schemas.records import (
    AcceptedSuggestionResponse,
    AnalysesResponse,
    AuditEntryResponse,
    DismissedSuggestionResponse,
    SessionDetailResponse,
    SessionResponse,
    SessionRunsResponse,
    SuggestionsResponse,
    TimelineEntryResponse,
    session_detail_response,
    session_response,
    timeline_entry_response,
)

routes = router("Records")
suggestion_routes = router("Suggestions")
RUNS_OF_A_SESSION = 20


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
) -> TimePage[SessionResponse]:
    """What the planner did or wanted, newest first; `search` looks into its reasoning."""
    check_order(from_at, to)
    after = read_time_cursor(cursor)
    criteria = SessionSearch(from_at, to, after, limit, endpoint_id, job_id, brain, search)
    sessions = await dependencies.reads.records.search_sessions(caller.tenant_id, criteria)
    return time_page_response(sessions, session_response)


@routes.get("/endpoints/{endpoint_id}/analyses")
async def list_analyses(
    endpoint_id: UUID, caller: Reader, dependencies: ApiDependencies
) -> AnalysesResponse:
    """How each brain stands to it: when it looked, when it looks again, and what is in the way."""
    states = await dependencies.reads.records.analyses_of(caller.tenant_id, endpoint_id)
    return AnalysesResponse.model_validate({"items": states})


@routes.get("/sessions/{session_id}")
async def get_session(
    session_id: UUID, caller: Reader, dependencies: ApiDependencies
) -> SessionDetailResponse:
    session = await dependencies.reads.records.get_session(caller.tenant_id, session_id)
    runs = await dependencies.reads.suggestions.runs_of_session(
        caller.tenant_id, session_id, RUNS_OF_A_SESSION
    )
    return session_detail_response(session, runs)


@routes.get("/audit")
async def list_audit(
    caller: Admin,
    dependencies: ApiDependencies,
    actor: Actor = None,
    action: Action = None,
    subject: Subject = None,
    from_at: From = None,
    to: To = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> TimePage[AuditEntryResponse]:
    """Who did what, newest first."""
    check_order(from_at, to)
    subjects = (subject,) if subject is not None else ()
    after = read_time_cursor(cursor)
    criteria = AuditSearch(from_at, to, after, limit, actor, action, subjects)
    records = await dependencies.reads.records.search_audit(caller.tenant_id, criteria)
    return time_page_response(records, AuditEntryResponse.model_validate)


@routes.get("/jobs/{job_id}/timeline")
async def get_timeline(
    job_id: UUID,
    caller: Reader,
    dependencies: ApiDependencies,
    from_at: From = None,
    to: To = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> TimePage[TimelineEntryResponse]:
    """Runs, actions of people and sessions of the planner, merged by time, newest first."""
    check_order(from_at, to)
    await dependencies.reads.jobs.get_job(caller.tenant_id, job_id)
    span = Span(from_at, to, read_time_cursor(cursor), limit)
    runs, records = dependencies.reads.runs, dependencies.reads.records
    entries = await job_timeline(runs, records, caller.tenant_id, job_id, span)
    return time_page_response(entries, timeline_entry_response)


@suggestion_routes.get("/suggestions")
async def list_suggestions(
    caller: Reader, dependencies: ApiDependencies, limit: Few = 50
) -> SuggestionsResponse:
    """Those that can be accepted now, the newest first."""
    suggestions = await dependencies.reads.suggestions.open_suggestions(caller.tenant_id, limit)
    return SuggestionsResponse.model_validate({"items": suggestions})


@suggestion_routes.post("/sessions/{session_id}/accept")
async def accept(
    session_id: UUID, body: AcceptBody, caller: Operator, dependencies: ApiDependencies
) -> AcceptedSuggestionResponse:
    """Do what was suggested, within the planner's bounds; 409 where it was accepted before."""
    call, effect = await dependencies.suggestions.accept(caller, session_id, body.call)
    return AcceptedSuggestionResponse(session_id=session_id, call=call, effect=effect)


@suggestion_routes.post("/sessions/{session_id}/dismiss")
async def dismiss(
    session_id: UUID, body: AcceptBody, caller: Operator, dependencies: ApiDependencies
) -> DismissedSuggestionResponse:
    """It is not wanted: it leaves the list, and nearly the same is not suggested again while it
    would have been open. 409 where it was accepted, or dismissed before."""
    call = await dependencies.suggestions.dismiss(caller, session_id, body.call)
    return DismissedSuggestionResponse(session_id=session_id, call=call)


@suggestion_routes.post("/sessions/{session_id}/restore")
async def restore(
    session_id: UUID, body: AcceptBody, caller: Operator, dependencies: ApiDependencies
) -> DismissedSuggestionResponse:
    """Undo a dismissal; 409 where there is none."""
    call = await dependencies.suggestions.restore(caller, session_id, body.call)
    return DismissedSuggestionResponse(session_id=session_id, call=call)


@suggestion_routes.get("/sessions/{session_id}/runs")
async def runs_of_session(
    session_id: UUID, caller: Reader, dependencies: ApiDependencies, limit: Few = 50
) -> SessionRunsResponse:
    """The runs whose slots its hints and pauses chose, the oldest first."""
    suggestions = dependencies.reads.suggestions
    runs = await suggestions.runs_of_session(caller.tenant_id, session_id, limit)
    return SessionRunsResponse.model_validate({"items": runs})
