"""The people of one job, and keys for it alone: for owners of that job, and of the tenant."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.domain.access import Scope
from cadenza.domain.errors import InvalidInput
from cadenza.domain.people import Role
from cadenza.web.dashboard.forms import MENDABLE, Form, Problems, problems_of
from cadenza.web.dashboard.pages.people import new_link
from cadenza.web.dashboard.rendering import done, page
from cadenza.web.dashboard.visitor import Operator, PageDependencies, Sent, Visitor

routes = APIRouter()
ENTRY, HERE = "/jobs", "/jobs/{job_id}/people"
FIELDS = ("email", "role", "name", "scope", "person")
ROLES = {
    Role.VIEWER: "view the job",
    Role.OPERATOR: "also run, pause and edit it",
    Role.OWNER: "also manage its people and keys",
}
SCOPES = {Scope.READ: "read: view the job", Scope.OPERATE: "operate: also run, pause and edit"}


@routes.get(HERE)
async def show_people_of_job(
    job_id: UUID, request: Request, visitor: Operator, dependencies: PageDependencies
) -> Response:
    return await _people(job_id, request, visitor, dependencies)


async def _people(
    job_id: UUID,
    request: Request,
    visitor: Visitor,
    dependencies: PageDependencies,
    form: Form | None = None,
    problems: Problems | None = None,
) -> Response:
    caller, use = visitor.caller, dependencies.job_people
    people = await use.list_people(caller, job_id)
    users = await dependencies.reads.tenants.list_users(caller.tenant_id)
    known = {person.id for person in people}
    return await page(
        request,
        "jobs/people.html",
        status=200 if problems is None else 422,
        entry=ENTRY,
        job=(await dependencies.reads.jobs.get_job(caller.tenant_id, job_id)).job,
        people=people,
        others={str(user.id): user.name for user in users if user.id not in known},
        invitations=await use.list_invitations(caller, job_id),
        keys=[key for key in await use.list_keys(caller, job_id) if key.revoked_at is None],
        names={user.id: user.name for user in users},
        roles=ROLES,
        scopes=SCOPES,
        form=form or Form({"role": Role.VIEWER, "scope": Scope.READ}),
        problems=problems or Problems(),
    )


@routes.post("/jobs/{job_id}/people/give")
async def give_role(
    job_id: UUID, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    use, user_id = dependencies.job_people, _user_id(form)
    person = await use.give_role(visitor.caller, job_id, user_id, _role(form))
    return done(f"/jobs/{job_id}/people", f"{person.name} is now {person.role} of this job.")


@routes.post("/jobs/{job_id}/people/{user_id}/take")
async def take_role(
    job_id: UUID, user_id: UUID, _form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    person = await dependencies.job_people.take_role(visitor.caller, job_id, user_id)
    at = f"/jobs/{job_id}/people" if user_id != visitor.caller.user_id else "/"
    return done(at, f"{person.name} no longer has a role for this job.")


@routes.post("/jobs/{job_id}/people/invite")
async def invite(
    job_id: UUID, request: Request, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    try:
        invitation, token = await dependencies.job_people.invite(
            visitor.caller, job_id, form.text("email"), _role(form)
        )
    except MENDABLE as error:
        problems = problems_of(error, FIELDS)
        return await _people(job_id, request, visitor, dependencies, form, problems)
    back = f"/jobs/{job_id}/people"
    return await new_link(request, dependencies, invitation.email, token, back)


@routes.post("/jobs/{job_id}/invitations/{invitation_id}/revoke")
async def revoke_invitation(
    job_id: UUID,
    invitation_id: UUID,
    _form: Sent,
    visitor: Operator,
    dependencies: PageDependencies,
) -> Response:
    use = dependencies.job_people
    revoked = await use.revoke_invitation(visitor.caller, job_id, invitation_id)
    message = f"Invitation for {revoked.email} revoked."
    return done(f"/jobs/{job_id}/people", message)


@routes.post("/jobs/{job_id}/keys")
async def create_key(
    job_id: UUID, request: Request, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    try:
        key, token = await dependencies.job_people.create_key(
            visitor.caller, job_id, form.text("name"), [_scope(form)]
        )
    except MENDABLE as error:
        problems = problems_of(error, FIELDS)
        return await _people(job_id, request, visitor, dependencies, form, problems)
    about: dict[str, Any] = {"kind": "key", "name": key.name, "secret": token}
    about["back"] = f"/jobs/{job_id}/people"
    return await page(request, "new_secret.html", entry=ENTRY, **about)


@routes.post("/jobs/{job_id}/keys/{key_id}/revoke")
async def revoke_key(
    job_id: UUID, key_id: UUID, _form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    key = await dependencies.job_people.revoke_key(visitor.caller, job_id, key_id)
    return done(f"/jobs/{job_id}/people", f"Key {key.name} revoked.")


def _role(form: Form) -> Role:
    try:
        return Role(form.text("role"))
    except ValueError as error:
        raise InvalidInput("role", form.text("role"), f"one of {', '.join(Role)}") from error


def _scope(form: Form) -> Scope:
    try:
        return Scope(form.text("scope"))
    except ValueError as error:
        raise InvalidInput("scope", form.text("scope"), "read or operate") from error


def _user_id(form: Form) -> UUID:
    try:
        return UUID(form.text("person"))
    except ValueError as error:
        raise InvalidInput("person", form.text("person"), "choose somebody") from error
