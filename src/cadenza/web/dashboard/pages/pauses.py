"""Pauses with an end and a reason, of an endpoint and of a whole job."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.domain.errors import InvalidInput
from cadenza.manifest.durations import parse_duration
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.dashboard.forms import MENDABLE, NO_PROBLEMS, Form, Problems, problems_of, read_all
from cadenza.web.dashboard.pages.endpoint_lists import reason_of
from cadenza.web.dashboard.query import local_instant
from cadenza.web.dashboard.rendering import done, page
from cadenza.web.dashboard.visitor import Operator, PageDependencies, Sent, Visitor, zone_of

routes = APIRouter()
ENTRY = "/jobs"
FIELDS = ("until", "for", "reason")


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be paused, for its form."""

    name: str
    path: str
    about: str
    crumbs: tuple[tuple[str, str], ...]


@routes.get("/endpoints/{endpoint_id}/pause-until")
async def show_pause(
    endpoint_id: UUID, request: Request, visitor: Operator, dependencies: PageDependencies
) -> Response:
    subject = await _endpoint(endpoint_id, visitor, dependencies)
    return await _form(request, subject, Form({"for": "1h"}))


@routes.post("/endpoints/{endpoint_id}/pause-until")
async def pause_until(
    endpoint_id: UUID,
    request: Request,
    form: Sent,
    visitor: Operator,
    dependencies: PageDependencies,
) -> Response:
    subject = await _endpoint(endpoint_id, visitor, dependencies)
    try:
        until_at, reason = _wish(form, dependencies, zone_of(request))
        await dependencies.steering.pause(visitor.caller, endpoint_id, until_at, reason)
    except MENDABLE as error:
        return await _form(request, subject, form, problems_of(error, FIELDS))
    return done(subject.path, "Endpoint paused.")


@routes.get("/jobs/{job_id}/pause-until")
async def show_job_pause(
    job_id: UUID, request: Request, visitor: Operator, dependencies: PageDependencies
) -> Response:
    subject = await _job(job_id, visitor, dependencies)
    return await _form(request, subject, Form({"for": "1h"}))


@routes.post("/jobs/{job_id}/pause-until")
async def pause_job_until(
    job_id: UUID, request: Request, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    subject = await _job(job_id, visitor, dependencies)
    try:
        until_at, reason = _wish(form, dependencies, zone_of(request))
        await dependencies.jobs.pause(visitor.caller, job_id, until_at, reason)
    except MENDABLE as error:
        return await _form(request, subject, form, problems_of(error, FIELDS))
    return done(subject.path, "Job paused.")


async def _endpoint(endpoint_id: UUID, visitor: Visitor, dependencies: Dependencies) -> Subject:
    reads = dependencies.reads.endpoints
    stored = await reads.get_endpoint(visitor.caller.tenant_id, endpoint_id)
    path, job = f"/endpoints/{endpoint_id}", f"/jobs/{stored.endpoint.job_id}"
    return Subject(
        stored.endpoint.name,
        path,
        "Meanwhile it runs only when a person starts it.",
        (("Jobs", ENTRY), (stored.job_name, job), (stored.endpoint.name, path)),
    )


async def _job(job_id: UUID, visitor: Visitor, dependencies: Dependencies) -> Subject:
    stored = await dependencies.reads.jobs.get_job(visitor.caller.tenant_id, job_id)
    path, name = f"{ENTRY}/{job_id}", stored.job.name
    about = "Pauses all its endpoints. Pauses of single endpoints are not affected."
    return Subject(name, path, about, (("Jobs", ENTRY), (name, path)))


async def _form(
    request: Request, subject: Subject, form: Form, problems: Problems = NO_PROBLEMS
) -> Response:
    return await page(
        request,
        "pause.html",
        entry=ENTRY,
        subject=subject,
        form=form,
        problems=problems,
    )


# --- What was typed ---------------------------------------------------------------------------


def _wish(form: Form, dependencies: Dependencies, zone: ZoneInfo) -> tuple[datetime | None, str]:
    """Until when (None: until it is resumed), and why."""
    now = dependencies.around.clock.now()
    wish = read_all({"end": lambda: _end(form, now, zone), "reason": lambda: reason_of(form)})
    return wish["end"], wish["reason"]


def _end(form: Form, now: datetime, zone: ZoneInfo) -> datetime | None:
    if form.optional("until") is not None:
        return local_instant("until", form.text("until"), zone)
    if form.optional("for") is None:
        return None
    try:
        return now + parse_duration(form.text("for"))
    except (ValueError, OverflowError) as error:
        raise InvalidInput("for", form.text("for"), str(error)) from error
