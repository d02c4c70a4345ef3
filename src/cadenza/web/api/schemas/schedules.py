"""Schedules and their runs as they are sent. Money is in credits, millionths of a dollar."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from cadenza.domain.graph import ErrorCode
from cadenza.domain.instants import milliseconds
from cadenza.domain.schedule import Concurrency, Schedule
from cadenza.domain.slot import RunEvent, ScheduleRun, SlotStatus
from cadenza.manifest.limits import limits_values
from cadenza.web.api.schemas.base import LimitsResponse, ResponseSchema


class ScheduleResponse(ResponseSchema):
    id: UUID
    name: str | None
    graph_id: str = Field(examples=["langgraph:poet"])
    input: dict[str, Any]
    cron: str
    timezone: str
    concurrency_policy: Concurrency
    limits: LimitsResponse
    requires: list[str]
    enabled: bool
    user_id: UUID = Field(description="Its owner, on whose behalf it runs.")
    grant_id: UUID = Field(description="Under which it runs; it names the account that pays.")
    revision: int
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None
    last_run_at: datetime | None = Field(description="The last slot that was started.")
    next_run_at: datetime | None = Field(description="The slot that waits.")


class ScheduleDetailResponse(ScheduleResponse):
    next_runs: list[datetime]
    warnings: list[str] = Field(description="Why it would not run now, though it may be scheduled.")


class SlotResponse(ResponseSchema):
    """What was asked for. The run has its id when it starts; it is listed under this slot."""

    schedule_id: UUID
    slot_at: datetime
    status: SlotStatus


class ScheduleRunResponse(ResponseSchema):
    id: UUID | None = Field(description="null: it has not started.")
    schedule_id: UUID
    slot_at: datetime
    status: SlotStatus
    is_manual: bool = Field(description="A person asked for it.")
    attempt: int
    started_at: datetime | None
    finished_at: datetime | None
    duration_ms: int | None
    error_code: ErrorCode | None
    error_message: str | None
    reason: str | None = Field(description="Why it was skipped or cancelled.")
    skipped_slots: int = Field(description="How many slots this one stands for, where skipped.")
    question: Any = Field(description="What it waits to be told.")
    answered_at: datetime | None
    answer_to: UUID | None = Field(description="The run whose question this one answers.")
    credits: int = Field(description="What it has cost.")


class RunEventResponse(ResponseSchema):
    number: int
    at: datetime
    kind: str = Field(examples=["text_delta"])
    data: Mapping[str, Any]


class RunEventsResponse(ResponseSchema):
    items: list[RunEventResponse]
    next: int | None = Field(description="`after` of the next ones; null where these are the last.")


class ScheduleRunDetailResponse(ScheduleRunResponse):
    output: Any
    last_lines: str = Field(description="Of what it printed.")
    events: RunEventsResponse


def schedule_response(schedule: Schedule) -> ScheduleResponse:
    definition = schedule.definition
    return ScheduleResponse(
        id=schedule.id,
        name=definition.name,
        graph_id=definition.graph_id,
        input=dict(definition.input),
        cron=definition.cron,
        timezone=definition.timezone,
        concurrency_policy=definition.concurrency,
        limits=LimitsResponse(**limits_values(definition.limits)),
        requires=list(definition.requires),
        enabled=definition.enabled,
        user_id=schedule.user_id,
        grant_id=schedule.grant_id,
        revision=schedule.revision,
        created_at=schedule.created_at,
        updated_at=schedule.updated_at,
        deleted_at=schedule.deleted_at,
        last_run_at=schedule.last_run_at,
        next_run_at=schedule.next_run_at,
    )


def schedule_detail_response(
    schedule: Schedule, next_runs: Sequence[datetime], warnings: Sequence[str]
) -> ScheduleDetailResponse:
    return ScheduleDetailResponse(
        **dict(schedule_response(schedule)), next_runs=list(next_runs), warnings=list(warnings)
    )


def schedule_run_response(run: ScheduleRun) -> ScheduleRunResponse:
    return ScheduleRunResponse(
        id=run.id,
        schedule_id=run.schedule_id,
        slot_at=run.slot_at,
        status=run.status,
        is_manual=run.is_manual,
        attempt=run.attempt,
        started_at=run.started_at,
        finished_at=run.finished_at,
        duration_ms=None if run.duration is None else milliseconds(run.duration),
        error_code=run.error_code,
        error_message=run.error_message,
        reason=run.reason,
        skipped_slots=run.skipped_slots,
        question=run.question,
        answered_at=run.answered_at,
        answer_to=run.answer_to,
        credits=run.credits,
    )


def schedule_run_detail_response(
    run: ScheduleRun, events: RunEventsResponse
) -> ScheduleRunDetailResponse:
    return ScheduleRunDetailResponse(
        **dict(schedule_run_response(run)),
        output=run.output,
        last_lines=run.last_lines,
        events=events,
    )


def run_events_response(events: Sequence[RunEvent], limit: int) -> RunEventsResponse:
    """Of events that were asked for with one over the limit."""
    page = events[:limit]
    return RunEventsResponse(
        items=[RunEventResponse.model_validate(event) for event in page],
        next=page[-1].number if len(events) > limit else None,
    )
