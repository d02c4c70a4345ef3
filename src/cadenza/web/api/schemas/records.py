"""The planner's sessions with their suggestions and runs, the audit log and a job's timeline."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import AliasPath, Field, ValidationInfo, field_validator

from cadenza.application.ports.catalogue import EndpointName
from cadenza.application.ports.records import AuditRecord
from cadenza.application.ports.run_search import ListedRun
from cadenza.application.ports.suggestions import LedTo
from cadenza.application.timeline import Entry, cursor_of
from cadenza.domain.analysis import AnalysisReason
from cadenza.domain.instants import milliseconds
from cadenza.domain.session import Session, SessionEnd
from cadenza.web.api.schemas.base import ResponseSchema
from cadenza.web.api.schemas.runs import RunResponse, run_response


class ToolCallResponse(ResponseSchema):
    tool: str
    arguments: Any
    result: dict[str, Any]
    took_effect: bool
    suggested: bool = Field(description="It would have taken effect, and waits for a person.")
    open_until: datetime | None = Field(
        validation_alias="holds_until", description="How long a suggestion can be accepted."
    )
    accepted_by: str | None
    dismissed_by: str | None = Field(description="Who does not want what was suggested.")
    refusal: str | None = Field(description="The kind of refusal, where it was refused.")

    @field_validator("open_until")
    @classmethod
    def _only_of_a_suggestion(cls, until: datetime | None, info: ValidationInfo) -> datetime | None:
        return until if info.data.get("suggested") else None


class SessionRunResponse(ResponseSchema):
    run_id: UUID
    endpoint_id: UUID
    endpoint: str = Field(validation_alias="endpoint_name")
    slot_at: datetime
    source: str
    status: str


class SessionRunsResponse(ResponseSchema):
    items: list[SessionRunResponse]


class AnalysisResponse(ResponseSchema):
    brain: str
    looked_at: datetime | None
    next_analysis_at: datetime | None = Field(
        description="When it looks again; after failures not before, unless a person asks."
    )
    failed_looks: int = Field(description="Sessions that failed, in a row; 0: the last went well.")
    trouble: str = Field(description="Why the last session failed, or none could be held.")


class AnalysesResponse(ResponseSchema):
    items: list[AnalysisResponse]


class SessionResponse(ResponseSchema):
    id: UUID
    job_id: UUID
    job: str | None = Field(default=None, description="The name of its job, in lists.")
    endpoint_id: UUID
    endpoint: str | None = Field(default=None, description="The endpoint's name, in lists.")
    brain: str
    started_at: datetime
    duration_ms: int
    ended_as: SessionEnd
    reasoning: str
    confidence: float | None
    reason: AnalysisReason | None = Field(description="Why it was held.")
    tokens: int
    input_tokens: int = Field(description="Those that were cached are among them.")
    cached_tokens: int
    output_tokens: int
    cost: float = Field(description="In dollars.")
    account_id: UUID | None = Field(description="The account that was charged.")
    tools: list[str] = Field(description="The tools that were called, in their order.")
    did: list[str] = Field(description="Those of them that took effect.")
    suggested: list[str] = Field(description="Those that would have, in advise mode.")
    refused: list[str]
    repeats: int = Field(
        description="How often exactly this was refused again. A model's sessions cost, and each "
        "is kept: the timeline counts those that follow each other, with their tokens and cost."
    )
    last_at: datetime | None = Field(description="When it last was.")
    next_analysis_at: datetime | None


class SessionDetailResponse(SessionResponse):
    tool_calls: list[ToolCallResponse]
    prompt_version: str | None
    warnings: list[str]
    runs: list[SessionRunResponse] = Field(
        description="The first runs whose slots its hints and pauses chose; all of them: /runs."
    )


class SuggestionResponse(ResponseSchema):
    session_id: UUID
    call: int
    endpoint_id: UUID
    endpoint: str = Field(validation_alias="endpoint_name")
    brain: str
    tool: str
    arguments: Any
    would: dict[str, Any] = Field(
        validation_alias="result", description="What would have taken effect."
    )
    reasoning: str
    suggested_at: datetime
    open_until: datetime


class SuggestionsResponse(ResponseSchema):
    items: list[SuggestionResponse]


class DismissedSuggestionResponse(ResponseSchema):
    session_id: UUID
    call: int


class AcceptedSuggestionResponse(ResponseSchema):
    session_id: UUID
    call: int
    effect: dict[str, Any]


class AuditEntryResponse(ResponseSchema):
    id: int = Field(validation_alias=AliasPath("id", "int"))
    at: datetime
    actor: str
    action: str
    subject: str
    data: dict[str, Any]


class TimelineEntryResponse(ResponseSchema):
    at: datetime
    kind: Literal["run", "act", "session"]
    run: RunResponse | None = None
    act: AuditEntryResponse | None = None
    session: SessionResponse | None = None


def session_response(session: Session, name: EndpointName | None = None) -> SessionResponse:
    return SessionResponse(
        id=session.id,
        job_id=session.job_id,
        job=name.job_name if name is not None else None,
        endpoint_id=session.endpoint_id,
        endpoint=name.name if name is not None else None,
        brain=session.brain,
        started_at=session.started_at,
        duration_ms=milliseconds(session.duration),
        ended_as=session.end,
        reasoning=session.reasoning,
        confidence=session.confidence,
        reason=session.reason,
        tokens=session.tokens,
        input_tokens=session.usage.input_tokens,
        cached_tokens=session.usage.cache_read_tokens,
        output_tokens=session.usage.output_tokens,
        cost=session.cost,
        account_id=session.account_id,
        tools=[call.tool for call in session.tool_calls],
        did=[call.tool for call in session.tool_calls if call.took_effect],
        suggested=[call.tool for call in session.tool_calls if call.suggested],
        refused=[call.tool for call in session.tool_calls if call.refusal is not None],
        repeats=session.repeats,
        last_at=session.last_at,
        next_analysis_at=session.next_analysis_at,
    )


def session_detail_response(
    session: Session, runs: Sequence[LedTo], name: EndpointName | None
) -> SessionDetailResponse:
    return SessionDetailResponse(
        **dict(session_response(session, name)),
        tool_calls=[ToolCallResponse.model_validate(call) for call in session.tool_calls],
        prompt_version=session.prompt_version,
        warnings=list(session.warnings),
        runs=[SessionRunResponse.model_validate(run) for run in runs],
    )


def timeline_entry_response(entry: Entry) -> TimelineEntryResponse:
    at, _ = cursor_of(entry)
    if isinstance(entry, ListedRun):
        return TimelineEntryResponse(at=at, kind="run", run=run_response(entry))
    if isinstance(entry, AuditRecord):
        return TimelineEntryResponse(
            at=at, kind="act", act=AuditEntryResponse.model_validate(entry)
        )
    return TimelineEntryResponse(at=at, kind="session", session=session_response(entry))
