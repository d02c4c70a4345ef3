"""People and invitations, as they are sent."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from pydantic import Field

from cadenza.domain.access import User
from cadenza.domain.people import Invitation, Role
from cadenza.web.api.schemas.base import ResponseSchema


class JobRoleResponse(ResponseSchema):
    job_id: UUID
    role: Role


class PersonResponse(ResponseSchema):
    id: UUID
    name: str
    email: str | None
    role: Role | None = Field(description="In the whole tenant; null: only for single jobs.")
    jobs: list[JobRoleResponse]
    created_at: datetime
    uses_provider: bool = Field(description="They have signed in at the OpenID provider.")


class PeopleResponse(ResponseSchema):
    items: list[PersonResponse]


class JobPersonResponse(ResponseSchema):
    id: UUID
    name: str
    role: Role = Field(description="For this job; what they have elsewhere is not told.")


class JobPeopleResponse(ResponseSchema):
    items: list[JobPersonResponse]


class InvitationResponse(ResponseSchema):
    id: UUID
    email: str
    role: Role | None
    jobs: list[JobRoleResponse]
    invited_by: str
    created_at: datetime
    expires_at: datetime
    accepted_at: datetime | None
    revoked_at: datetime | None


class CreatedInvitationResponse(InvitationResponse):
    path: str = Field(
        description="Of the link, on the address of the dashboard. Shown this once: it works once.",
        examples=["/join/…"],
    )


class InvitationsResponse(ResponseSchema):
    items: list[InvitationResponse]


def person_response(user: User) -> PersonResponse:
    return PersonResponse(
        id=user.id,
        name=user.name,
        email=user.email,
        role=user.role,
        jobs=_jobs(user.job_roles),
        created_at=user.created_at,
        uses_provider=user.identity is not None,
    )


def invitation_response(invitation: Invitation) -> InvitationResponse:
    return InvitationResponse(
        id=invitation.id,
        email=invitation.email,
        role=invitation.access.role,
        jobs=_jobs(invitation.access.job_roles),
        invited_by=invitation.invited_by,
        created_at=invitation.created_at,
        expires_at=invitation.expires_at,
        accepted_at=invitation.accepted_at,
        revoked_at=invitation.revoked_at,
    )


def created_invitation_response(invitation: Invitation, token: str) -> CreatedInvitationResponse:
    fields = dict(invitation_response(invitation))
    return CreatedInvitationResponse(**fields, path=f"/join/{token}")


def _jobs(roles: Mapping[UUID, Role]) -> list[JobRoleResponse]:
    return [JobRoleResponse(job_id=job_id, role=role) for job_id, role in sorted(roles.items())]
