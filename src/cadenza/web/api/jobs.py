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
from cadenza.web.api.access import AnyParts, Operator, Reader, deed
from cadenza.web.api.conditions import IdempotencyKey, IfMatch, once, tag, told_again
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
from cadenza.web.api.parts import Parts
from cadenza.web.api.problems import Invalid
from cadenza.web.api.routes import router
from cadenza.web.api.shown import JobChanged, JobShown, job_shown

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
    parts: AnyParts,
    key: IdempotencyKey,
) -> JobShown:
    wanted = _checked(body, parts)
    new_id = parts.new_id()
    job = with_declared(Job(new_id, caller.tenant_id, body.name), wanted)
    done = deed(caller, "job.create", name=body.name)
    job_id = await parts.jobs.create_job(job, done, once(request, key, body))
    told_again(response, job_id != new_id)
    stored = await parts.jobs.get_job(caller.tenant_id, job_id)
    tag(response, stored.revision)
    return job_shown(stored, parts.clock.now())


@routes.get("")
async def list_jobs(
    caller: Reader,
    parts: AnyParts,
    name: Named = None,
    search: Searched = None,
    archived: Annotated[bool, Query(description="Those that are archived instead.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[JobShown]:
    wanted = JobSearch(name, search, archived, read_cursor(cursor), limit + 1)
    found, more = cut(await parts.jobs.list_jobs(caller.tenant_id, wanted), limit)
    now = parts.clock.now()
    following = write_cursor(found[-1].job.name, found[-1].job.id) if more else None
    return Page[JobShown](items=[job_shown(each, now) for each in found], next=following)


@routes.get("/{job_id}")
async def get_job(job_id: UUID, response: Response, caller: Reader, parts: AnyParts) -> JobShown:
    stored = await parts.jobs.get_job(caller.tenant_id, job_id)
    tag(response, stored.revision)
    return job_shown(stored, parts.clock.now())


async def _change(
    parts: AnyParts,
    caller: Operator,
    response: Response,
    job_id: UUID,
    action: str,
    change: ChangeJob,
    data: dict[str, Any] | None = None,
    seen: Collection[int] | None = None,
) -> JobShown:
    done = deed(caller, f"job.{action}", **(data or {}))
    stored = await parts.jobs.change_job(caller.tenant_id, job_id, change, done, seen)
    tag(response, stored.revision)
    return job_shown(stored, parts.clock.now())


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
    parts: AnyParts,
    seen: IfMatch,
) -> JobChanged:
    def change(job: Job, _now: datetime) -> Job:
        if job.archived_at is not None:
            raise Refused("the job is archived, and can no longer be changed")
        present = job_document(declared(job))
        wanted = {name: value for name, value in {**present, **body}.items() if value is not None}
        try:
            return with_declared(job, _checked(JobFields.model_validate(wanted), parts))
        except ValidationError as error:
            raise Invalid(errors_of(error)) from error

    told = {"fields": sorted(body)}
    shown = await _change(parts, caller, response, job_id, "change", change, told, seen)
    return JobChanged(**dict(shown), warnings=await _misfits(parts, caller, job_id))


async def _misfits(parts: AnyParts, caller: Operator, job_id: UUID) -> list[str]:
    job = declared((await parts.jobs.get_job(caller.tenant_id, job_id)).job)
    stored, expressions = parts.latest_answers, parts.expressions
    return [text for _, text in await misfits_of_jobs(caller.tenant_id, [job], stored, expressions)]


def _checked(body: JobFields, parts: Parts) -> JobDefinition:
    wanted = read_job_fields(body)
    check_job(wanted)
    if errors := list(rule_errors(wanted.rules, parts.door)):
        raise Invalid(errors)
    return wanted


@routes.post("/{job_id}/pause")
async def pause_job(
    job_id: UUID, body: Until, response: Response, caller: Operator, parts: AnyParts
) -> JobShown:
    """No scheduled run of any of its endpoints before an instant, or until it is resumed."""
    until_at = body.until or FOREVER

    def change(job: Job, now: datetime) -> Job:
        if job.archived_at is not None:
            raise Refused("the job is archived")
        return replace(job, paused_until=until_at if until_at > now else None)

    told = {"until": str(body.until), "reason": body.reason}
    return await _change(parts, caller, response, job_id, "pause", change, told)


@routes.post("/{job_id}/resume")
async def resume_job(
    job_id: UUID, response: Response, caller: Operator, parts: AnyParts
) -> JobShown:
    def change(job: Job, _now: datetime) -> Job:
        if job.archived_at is not None:
            raise Refused("the job is archived")
        return replace(job, paused_until=None)

    return await _change(parts, caller, response, job_id, "resume", change)


@routes.post("/{job_id}/archive")
async def archive_job(
    job_id: UUID, response: Response, caller: Operator, parts: AnyParts, seen: IfMatch
) -> JobShown:
    """The end of a job and of its endpoints; their history stays."""

    def change(job: Job, now: datetime) -> Job:
        return job if job.archived_at is not None else replace(job, archived_at=now)

    return await _change(parts, caller, response, job_id, "archive", change, seen=seen)
