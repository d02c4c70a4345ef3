"""Jobs: created, listed, changed, paused, resumed, archived."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import cast
from uuid import UUID

from fastapi import Response

from cadenza.application.ports.catalogue import JobSearch, StoredJob
from cadenza.domain.definition import declared
from cadenza.domain.errors import InvalidInput
from cadenza.domain.rule import MAX_RULES
from cadenza.manifest.models import JobFields
from cadenza.manifest.reading import read_job_fields
from cadenza.web.api.access import ApiDependencies, Operator, Reader
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.off_the_loop import off_the_loop
from cadenza.web.api.parsing.bodies import JobMergePatch, JobPatch, PauseBody
from cadenza.web.api.parsing.cursors import read_cursor, write_cursor
from cadenza.web.api.parsing.headers import Idempotency, IfMatch, tag
from cadenza.web.api.parsing.query import Archived, Cursor, DryRun, Limit, Named, Searched
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.jobs import ChangedJobResponse, JobResponse, job_response
from cadenza.web.api.schemas.pages import Page, page_response
from cadenza.web.api.schemas.removal import RemovalResponse, removal_response

routes = router("Jobs", "/jobs")


@routes.post("", status_code=201)
async def create_job(
    body: JobFields,
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
    idempotency: Idempotency,
) -> JobResponse:
    fields, record = read_job_fields(body), idempotency.record(body)
    await _read_rules(dependencies, [rule.when for rule in fields.rules])
    job, replayed = await dependencies.jobs.create(caller, fields, record)
    idempotency.mark(replayed)
    return _job(dependencies, response, job)


def _expressions_in(rules: object) -> list[object]:
    """Of what was sent, which may be anything."""
    items = cast("list[object]", rules) if isinstance(rules, list) else []
    documents = [cast("dict[str, object]", item) for item in items if isinstance(item, dict)]
    return [document.get("when") for document in documents]


async def _read_rules(dependencies: Dependencies, expressions: Sequence[object]) -> None:
    """Fifty take a while, so that they are read before the loop needs them; what is wrong with
    them is told later, with its place."""
    check = dependencies.around.validation_policy.check_rule
    texts = [text for text in expressions if isinstance(text, str)][:MAX_RULES]

    def read() -> None:
        for text in texts:
            with suppress(InvalidInput):
                if check is not None:
                    check("when", text)

    if texts:
        await off_the_loop(read)


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
    jobs = await dependencies.reads.jobs.list_jobs(caller.tenant_id, criteria)
    respond = partial(job_response, now=dependencies.around.clock.now())
    return page_response(jobs, limit, respond, lambda row: write_cursor(row.job.name, row.job.id))


@routes.get("/{job_id}")
async def get_job(
    job_id: UUID, response: Response, caller: Reader, dependencies: ApiDependencies
) -> JobResponse:
    stored = await dependencies.reads.jobs.get_job(caller.tenant_id, job_id)
    return _job(dependencies, response, stored)


def _job(dependencies: Dependencies, response: Response, stored: StoredJob) -> JobResponse:
    tag(response, stored.revision)
    return job_response(stored, dependencies.around.clock.now())


@routes.patch("/{job_id}")
async def change_job(
    job_id: UUID,
    body: JobPatch,
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
    seen: IfMatch,
) -> ChangedJobResponse:
    await _read_rules(dependencies, _expressions_in(body.get("rules")))
    stored = await dependencies.jobs.change(caller, job_id, JobMergePatch(body), seen)
    misfits = await dependencies.misfits_of(caller.tenant_id, [declared(stored.job)])
    changed = _job(dependencies, response, stored)
    return ChangedJobResponse(**dict(changed), warnings=[text for _, text in misfits])


@routes.post("/{job_id}/pause")
async def pause_job(
    job_id: UUID,
    body: PauseBody,
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
) -> JobResponse:
    """No scheduled run of any of its endpoints before an instant, or until it is resumed."""
    stored = await dependencies.jobs.pause(caller, job_id, body.until, body.reason)
    return _job(dependencies, response, stored)


@routes.post("/{job_id}/resume")
async def resume_job(
    job_id: UUID, response: Response, caller: Operator, dependencies: ApiDependencies
) -> JobResponse:
    return _job(dependencies, response, await dependencies.jobs.resume(caller, job_id))


@routes.post("/{job_id}/archive")
async def archive_job(
    job_id: UUID, response: Response, caller: Operator, dependencies: ApiDependencies, seen: IfMatch
) -> JobResponse:
    """The end of a job and of its endpoints; their history stays."""
    return _job(dependencies, response, await dependencies.jobs.archive(caller, job_id, seen))


@routes.post("/{job_id}/restore")
async def restore_job(
    job_id: UUID, response: Response, caller: Operator, dependencies: ApiDependencies
) -> JobResponse:
    """Undo the end of a job, and of the endpoints that ended with it."""
    return _job(dependencies, response, await dependencies.archive.restore_job(caller, job_id))


@routes.delete("/{job_id}")
async def delete_job(
    job_id: UUID, caller: Operator, dependencies: ApiDependencies, dry_run: DryRun = False
) -> RemovalResponse:
    """For good, with its endpoints, their runs and sessions; only what is archived."""
    archive = dependencies.archive
    if dry_run:
        return removal_response(await archive.what_goes(caller, job_id=job_id))
    return removal_response(await archive.delete_job(caller, job_id))
