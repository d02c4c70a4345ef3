"""Jobs: created, listed, changed, paused, resumed, archived."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Body, Query, Request, Response
from pydantic import Field, ValidationError

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
from cadenza.manifest.models import Document, JobFields
from cadenza.manifest.reading import errors_of, read_job_fields
from cadenza.manifest.writing import job_document
from cadenza.web.api.access import ApiDependencies, Operator, Reader, audit_entry
from cadenza.web.api.conditions import IdempotencyKey, IfMatch, mark_replayed, once, tag
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.instants import Instant
from cadenza.web.api.paging import (
    Cursor,
    Limit,
    Named,
    Page,
    Searched,
    cut,
    read_cursor,
    write_cursor,
)
from cadenza.web.api.problems import Invalid
from cadenza.web.api.routes import router
from cadenza.web.api.schemas import JobChanged, JobShown, job_shown

routes = router("Jobs", "/jobs")


class Until(Document):
    until: Instant | None = Field(default=None, description="Left out or null: until resumed.")
    reason: Annotated[str, Field(max_length=500)] = ""


@routes.post("", status_code=201)
async def create_job(
    body: JobFields,
    request: Request,
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
    key: IdempotencyKey,
) -> JobShown:
    wanted = _checked(body, dependencies)
    new_id = dependencies.new_id()
    job = with_declared(Job(new_id, caller.tenant_id, body.name), wanted)
    done = audit_entry(caller, "job.create", name=body.name)
    job_id = await dependencies.jobs.create_job(job, done, once(request, key, body))
    mark_replayed(response, job_id != new_id)
    stored = await dependencies.jobs.get_job(caller.tenant_id, job_id)
    tag(response, stored.revision)
    return job_shown(stored, dependencies.clock.now())


@routes.get("")
async def list_jobs(
    caller: Reader,
    dependencies: ApiDependencies,
    name: Named = None,
    search: Searched = None,
    archived: Annotated[bool, Query(description="Those that are archived instead.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[JobShown]:
    wanted = JobSearch(name, search, archived, read_cursor(cursor), limit + 1)
    found, more = cut(await dependencies.jobs.list_jobs(caller.tenant_id, wanted), limit)
    now = dependencies.clock.now()
    following = write_cursor(found[-1].job.name, found[-1].job.id) if more else None
    return Page[JobShown](items=[job_shown(each, now) for each in found], next=following)


@routes.get("/{job_id}")
async def get_job(
    job_id: UUID, response: Response, caller: Reader, dependencies: ApiDependencies
) -> JobShown:
    stored = await dependencies.jobs.get_job(caller.tenant_id, job_id)
    tag(response, stored.revision)
    return job_shown(stored, dependencies.clock.now())


async def _change(
    dependencies: ApiDependencies,
    caller: Operator,
    response: Response,
    job_id: UUID,
    action: str,
    change: ChangeJob,
    data: dict[str, Any] | None = None,
    seen: Collection[int] | None = None,
) -> JobShown:
    done = audit_entry(caller, f"job.{action}", **(data or {}))
    stored = await dependencies.jobs.change_job(caller.tenant_id, job_id, change, done, seen)
    tag(response, stored.revision)
    return job_shown(stored, dependencies.clock.now())


@routes.patch("/{job_id}")
async def change_job(
    job_id: UUID,
    body: Annotated[
        dict[str, Any],
        Body(
            description="A JSON merge patch of name, description, rules and planner: fields that "
            "are left out stay, null takes one away.",
            examples=[{"description": "Watch the checkout."}],
        ),
    ],
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
    seen: IfMatch,
) -> JobChanged:
    def change(job: Job, _now: datetime) -> Job:
        if job.archived_at is not None:
            raise Refused("the job is archived, and can no longer be changed")
        present = job_document(declared(job))
        wanted = {name: value for name, value in {**present, **body}.items() if value is not None}
        try:
            return with_declared(job, _checked(JobFields.model_validate(wanted), dependencies))
        except ValidationError as error:
            raise Invalid(errors_of(error)) from error

    told = {"fields": sorted(body)}
    shown = await _change(dependencies, caller, response, job_id, "change", change, told, seen)
    return JobChanged(**dict(shown), warnings=await _misfits(dependencies, caller, job_id))


async def _misfits(dependencies: ApiDependencies, caller: Operator, job_id: UUID) -> list[str]:
    job = declared((await dependencies.jobs.get_job(caller.tenant_id, job_id)).job)
    stored, expressions = dependencies.latest_answers, dependencies.expressions
    return [text for _, text in await misfits_of_jobs(caller.tenant_id, [job], stored, expressions)]


def _checked(body: JobFields, dependencies: Dependencies) -> JobDefinition:
    wanted = read_job_fields(body)
    check_job(wanted)
    if errors := list(rule_errors(wanted.rules, dependencies.door)):
        raise Invalid(errors)
    return wanted


@routes.post("/{job_id}/pause")
async def pause_job(
    job_id: UUID, body: Until, response: Response, caller: Operator, dependencies: ApiDependencies
) -> JobShown:
    """No scheduled run of any of its endpoints before an instant, or until it is resumed."""
    until_at = body.until or FOREVER

    def change(job: Job, now: datetime) -> Job:
        if job.archived_at is not None:
            raise Refused("the job is archived")
        return replace(job, paused_until=until_at if until_at > now else None)

    told = {"until": str(body.until), "reason": body.reason}
    return await _change(dependencies, caller, response, job_id, "pause", change, told)


@routes.post("/{job_id}/resume")
async def resume_job(
    job_id: UUID, response: Response, caller: Operator, dependencies: ApiDependencies
) -> JobShown:
    def change(job: Job, _now: datetime) -> Job:
        if job.archived_at is not None:
            raise Refused("the job is archived")
        return replace(job, paused_until=None)

    return await _change(dependencies, caller, response, job_id, "resume", change)


@routes.post("/{job_id}/archive")
async def archive_job(
    job_id: UUID, response: Response, caller: Operator, dependencies: ApiDependencies, seen: IfMatch
) -> JobShown:
    """The end of a job and of its endpoints; their history stays."""

    def change(job: Job, now: datetime) -> Job:
        return job if job.archived_at is not None else replace(job, archived_at=now)

    return await _change(dependencies, caller, response, job_id, "archive", change, seen=seen)
