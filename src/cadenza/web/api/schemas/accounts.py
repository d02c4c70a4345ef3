"""Tenants, users, API keys and signing keys, as they are sent."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import AliasPath, Field

from cadenza.domain.access import ApiKey, Scope
from cadenza.web.api.schemas.base import ResponseSchema


class TenantResponse(ResponseSchema):
    id: UUID
    name: str
    created_at: datetime
    retention_days: int | None
    rules_mode: Annotated[str, Field(validation_alias=AliasPath("modes", "rules"))]
    llm_mode: Annotated[str, Field(validation_alias=AliasPath("modes", "llm"))]


class UserResponse(ResponseSchema):
    id: UUID
    tenant_id: UUID
    name: str
    created_at: datetime


class UsersResponse(ResponseSchema):
    items: list[UserResponse]


class DeletedResponse(ResponseSchema):
    id: UUID


class KeyResponse(ResponseSchema):
    id: UUID
    name: str
    user_id: UUID
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="To the minute.")


class CreatedKeyResponse(KeyResponse):
    key: str = Field(description="Shown this once: keep it.")


class KeysResponse(ResponseSchema):
    items: list[KeyResponse]


class MeResponse(ResponseSchema):
    tenant_id: UUID
    tenant_name: str
    user_id: UUID
    user_name: str
    key_id: UUID
    scopes: list[Scope]


class SigningKeyResponse(ResponseSchema):
    id: UUID
    created_at: datetime
    retires_at: datetime | None = Field(description="null: it has no end yet")


class CreatedSigningKeyResponse(SigningKeyResponse):
    secret: Annotated[
        str,
        Field(
            validation_alias=AliasPath("secret", "value"),
            description="`whsec_…`, for receivers. Shown this once.",
        ),
    ]


class SigningKeysResponse(ResponseSchema):
    items: list[SigningKeyResponse]


def created_key_response(key: ApiKey, token: str) -> CreatedKeyResponse:
    return CreatedKeyResponse(**dict(KeyResponse.model_validate(key)), key=token)
