"""API keys of the caller's tenant: created (shown once), listed, rotated, revoked."""

from datetime import datetime
from uuid import UUID

from fastapi import Request

from cadenza.domain.access import ApiKey, Scope, hash_of, token_of
from cadenza.domain.definition import check_name
from cadenza.domain.errors import InvalidInput, NotFound, Refused
from cadenza.web.api.access import Admin, ApiDependencies, Reader, audit_entry
from cadenza.web.api.dependencies import Dependencies
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


def new_key(
    dependencies: Dependencies,
    tenant_id: UUID,
    user_id: UUID,
    name: str,
    scopes: list[Scope],
    expires_at: datetime | None,
) -> tuple[ApiKey, str]:
    check_name("name", name)
    now = dependencies.clock.now()
    if expires_at is not None and expires_at <= now:
        raise InvalidInput("expires_at", expires_at.isoformat(), "an instant to come")
    key_id = dependencies.new_id()
    token = token_of(key_id, dependencies.new_secret())
    in_order = tuple(scope for scope in Scope if scope in scopes)
    return (
        ApiKey(key_id, tenant_id, user_id, name, in_order, hash_of(token), now, expires_at),
        token,
    )


@routes.post("", status_code=201)
async def create_key(
    body: KeyBody,
    request: Request,
    caller: Admin,
    dependencies: ApiDependencies,
    idempotency_key: IdempotencyKey,
) -> CreatedKeyResponse:
    """The key itself is in this answer, and never again."""
    user_id = body.user_id or caller.user_id
    key, token = new_key(
        dependencies, caller.tenant_id, user_id, body.name, body.scopes, body.expires_at
    )
    entry = audit_entry(
        caller, "key.create", name=body.name, scopes=list(key.scopes), user_id=str(user_id)
    )
    record = idempotency_record(request, idempotency_key, body)
    created_id = await dependencies.keys.add_key(key, entry, record)
    if created_id != key.id:
        raise Refused(f"it was created as {created_id}, and shown then; rotate it for a new one")
    return created_key_response(key, token)


@routes.get("")
async def list_keys(caller: Admin, dependencies: ApiDependencies) -> KeysResponse:
    return keys_response(await dependencies.keys.list_keys(caller.tenant_id))


@routes.post("/{key_id}/rotate", status_code=201)
async def rotate_key(
    key_id: UUID, body: KeyRotationBody, caller: Admin, dependencies: ApiDependencies
) -> CreatedKeyResponse:
    """A new key in the place of another, with the same user, name and scopes."""
    overlap = body.parsed()
    match = await dependencies.keys.find_key(key_id)
    if match is None or match[0].tenant_id != caller.tenant_id:
        raise NotFound(f"no key {key_id}")
    old, _, now = match
    new, token = new_key(
        dependencies, caller.tenant_id, old.user_id, old.name, list(old.scopes), None
    )
    await dependencies.keys.replace_key(
        key_id, new, now + overlap, audit_entry(caller, "key.rotate")
    )
    return created_key_response(new, token)


@routes.delete("/{key_id}")
async def revoke_key(key_id: UUID, caller: Admin, dependencies: ApiDependencies) -> KeyResponse:
    """It opens nothing from now on."""
    revoked = await dependencies.keys.revoke_key(
        caller.tenant_id, key_id, audit_entry(caller, "key.revoke")
    )
    return key_response(revoked)


@me_routes.get("/me")
async def me(caller: Reader, dependencies: ApiDependencies) -> MeResponse:
    """Who you are, by your key."""
    tenant = await dependencies.tenants.get_tenant(caller.tenant_id)
    return me_response(caller, tenant)
