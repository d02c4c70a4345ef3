"""Tenants, users, API keys and signing keys, as they are sent."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from pydantic import Field

from cadenza.domain.access import ApiKey, Caller, Scope, Tenant, User
from cadenza.domain.signing import SigningKey
from cadenza.web.api.schemas.base import ResponseSchema


class TenantResponse(ResponseSchema):
    id: UUID
    name: str
    created_at: datetime
    retention_days: int | None
    rules_mode: str
    llm_mode: str


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
    secret: str = Field(description="`whsec_…`, for receivers. Shown this once.")


class SigningKeysResponse(ResponseSchema):
    items: list[SigningKeyResponse]


def tenant_response(tenant: Tenant) -> TenantResponse:
    return TenantResponse(
        id=tenant.id,
        name=tenant.name,
        created_at=tenant.created_at,
        retention_days=tenant.retention_days,
        rules_mode=tenant.modes.rules,
        llm_mode=tenant.modes.llm,
    )


def user_response(user: User) -> UserResponse:
    return UserResponse.model_validate(user)


def users_response(users: Sequence[User]) -> UsersResponse:
    return UsersResponse(items=[user_response(user) for user in users])


def key_response(key: ApiKey) -> KeyResponse:
    return KeyResponse.model_validate(key)


def created_key_response(key: ApiKey, token: str) -> CreatedKeyResponse:
    return CreatedKeyResponse(**dict(key_response(key)), key=token)


def keys_response(keys: Sequence[ApiKey]) -> KeysResponse:
    return KeysResponse(items=[key_response(key) for key in keys])


def me_response(caller: Caller, tenant: Tenant) -> MeResponse:
    return MeResponse(
        tenant_id=tenant.id,
        tenant_name=tenant.name,
        user_id=caller.user_id,
        user_name=caller.user_name,
        key_id=caller.key_id,
        scopes=list(caller.scopes),
    )


def signing_keys_response(keys: Sequence[SigningKey]) -> SigningKeysResponse:
    return SigningKeysResponse(items=[SigningKeyResponse.model_validate(key) for key in keys])


def created_signing_key_response(key: SigningKey) -> CreatedSigningKeyResponse:
    return CreatedSigningKeyResponse(
        id=key.id,
        created_at=key.created_at,
        retires_at=key.retires_at,
        secret=key.secret.value,
    )
