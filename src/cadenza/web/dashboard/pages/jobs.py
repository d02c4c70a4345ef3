"""Jobs: all of them, one with its endpoints and rules, and what a person does to it."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.ports.catalogue import (
    EndpointOrder,
    EndpointSearch,
    JobSearch,
    StoredJob,
)
from cadenza.domain.definition import declared
from cadenza.domain.endpoint import EndpointState
from cadenza.domain.errors import Outdated, refuse
from cadenza.manifest.checking import job_field_errors
from cadenza.manifest.models import JobFields
from cadenza.manifest.planner import MODES, planner_document
from cadenza.manifest.reading import read_job_fields
from cadenza.manifest.writing import job_document
from cadenza.web.api.parsing.bodies import JobMergePatch, validated
from cadenza.web.api.parsing.cursors import read_cursor, read_endpoint_cursor, write_cursor
from cadenza.web.dashboard.charts import strips_of
from cadenza.web.dashboard.forms import MENDABLE, Form, Problems, outdated, problems_of
from cadenza.web.dashboard.pages.lists import (
    endpoint_rows,
    rows_of,
)
from cadenza.web.dashboard.query import PAGE, word
from cadenza.web.dashboard.rendering import back_or, done, page
from cadenza.web.dashboard.visitor import Operator, PageDependencies, Reader, Sent
from cadenza.web.dashboard.words import job_is_paused

routes = APIRouter()
ENTRY = "/jobs"
_NUMBERS = ("extra_runs", "relax", "tokens_per_day", "money_per_day", "tokens_per_session")
_TEXTS = ("max_pause", "min_gap", "model", "account", "prompt")
_FOLDED = (*_TEXTS, *_NUMBERS[2:])  # fields that are seldom used, and folded away
FIELDS = ("name", "description", *MODES, *_NUMBERS, *_TEXTS)
_NEW = (("5m", timedelta(minutes=5)), ("15m", timedelta(minutes=15)))


@routes.get("/jobs")
async def list_jobs(request: Request, visitor: Reader, dependencies: PageDependencies) -> Response:
    archived = word(request, "archived") is not None
    after = read_cursor(word_or_none(request, "cursor"))
    search = JobSearch(None, word(request, "search"), archived, after, PAGE + 1)
    jobs = await dependencies.reads.jobs.list_jobs(visitor.caller.tenant_id, search)
    rows = rows_of(request, jobs, lambda row: write_cursor(row.job.name, row.job.id))
    ids = [row.job.id for row in rows.items]
    states = await dependencies.reads.activity.states_of_jobs(visitor.caller.tenant_id, ids)
    return await page(
        request,
        "jobs/list.html",
        entry=ENTRY,
        rows=rows,
        states=states,
        strips=await strips_of(dependencies, visitor, ids),
        search=search,
        archived=archived,
    )


def word_or_none(request: Request, name: str) -> str | None:
    """A cursor as it was written, however long."""
    return request.query_params.get(name) or None


@routes.get("/jobs/new")
async def show_new_job(request: Request, _visitor: Operator) -> Response:
    return await _form(request, Form(), Problems(), None)


@routes.post("/jobs/new")
async def create_job(
    request: Request, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    try:
        document = _document(form)
        refuse(job_field_errors(document, dependencies.around.checks()))
        fields = read_job_fields(validated(JobFields, document))
        stored, _ = await dependencies.jobs.create(visitor.caller, fields)
    except MENDABLE as error:
        return await _form(request, form, problems_of(error, FIELDS), None)
    return done(f"/jobs/{stored.job.id}", "Job created. Next, add an endpoint.")


@routes.get("/jobs/{job_id}")
async def show_job(
    job_id: UUID, request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads
    stored, order = await reads.jobs.get_job(tenant_id, job_id), EndpointOrder.NAME
    after = read_endpoint_cursor(word_or_none(request, "cursor"), order)
    state = EndpointState.ARCHIVED if stored.job.archived_at else None
    search = EndpointSearch(job_id, state=state, order=order, after=after, limit=PAGE + 1)
    endpoints = await reads.endpoints.list_endpoints(tenant_id, search)
    return await page(
        request,
        "jobs/show.html",
        entry=ENTRY,
        stored=stored,
        job=stored.job,
        is_paused=job_is_paused(stored),
        endpoints=endpoint_rows(request, endpoints, order),
        usual_range=_usual_range(stored),
        rules=job_document(declared(stored.job)).get("rules", []),
        modes=stored.job.planner.modes((await reads.tenants.get_tenant(tenant_id)).modes),
    )


def _usual_range(stored: StoredJob) -> str:
    """Of its score where the address asks for none: what a new job did would be lost in an hour."""
    age = stored.read_at - stored.created_at
    return next((range_ for range_, old in _NEW if age < old), "1h")


@routes.get("/jobs/{job_id}/edit")
async def show_edit_job(
    job_id: UUID, request: Request, visitor: Operator, dependencies: PageDependencies
) -> Response:
    stored = await dependencies.reads.jobs.get_job(visitor.caller.tenant_id, job_id)
    return await _form(request, _form_of(stored), Problems(), stored)


@routes.post("/jobs/{job_id}/edit")
async def change_job(
    job_id: UUID, request: Request, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    try:
        document, seen = _document(form), revisions(form)
        refuse(job_field_errors(document, dependencies.around.checks()))
        await dependencies.jobs.change(visitor.caller, job_id, JobMergePatch(document), seen)
    except MENDABLE as error:
        stored = await dependencies.reads.jobs.get_job(visitor.caller.tenant_id, job_id)
        problems = problems_of(error, FIELDS)
        if isinstance(error, Outdated):
            form, problems = outdated(form, _form_of(stored), FIELDS)
        return await _form(request, form, problems, stored)
    return done(f"/jobs/{job_id}", "Job saved.")


@routes.post("/jobs/{job_id}/pause")
async def pause_job(
    job_id: UUID, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    await dependencies.jobs.pause(visitor.caller, job_id, None, "")
    return done(back_or(form, f"/jobs/{job_id}"), "Job paused until resumed.")


@routes.post("/jobs/{job_id}/resume")
async def resume_job(
    job_id: UUID, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    await dependencies.jobs.resume(visitor.caller, job_id)
    return done(back_or(form, f"/jobs/{job_id}"), "Job resumed.")


@routes.post("/jobs/{job_id}/archive")
async def archive_job(
    job_id: UUID, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    await dependencies.jobs.archive(visitor.caller, job_id)
    return done(
        back_or(form, f"/jobs/{job_id}"),
        "Job archived, with its endpoints. Their history is kept, and you can restore them.",
    )


async def _form(
    request: Request, form: Form, problems: Problems, stored: StoredJob | None
) -> Response:
    return await page(
        request,
        "jobs/form.html",
        entry=ENTRY,
        form=form,
        problems=problems,
        stored=stored,
        is_unfolded=any(form.text(name) or problems.of(name) for name in _FOLDED),
    )


def _form_of(stored: StoredJob) -> Form:
    """What has its usual value is left empty, but for the share of extra runs."""
    job, planner = stored.job, planner_document(stored.job.planner)
    values = {name: str(planner[name]) for name in (*MODES, *_NUMBERS, *_TEXTS) if name in planner}
    values |= {
        "name": job.name,
        "description": job.description,
        "extra_runs": f"{job.planner.extra_runs:g}",
        "relax": "" if job.planner.relax == 1 else f"{job.planner.relax:g}",
        "revision": str(stored.revision),
    }
    return Form(values)


def _document(form: Form) -> dict[str, Any]:
    """What is left empty of the planner is as usual."""
    planner: dict[str, Any] = {name: form.optional(name) for name in (*MODES, *_TEXTS)}
    planner |= {name: _number(form.optional(name)) for name in _NUMBERS}
    return {
        "name": form.text("name"),
        "description": form.values.get("description", ""),
        "planner": planner,
    }


def _number(text: str | None) -> float | str | None:
    """As the document wants it; what is no number is judged there, at its field."""
    if text is None or (text.isdecimal() and len(text) < 16):
        return None if text is None else int(text)
    try:
        return float(text)
    except ValueError:
        return text


def revisions(form: Form) -> frozenset[int] | None:
    revision = form.text("revision")
    return frozenset({int(revision)}) if revision.isdecimal() and len(revision) < 10 else None
