"""What planners suggest, accepted with one call; and the runs that a session led to."""

from uuid import UUID

from cadenza.web.api.access import ApiDependencies, Operator, Reader
from cadenza.web.api.parsing.bodies import AcceptBody
from cadenza.web.api.parsing.query import Few
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.sessions import (
    AcceptedSuggestionResponse,
    SessionRunsResponse,
    SuggestionsResponse,
    session_runs_response,
    suggestions_response,
)

routes = router("Suggestions")


@routes.get("/suggestions")
async def list_suggestions(
    caller: Reader, dependencies: ApiDependencies, limit: Few = 50
) -> SuggestionsResponse:
    """Those that can be accepted now, the newest first."""
    suggestions = await dependencies.reads.suggestions.open_suggestions(caller.tenant_id, limit)
    return suggestions_response(suggestions)


@routes.post("/sessions/{session_id}/accept")
async def accept(
    session_id: UUID, body: AcceptBody, caller: Operator, dependencies: ApiDependencies
) -> AcceptedSuggestionResponse:
    """Do what was suggested, within the planner's bounds; 409 where it was accepted before."""
    effect = await dependencies.suggestions.accept(caller, session_id, body.call)
    return AcceptedSuggestionResponse(session_id=session_id, call=body.call, effect=effect)


@routes.get("/sessions/{session_id}/runs")
async def runs_of_session(
    session_id: UUID, caller: Reader, dependencies: ApiDependencies, limit: Few = 50
) -> SessionRunsResponse:
    """The runs whose slots its hints and pauses chose, the oldest first."""
    suggestions = dependencies.reads.suggestions
    runs = await suggestions.runs_of_session(caller.tenant_id, session_id, limit)
    return session_runs_response(runs)
