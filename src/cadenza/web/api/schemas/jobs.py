"""Jobs as they are sent."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from cadenza.application.ports.catalogue import StoredJob
from cadenza.manifest.rules import rule_document
from cadenza.web.api.schemas.base import ResponseSchema, null_if_endless


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
    planner_mode: str | None = Field(description="null: what the tenant's owner has set.")
    probe_budget: float


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
        planner_mode=job.planner_mode,
        probe_budget=job.probe_budget,
    )
