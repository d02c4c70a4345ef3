"""API keys of the caller's tenant: created (shown once), listed, rotated, revoked."""

from uuid import UUID

from fastapi import Request

from cadenza.application.accounts import NewKey
from cadenza.web.api.access import Admin, ApiDependencies, Reader
from cadenza.web.api.parsing.bodies import KeyBody, KeyRotationBody
from cadenza.web.api.parsing.headers import IdempotencyKey, idempotency_record
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.accounts import (
    CreatedKeyResponse,
    KeyResponse,
    KeysResponse,
    MeResponse,
    created_key_response,
    key_response,
    keys_response,
    me_response,
)

routes = router("Keys", "/keys")
me_routes = router("Keys")


@routes.post("", status_code=201)
async def create_key(
    body: KeyBody,
    request: Request,
    caller: Admin,
    dependencies: ApiDependencies,
    idempotency_key: IdempotencyKey,
) -> CreatedKeyResponse:
    """The key itself is in this answer, and never again."""
    wanted = NewKey(body.name, body.scopes, body.user_id or caller.user_id, body.expires_at)
    record = idempotency_record(request, idempotency_key, body)
    return created_key_response(*await dependencies.keys.create(caller, wanted, record))


@routes.get("")
async def list_keys(caller: Admin, dependencies: ApiDependencies) -> KeysResponse:
    return keys_response(await dependencies.reads.keys.list_keys(caller.tenant_id))


@routes.post("/{key_id}/rotate", status_code=201)
async def rotate_key(
    key_id: UUID, body: KeyRotationBody, caller: Admin, dependencies: ApiDependencies
) -> CreatedKeyResponse:
    """A new key in the place of another, with the same user, name and scopes."""
    rotated = await dependencies.keys.rotate(caller, key_id, body.parsed())
    return created_key_response(*rotated)


@routes.delete("/{key_id}")
async def revoke_key(key_id: UUID, caller: Admin, dependencies: ApiDependencies) -> KeyResponse:
    """It opens nothing from now on."""
    return key_response(await dependencies.keys.revoke(caller, key_id))


@me_routes.get("/me")
async def me(caller: Reader, dependencies: ApiDependencies) -> MeResponse:
    """Who you are, by your key."""
    tenant = await dependencies.reads.tenants.get_tenant(caller.tenant_id)
    return me_response(caller, tenant)
