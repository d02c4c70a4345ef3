"""Jobs: created, listed, changed, paused, resumed, archived."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from fastapi import Request, Response

from cadenza.application.ports.catalogue import ChangeJob, JobSearch
from cadenza.application.rule_fit import misfits_of_jobs
from cadenza.domain.definition import (
    JobDefinition,
    check_job,
    declared,
    rule_errors,
    with_declared,
)
from cadenza.domain.endpoint import Job
from cadenza.domain.errors import Refused
from cadenza.domain.instants import FOREVER
from cadenza.manifest.models import JobFields
from cadenza.manifest.reading import read_job_fields
from cadenza.manifest.writing import job_document
from cadenza.web.api.access import ApiDependencies, Operator, Reader, audit_entry
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.parsing.bodies import JobPatch, PauseBody, validated
from cadenza.web.api.parsing.cursors import read_cursor, write_cursor
from cadenza.web.api.parsing.headers import (
    IdempotencyKey,
    IfMatch,
    idempotency_record,
    mark_replayed,
    tag,
)
from cadenza.web.api.parsing.query import Archived, Cursor, Limit, Named, Searched
from cadenza.web.api.problems import Invalid
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.jobs import ChangedJobResponse, JobResponse, job_response
from cadenza.web.api.schemas.pages import Page, page_response

routes = router("Jobs", "/jobs")


@routes.post("", status_code=201)
async def create_job(
    body: JobFields,
    request: Request,
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
    key: IdempotencyKey,
) -> JobResponse:
    definition = _checked(body, dependencies)
    job = with_declared(Job(dependencies.new_id(), caller.tenant_id, body.name), definition)
    entry = audit_entry(caller, "job.create", name=body.name)
    record = idempotency_record(request, key, body)
    job_id = await dependencies.jobs.create_job(job, entry, record)
    mark_replayed(response, job_id != job.id)
    stored = await dependencies.jobs.get_job(caller.tenant_id, job_id)
    tag(response, stored.revision)
    return job_response(stored, dependencies.clock.now())


@routes.get("")
async def list_jobs(
    caller: Reader,
    dependencies: ApiDependencies,
    name: Named = None,
    search: Searched = None,
    archived: Archived = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[JobResponse]:
    criteria = JobSearch(name, search, archived, read_cursor(cursor), limit + 1)
    jobs = await dependencies.jobs.list_jobs(caller.tenant_id, criteria)
    respond = partial(job_response, now=dependencies.clock.now())
    return page_response(jobs, limit, respond, lambda row: write_cursor(row.job.name, row.job.id))


@routes.get("/{job_id}")
async def get_job(
    job_id: UUID, response: Response, caller: Reader, dependencies: ApiDependencies
) -> JobResponse:
    stored = await dependencies.jobs.get_job(caller.tenant_id, job_id)
    tag(response, stored.revision)
    return job_response(stored, dependencies.clock.now())


async def _change(
    dependencies: ApiDependencies,
    caller: Operator,
    response: Response,
    job_id: UUID,
    action: str,
    change: ChangeJob,
    data: dict[str, Any] | None = None,
    seen: Collection[int] | None = None,
) -> JobResponse:
    entry = audit_entry(caller, f"job.{action}", **(data or {}))
    stored = await dependencies.jobs.change_job(caller.tenant_id, job_id, change, entry, seen)
    tag(response, stored.revision)
    return job_response(stored, dependencies.clock.now())


@routes.patch("/{job_id}")
async def change_job(
    job_id: UUID,
    body: JobPatch,
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
    seen: IfMatch,
) -> ChangedJobResponse:
    def change(job: Job, _now: datetime) -> Job:
        if job.archived_at is not None:
            raise Refused("the job is archived, and can no longer be changed")
        merged = {**job_document(declared(job)), **body}
        document = {name: value for name, value in merged.items() if value is not None}
        return with_declared(job, _checked(validated(JobFields, document), dependencies))

    data = {"fields": sorted(body)}
    changed = await _change(dependencies, caller, response, job_id, "change", change, data, seen)
    warnings = await _misfits(dependencies, caller, job_id)
    return ChangedJobResponse(**dict(changed), warnings=warnings)


async def _misfits(dependencies: ApiDependencies, caller: Operator, job_id: UUID) -> list[str]:
    job = declared((await dependencies.jobs.get_job(caller.tenant_id, job_id)).job)
    answers, expressions = dependencies.latest_answers, dependencies.expressions
    misfits = await misfits_of_jobs(caller.tenant_id, [job], answers, expressions)
    return [text for _, text in misfits]


def _checked(body: JobFields, dependencies: Dependencies) -> JobDefinition:
    definition = read_job_fields(body)
    check_job(definition)
    if errors := list(rule_errors(definition.rules, dependencies.validation_policy)):
        raise Invalid(errors)
    return definition


@routes.post("/{job_id}/pause")
async def pause_job(
    job_id: UUID,
    body: PauseBody,
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
) -> JobResponse:
    """No scheduled run of any of its endpoints before an instant, or until it is resumed."""
    until_at = body.until or FOREVER

    def change(job: Job, now: datetime) -> Job:
        if job.archived_at is not None:
            raise Refused("the job is archived")
        return replace(job, paused_until=until_at if until_at > now else None)

    data = {"until": str(body.until), "reason": body.reason}
    return await _change(dependencies, caller, response, job_id, "pause", change, data)


@routes.post("/{job_id}/resume")
async def resume_job(
    job_id: UUID, response: Response, caller: Operator, dependencies: ApiDependencies
) -> JobResponse:
    def change(job: Job, _now: datetime) -> Job:
        if job.archived_at is not None:
            raise Refused("the job is archived")
        return replace(job, paused_until=None)

    return await _change(dependencies, caller, response, job_id, "resume", change)


@routes.post("/{job_id}/archive")
async def archive_job(
    job_id: UUID, response: Response, caller: Operator, dependencies: ApiDependencies, seen: IfMatch
) -> JobResponse:
    """The end of a job and of its endpoints; their history stays."""

    def change(job: Job, now: datetime) -> Job:
        return job if job.archived_at is not None else replace(job, archived_at=now)

    return await _change(dependencies, caller, response, job_id, "archive", change, seen=seen)
