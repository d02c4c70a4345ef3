"""The planner's sessions, the runs they led to, and suggestions that wait for a person."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from cadenza.application.ports.suggestions import LedTo
from cadenza.domain.instants import milliseconds
from cadenza.domain.session import Session, SessionEnd, ToolCall
from cadenza.domain.suggestion import Suggestion
from cadenza.web.api.schemas.base import ResponseSchema


class ToolCallResponse(ResponseSchema):
    tool: str
    arguments: Any
    result: dict[str, Any]
    took_effect: bool
    suggested: bool = Field(description="It would have taken effect, and waits for a person.")
    open_until: datetime | None = Field(description="How long a suggestion can be accepted.")
    accepted_by: str | None


class SessionRunResponse(ResponseSchema):
    run_id: UUID
    endpoint_id: UUID
    endpoint: str
    slot_at: datetime
    source: str
    status: str


class SessionRunsResponse(ResponseSchema):
    items: list[SessionRunResponse]


class SessionResponse(ResponseSchema):
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


class SessionDetailResponse(SessionResponse):
    tool_calls: list[ToolCallResponse]
    warnings: list[str]
    runs: list[SessionRunResponse] = Field(
        description="The first runs whose slots its hints and pauses chose; all of them: /runs."
    )


class SuggestionResponse(ResponseSchema):
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


class SuggestionsResponse(ResponseSchema):
    items: list[SuggestionResponse]


class AcceptedSuggestionResponse(ResponseSchema):
    session_id: UUID
    call: int
    effect: dict[str, Any]


def session_response(session: Session) -> SessionResponse:
    return SessionResponse(**_fields(session))


def session_detail_response(session: Session, runs: Sequence[LedTo]) -> SessionDetailResponse:
    return SessionDetailResponse(
        **_fields(session),
        tool_calls=[_tool_call(call) for call in session.tool_calls],
        warnings=list(session.warnings),
        runs=[_session_run(run) for run in runs],
    )


def session_runs_response(runs: Sequence[LedTo]) -> SessionRunsResponse:
    return SessionRunsResponse(items=[_session_run(run) for run in runs])


def suggestions_response(suggestions: Sequence[Suggestion]) -> SuggestionsResponse:
    return SuggestionsResponse(items=[_suggestion(suggestion) for suggestion in suggestions])


def _fields(session: Session) -> dict[str, Any]:
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
        "tools": [call.tool for call in session.tool_calls],
        "next_analysis_at": session.next_analysis_at,
    }


def _tool_call(call: ToolCall) -> ToolCallResponse:
    return ToolCallResponse(
        tool=call.tool,
        arguments=call.arguments,
        result=call.result,
        took_effect=call.took_effect,
        suggested=call.suggested,
        open_until=call.holds_until if call.suggested else None,
        accepted_by=call.accepted_by,
    )


def _session_run(run: LedTo) -> SessionRunResponse:
    return SessionRunResponse(
        run_id=run.run_id,
        endpoint_id=run.endpoint_id,
        endpoint=run.endpoint_name,
        slot_at=run.slot_at,
        source=run.source,
        status=run.status,
    )


def _suggestion(suggestion: Suggestion) -> SuggestionResponse:
    return SuggestionResponse(
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
