"""People: who has which role, whom an owner has invited, and the same changed; for owners."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.ports.catalogue import JobSearch
from cadenza.domain.errors import InvalidInput
from cadenza.domain.people import MOST_JOBS, Access, Role
from cadenza.web.dashboard.forms import MENDABLE, NO_PROBLEMS, Form, Problems, problems_of
from cadenza.web.dashboard.rendering import done, page
from cadenza.web.dashboard.visitor import Admin, PageDependencies, Sent, Visitor, is_behind_tls

routes = APIRouter()
ENTRY, HERE = "/settings", "/settings/people"
MOST = 200
FIELDS = ("email", "role", "job")
ROLES = {
    Role.VIEWER: "view everything",
    Role.OPERATOR: "also run, pause, create and edit",
    Role.OWNER: "also keys, people and limits",
    "job-viewer": "view one job only",
    "job-operator": "operate one job only",
    "job-owner": "manage the people and keys of one job",
}


@routes.get(HERE)
async def show_people(request: Request, visitor: Admin, dependencies: PageDependencies) -> Response:
    return await _people(request, visitor, dependencies)


async def _people(
    request: Request,
    visitor: Visitor,
    dependencies: PageDependencies,
    form: Form | None = None,
    problems: Problems = NO_PROBLEMS,
) -> Response:
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads
    jobs = await reads.jobs.list_jobs(tenant_id, JobSearch(limit=MOST_JOBS))
    names = {str(row.job.id): row.job.name for row in jobs}
    return await page(
        request,
        "people.html",
        entry=ENTRY,
        users=await reads.tenants.list_users(tenant_id),
        invitations=await reads.people.list_invitations(tenant_id, MOST),
        roles=ROLES,
        jobs={"": "every job", **names},
        job_names=names,
        form=form or Form({"role": Role.VIEWER}),
        problems=problems,
    )


@routes.post("/settings/people/invite")
async def invite(
    request: Request, form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    try:
        invitation, token = await dependencies.invitations.create(
            visitor.caller, form.text("email"), _access(form)
        )
    except MENDABLE as error:
        problems = problems_of(error, FIELDS)
        return await _people(request, visitor, dependencies, form, problems)
    return await new_link(request, dependencies, invitation.email, token, HERE)


async def new_link(
    request: Request, dependencies: PageDependencies, email: str, token: str, back: str
) -> Response:
    scheme = "https" if is_behind_tls(request) else "http"
    origin = dependencies.around.public_url or f"{scheme}://{request.url.netloc}"
    link = f"{origin.rstrip('/')}/join/{token}"
    about: dict[str, Any] = {"kind": "invitation of", "name": email, "secret": link, "back": back}
    return await page(request, "new_secret.html", entry=ENTRY, **about)


@routes.post("/settings/people/{user_id}/role")
async def change_role(
    user_id: UUID, form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    user = await dependencies.people.change_access(visitor.caller, user_id, _access(form))
    return done(HERE, f"Role of {user.name} changed.")


@routes.post("/settings/people/{user_id}/remove")
async def remove(
    user_id: UUID, _form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    user = await dependencies.people.remove(visitor.caller, user_id)
    return done(HERE, f"{user.name} removed. Their keys and sign-ins no longer work.")


@routes.post("/settings/invitations/{invitation_id}/revoke")
async def revoke(
    invitation_id: UUID, _form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    invitation = await dependencies.invitations.revoke(visitor.caller, invitation_id)
    return done(HERE, f"Invitation for {invitation.email} revoked.")


def _access(form: Form) -> Access:
    """Of the whole tenant, or of the one job that is chosen beside it."""
    chosen = form.text("role")
    of_job, job_id = chosen.startswith("job-"), form.optional("job")
    try:
        role = Role(chosen.removeprefix("job-"))
    except ValueError as error:
        raise InvalidInput("role", chosen, f"one of {', '.join(Role)}") from error
    if not of_job:
        return Access(role)
    return Access(None, _job_roles(job_id, role))


def _job_roles(job_id: str | None, role: Role) -> Mapping[UUID, Role]:
    try:
        return {UUID(job_id or ""): role}
    except ValueError as error:
        raise InvalidInput("job", job_id, "choose the job") from error
