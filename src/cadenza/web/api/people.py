"""People of the caller's tenant: invited, given roles, removed. For owners."""

from uuid import UUID

from cadenza.web.api.access import Admin, ApiDependencies
from cadenza.web.api.parsing.bodies import AccessBody, InvitationBody
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.people import (
    CreatedInvitationResponse,
    InvitationResponse,
    InvitationsResponse,
    PeopleResponse,
    PersonResponse,
    created_invitation_response,
    invitation_response,
    person_response,
)

routes = router("People")
MOST_SHOWN = 1000  # invitations, those that have ended among them


@routes.get("/people")
async def list_people(caller: Admin, dependencies: ApiDependencies) -> PeopleResponse:
    """Everybody who has a role here, by name."""
    users = await dependencies.reads.tenants.list_users(caller.tenant_id)
    return PeopleResponse(items=[person_response(user) for user in users])


@routes.put("/people/{user_id}/role")
async def change_role(
    user_id: UUID, body: AccessBody, caller: Admin, dependencies: ApiDependencies
) -> PersonResponse:
    """In place of all roles that they had; it counts at once. 409 for the last owner."""
    user = await dependencies.people.change_access(caller, user_id, body.access())
    return person_response(user)


@routes.delete("/people/{user_id}")
async def remove_person(
    user_id: UUID, caller: Admin, dependencies: ApiDependencies
) -> PersonResponse:
    """With their keys and browsers, at once; what they granted is revoked. 409 for the last
    owner."""
    return person_response(await dependencies.people.remove(caller, user_id))


@routes.get("/invitations")
async def list_invitations(caller: Admin, dependencies: ApiDependencies) -> InvitationsResponse:
    """Newest first; those that have ended, for a month."""
    rows = await dependencies.reads.people.list_invitations(caller.tenant_id, MOST_SHOWN)
    return InvitationsResponse(items=[invitation_response(row) for row in rows])


@routes.post("/invitations", status_code=201)
async def create_invitation(
    body: InvitationBody, caller: Admin, dependencies: ApiDependencies
) -> CreatedInvitationResponse:
    """Nothing is sent: give the link to whom you invite. It works once, and is shown this once."""
    created = await dependencies.invitations.create(
        caller, body.email, body.access(), body.parsed_lasts()
    )
    return created_invitation_response(*created)


@routes.delete("/invitations/{invitation_id}")
async def revoke_invitation(
    invitation_id: UUID, caller: Admin, dependencies: ApiDependencies
) -> InvitationResponse:
    """Its link opens nothing from now on."""
    return invitation_response(await dependencies.invitations.revoke(caller, invitation_id))
