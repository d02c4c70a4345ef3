"""What lies ahead of an endpoint, as it is sent."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from cadenza.domain.explanation import Explanation
from cadenza.domain.preview import Upcoming
from cadenza.web.api.schemas.base import ResponseSchema, null_if_endless
from cadenza.web.api.schemas.endpoints import UpcomingRunResponse


class ExplanationResponse(ResponseSchema):
    endpoint_id: UUID
    at: datetime = Field(description="When this was said.")
    summary: str
    next_run_at: datetime | None
    source: str | None
    plan: dict[str, Any] | None = Field(
        description="The record: every candidate and why it was excluded, the winner, clamps, "
        "inputs."
    )
    because: list[str] = Field(description="How it was chosen, in sentences.")
    would_change: list[str] = Field(description="What would change it, in sentences.")


class PreviewResponse(ResponseSchema):
    endpoint_id: UUID
    at: datetime
    planned: list[UpcomingRunResponse] = Field(description="Under the hints and pauses in force.")
    baseline: list[UpcomingRunResponse] = Field(
        description="As if there were no hints and no planner's pause."
    )


def explanation_response(
    endpoint_id: UUID, at: datetime, explanation: Explanation
) -> ExplanationResponse:
    plan = explanation.plan
    return ExplanationResponse(
        endpoint_id=endpoint_id,
        at=at,
        summary=explanation.summary,
        next_run_at=null_if_endless(plan.next_run_at) if plan else None,
        source=plan.source if plan else None,
        plan=plan.record() if plan else None,
        because=list(explanation.because),
        would_change=list(explanation.would_change),
    )


def preview_response(
    endpoint_id: UUID, at: datetime, planned: Sequence[Upcoming], baseline: Sequence[Upcoming]
) -> PreviewResponse:
    return PreviewResponse(
        endpoint_id=endpoint_id,
        at=at,
        planned=[UpcomingRunResponse.model_validate(run) for run in planned],
        baseline=[UpcomingRunResponse.model_validate(run) for run in baseline],
    )
