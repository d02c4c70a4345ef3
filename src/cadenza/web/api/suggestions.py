"""What planners suggest, accepted with one call; and the runs that a session led to."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query
from pydantic import Field

from cadenza.domain.access import Caller
from cadenza.domain.audit import AuditEntry
from cadenza.domain.suggestion import Suggestion
from cadenza.manifest.models import Document
from cadenza.web.api.access import ApiDependencies, Operator, Reader, audit_entry
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.routes import router
from cadenza.web.api.schemas import Shown

routes = router("Suggestions")
Few = Annotated[int, Query(ge=1, le=200)]


class Accepted(Document):
    call: int = Field(
        ge=0, le=100, examples=[0], description="The place of the call in the session, from 0."
    )


class SuggestionShown(Shown):
    session_id: UUID
    call: int
    endpoint_id: UUID
    endpoint: str
    brain: str
    tool: str
    arguments: Any
    would: dict[str, Any] = Field(description="What would have taken effect.")
    reasoning: str
    suggested_at: datetime
    open_until: datetime


class SuggestionsShown(Shown):
    items: list[SuggestionShown]


class Effect(Shown):
    session_id: UUID
    call: int
    effect: dict[str, Any]


class RunLedTo(Shown):
    run_id: UUID
    endpoint_id: UUID
    endpoint: str
    slot_at: datetime
    source: str
    status: str


class RunsLedTo(Shown):
    items: list[RunLedTo]


@routes.get("/suggestions")
async def list_suggestions(
    caller: Reader, dependencies: ApiDependencies, limit: Few = 50
) -> SuggestionsShown:
    """Those that can be accepted now, the newest first."""
    found = await dependencies.suggestions.open_suggestions(caller.tenant_id, limit)
    return SuggestionsShown(items=[_shown(each) for each in found])


@routes.post("/sessions/{session_id}/accept")
async def accept(
    session_id: UUID, body: Accepted, caller: Operator, dependencies: ApiDependencies
) -> Effect:
    """Do what was suggested, within the planner's bounds; 409 where it was accepted before."""

    def done(action: str, **data: object) -> AuditEntry:
        return audit_entry(caller, action, **data)

    effect = await dependencies.acceptance.accept(caller.tenant_id, session_id, body.call, done)
    return Effect(session_id=session_id, call=body.call, effect=effect)


@routes.get("/sessions/{session_id}/runs")
async def runs_of_session(
    session_id: UUID, caller: Reader, dependencies: ApiDependencies, limit: Few = 50
) -> RunsLedTo:
    """The runs whose slots its hints and pauses chose, the oldest first."""
    return RunsLedTo(items=await runs_led_to(dependencies, caller, session_id, limit))


async def runs_led_to(
    dependencies: Dependencies, caller: Caller, session_id: UUID, limit: int
) -> list[RunLedTo]:
    found = await dependencies.suggestions.runs_of_session(caller.tenant_id, session_id, limit)
    return [
        RunLedTo(
            run_id=each.run_id,
            endpoint_id=each.endpoint_id,
            endpoint=each.endpoint_name,
            slot_at=each.slot_at,
            source=each.source,
            status=each.status,
        )
        for each in found
    ]


def _shown(suggestion: Suggestion) -> SuggestionShown:
    return SuggestionShown(
        session_id=suggestion.session_id,
        call=suggestion.call,
        endpoint_id=suggestion.endpoint_id,
        endpoint=suggestion.endpoint_name,
        brain=suggestion.brain,
        tool=suggestion.tool,
        arguments=suggestion.arguments,
        would=suggestion.result,
        reasoning=suggestion.reasoning,
        suggested_at=suggestion.suggested_at,
        open_until=suggestion.open_until,
    )
