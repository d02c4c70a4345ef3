"""The people of one job, and keys for it alone: for owners of that job, and of the tenant."""

from uuid import UUID

from cadenza.application.job_people import JobPerson
from cadenza.web.api.access import ApiDependencies, Operator
from cadenza.web.api.parsing.bodies import JobInvitationBody, JobKeyBody, RoleBody
from cadenza.web.api.parsing.headers import Idempotency
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.accounts import (
    CreatedKeyResponse,
    KeyResponse,
    KeysResponse,
    created_key_response,
)
from cadenza.web.api.schemas.people import (
    CreatedInvitationResponse,
    InvitationResponse,
    InvitationsResponse,
    JobPeopleResponse,
    JobPersonResponse,
    created_invitation_response,
    invitation_response,
)

# Who asks must own the job, with a key of the scope admin: the use case sees to it.
routes = router("People", "/jobs/{job_id}")


@routes.get("/people")
async def list_people_of_job(
    job_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> JobPeopleResponse:
    """Who has a role for this very job, by name; not those who see it by a role in the tenant."""
    people = await dependencies.job_people.list_people(caller, job_id)
    return JobPeopleResponse(items=[_response(person) for person in people])


@routes.put("/people/{user_id}")
async def give_role_for_job(
    job_id: UUID, user_id: UUID, body: RoleBody, caller: Operator, dependencies: ApiDependencies
) -> JobPersonResponse:
    """To anybody of the tenant, in place of the role for this job that they had; what they have
    elsewhere stays. It counts at once."""
    person = await dependencies.job_people.give_role(caller, job_id, user_id, body.role)
    return _response(person)


@routes.delete("/people/{user_id}")
async def take_role_for_job(
    job_id: UUID, user_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> JobPersonResponse:
    """What they have elsewhere stays. It counts at once."""
    return _response(await dependencies.job_people.take_role(caller, job_id, user_id))


@routes.get("/invitations")
async def list_invitations_to_job(
    job_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> InvitationsResponse:
    """To this job and nothing else, newest first; those that have ended, for a month."""
    rows = await dependencies.job_people.list_invitations(caller, job_id)
    return InvitationsResponse(items=[invitation_response(row) for row in rows])


@routes.post("/invitations", status_code=201)
async def invite_to_job(
    job_id: UUID, body: JobInvitationBody, caller: Operator, dependencies: ApiDependencies
) -> CreatedInvitationResponse:
    """To this job and nothing else. Nothing is sent: give the link to whom you invite. It works
    once, and is shown this once."""
    created = await dependencies.job_people.invite(
        caller, job_id, body.email, body.role, body.parsed_lasts()
    )
    return created_invitation_response(*created)


@routes.delete("/invitations/{job_invitation_id}")
async def revoke_invitation_to_job(
    job_id: UUID, job_invitation_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> InvitationResponse:
    """Its link opens nothing from now on."""
    revoked = await dependencies.job_people.revoke_invitation(caller, job_id, job_invitation_id)
    return invitation_response(revoked)


@routes.get("/keys")
async def list_keys_of_job(
    job_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> KeysResponse:
    """Those for this job and nothing else, whoever they act for."""
    keys = await dependencies.job_people.list_keys(caller, job_id)
    return KeysResponse.model_validate({"items": keys})


@routes.post("/keys", status_code=201)
async def create_key_of_job(
    job_id: UUID,
    body: JobKeyBody,
    caller: Operator,
    dependencies: ApiDependencies,
    idempotency: Idempotency,
) -> CreatedKeyResponse:
    """For this job and nothing else, `read` or `operate`; it acts for you. The key itself is in
    this answer, and never again."""
    about = (body.name, body.scopes, body.expires_at, idempotency.record(body))
    return created_key_response(*await dependencies.job_people.create_key(caller, job_id, *about))


@routes.delete("/keys/{job_key_id}")
async def revoke_key_of_job(
    job_id: UUID, job_key_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> KeyResponse:
    """It opens nothing from now on."""
    return KeyResponse.model_validate(
        await dependencies.job_people.revoke_key(caller, job_id, job_key_id)
    )


def _response(person: JobPerson) -> JobPersonResponse:
    return JobPersonResponse(id=person.id, name=person.name, role=person.role)
