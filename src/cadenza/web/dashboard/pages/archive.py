"""What becomes of archived jobs and endpoints: restored, or deleted for good."""

from dataclasses import dataclass
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.archive import MOST_COUNTED, Removal
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.dashboard.rendering import back_or, done, page
from cadenza.web.dashboard.visitor import Operator, PageDependencies, Sent, Visitor
from cadenza.web.dashboard.words import plural

routes = APIRouter()
ENTRY = "/jobs"


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be deleted, for the page that asks."""

    name: str
    path: str
    is_archived: bool
    crumbs: tuple[tuple[str, str], ...]
    after: str  # the page to go on to, when its own is gone


# --- Restored ---------------------------------------------------------------------------------


@routes.post("/endpoints/{endpoint_id}/restore")
async def restore_endpoint(
    endpoint_id: UUID, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    await dependencies.archive.restore_endpoint(visitor.caller, endpoint_id)
    return done(back_or(form, f"/endpoints/{endpoint_id}"), "Endpoint restored.")


@routes.post("/jobs/{job_id}/restore")
async def restore_job(
    job_id: UUID, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    stored = await dependencies.archive.restore_job(visitor.caller, job_id)
    count = plural(stored.endpoint_count, "endpoint")
    return done(back_or(form, f"/jobs/{job_id}"), f"Job restored, with {count}.")


# --- Deleted ----------------------------------------------------------------------------------


@routes.get("/endpoints/{endpoint_id}/delete")
async def ask_about_endpoint(
    endpoint_id: UUID, request: Request, visitor: Operator, dependencies: PageDependencies
) -> Response:
    subject = await _endpoint(endpoint_id, visitor, dependencies)
    goes = await dependencies.archive.what_goes(visitor.caller, endpoint_id=endpoint_id)
    return await _ask(request, subject, _history(goes))


@routes.post("/endpoints/{endpoint_id}/delete")
async def delete_endpoint(
    endpoint_id: UUID, _form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    subject = await _endpoint(endpoint_id, visitor, dependencies)
    gone = await dependencies.archive.delete_endpoint(visitor.caller, endpoint_id)
    return _deleted(subject, gone)


@routes.get("/jobs/{job_id}/delete")
async def ask_about_job(
    job_id: UUID, request: Request, visitor: Operator, dependencies: PageDependencies
) -> Response:
    subject = await _job(job_id, visitor, dependencies)
    goes = await dependencies.archive.what_goes(visitor.caller, job_id=job_id)
    return await _ask(request, subject, f"{plural(goes.endpoints, 'endpoint')}, {_history(goes)}")


@routes.post("/jobs/{job_id}/delete")
async def delete_job(
    job_id: UUID, _form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    subject = await _job(job_id, visitor, dependencies)
    return _deleted(subject, await dependencies.archive.delete_job(visitor.caller, job_id))


async def _ask(request: Request, subject: Subject, what_goes: str) -> Response:
    if not subject.is_archived:
        message = "Archive it first. Deleting cannot be undone."
        return done(subject.path, message, is_error=True)
    return await page(request, "delete.html", entry=ENTRY, subject=subject, what_goes=what_goes)


def _deleted(subject: Subject, gone: Removal) -> Response:
    """Who has more history than goes at once presses again, on the page that asks."""
    history = plural(gone.history, "run")
    if not gone.done:
        message = f"{history} and sessions are gone, and there are more: delete again to go on."
        return done(f"{subject.path}/delete", message)
    return done(subject.after, f"{subject.name} deleted, with {history} and sessions.")


def _history(goes: Removal) -> str:
    most = "more than " if goes.history >= MOST_COUNTED else ""
    return f"{most}{plural(goes.history, 'run')} and sessions"


async def _endpoint(endpoint_id: UUID, visitor: Visitor, dependencies: Dependencies) -> Subject:
    reads = dependencies.reads.endpoints
    stored = await reads.get_endpoint(visitor.caller.tenant_id, endpoint_id)
    endpoint, path = stored.endpoint, f"/endpoints/{endpoint_id}"
    job = f"{ENTRY}/{endpoint.job_id}"
    crumbs = (("Jobs", ENTRY), (stored.job_name, job), (endpoint.name, path))
    return Subject(endpoint.name, path, endpoint.archived_at is not None, crumbs, job)


async def _job(job_id: UUID, visitor: Visitor, dependencies: Dependencies) -> Subject:
    job = (await dependencies.reads.jobs.get_job(visitor.caller.tenant_id, job_id)).job
    path = f"{ENTRY}/{job_id}"
    crumbs = (("Jobs", ENTRY), (job.name, path))
    return Subject(job.name, path, job.archived_at is not None, crumbs, f"{ENTRY}?archived=yes")
