"""Jobs as they are sent."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from cadenza.application.ports.catalogue import StoredJob
from cadenza.manifest.planner import full_document
from cadenza.manifest.rules import rule_document
from cadenza.web.api.schemas.base import ResponseSchema, null_if_endless


class PlannerResponse(ResponseSchema):
    """What planners may do with a job."""

    rules: str | None = Field(description="off, advise or act; null: the tenant's mode.")
    detectors: str | None
    llm: str | None
    relax: bool | float = Field(description="true is 1.5 times the baseline's interval.")
    extra_runs: float = Field(description="In a day, as a share of the baseline's runs.")
    max_pause: str | int | None = Field(
        description="0: no pauses; null: the endpoint's max_interval, or 1d where it has none."
    )
    min_gap: str = Field(description="Between two looks of a model at an endpoint.")
    model: str | None = Field(description="null: the installation's.")
    prompt: str | None
    tokens_per_day: int | None
    money_per_day: float | None
    tokens_per_session: int | None
    account: str | None


class JobResponse(ResponseSchema):
    id: UUID
    name: str
    description: str
    created_at: datetime
    paused: bool
    paused_until: datetime | None = Field(description="null: not paused, or until resumed.")
    archived_at: datetime | None
    endpoint_count: int
    revision: int
    rules: list[dict[str, Any]] = Field(description="As they are written.")
    planner: PlannerResponse


class ChangedJobResponse(JobResponse):
    warnings: list[str] = Field(
        description="Rules that speak of fields which the endpoints did not answer last."
    )


def job_response(stored: StoredJob, now: datetime) -> JobResponse:
    job = stored.job
    paused_until = job.paused_until if job.paused_until and job.paused_until > now else None
    return JobResponse(
        id=job.id,
        name=job.name,
        description=job.description,
        created_at=stored.created_at,
        paused=paused_until is not None,
        paused_until=null_if_endless(paused_until),
        archived_at=job.archived_at,
        endpoint_count=stored.endpoint_count,
        revision=stored.revision,
        rules=[rule_document(rule) for rule in job.rules],
        planner=PlannerResponse(**full_document(job.planner)),
    )
