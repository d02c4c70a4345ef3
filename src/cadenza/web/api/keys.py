"""API keys of the caller's tenant: created (shown once), listed, rotated, revoked; and its signing
keys, with which receivers verify that a call is ours."""

from uuid import UUID

from cadenza.application.accounts import NewKey
from cadenza.web.api.access import Admin, ApiDependencies, Reader
from cadenza.web.api.parsing.bodies import KeyBody, KeyRotationBody, SigningKeyBody
from cadenza.web.api.parsing.headers import Idempotency
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.accounts import (
    CreatedKeyResponse,
    CreatedSigningKeyResponse,
    KeyResponse,
    KeysResponse,
    MeResponse,
    SigningKeysResponse,
    created_key_response,
    me_response,
)

routes = router("Keys")
signing_routes = router("Signing keys", "/signing-keys")


@routes.post("/keys", status_code=201)
async def create_key(
    body: KeyBody,
    caller: Admin,
    dependencies: ApiDependencies,
    idempotency: Idempotency,
) -> CreatedKeyResponse:
    """The key itself is in this answer, and never again."""
    user_id = body.user_id or caller.user_id
    wanted = NewKey(body.name, body.scopes, user_id, body.expires_at, body.job_ids)
    created = await dependencies.keys.create(caller, wanted, idempotency.record(body))
    return created_key_response(*created)


@routes.get("/keys")
async def list_keys(caller: Admin, dependencies: ApiDependencies) -> KeysResponse:
    keys = await dependencies.reads.keys.list_keys(caller.tenant_id)
    return KeysResponse.model_validate({"items": keys})


@routes.post("/keys/{key_id}/rotate", status_code=201)
async def rotate_key(
    key_id: UUID, body: KeyRotationBody, caller: Admin, dependencies: ApiDependencies
) -> CreatedKeyResponse:
    """A new key in the place of another, with the same user, name, scopes and jobs. It lasts as
    long as that was made for."""
    rotated = await dependencies.keys.rotate(caller, key_id, body.parsed())
    return created_key_response(*rotated)


@routes.delete("/keys/{key_id}")
async def revoke_key(key_id: UUID, caller: Admin, dependencies: ApiDependencies) -> KeyResponse:
    """It opens nothing from now on."""
    return KeyResponse.model_validate(await dependencies.keys.revoke(caller, key_id))


@routes.get("/me")
async def me(caller: Reader, dependencies: ApiDependencies) -> MeResponse:
    """Who you are, by your key."""
    tenant = await dependencies.reads.tenants.get_tenant(caller.tenant_id)
    match = await dependencies.authentication.find_key(caller.key_id)
    return me_response(caller, tenant.name, match[0].expires_at if match is not None else None)


@signing_routes.get("")
async def list_signing_keys(caller: Admin, dependencies: ApiDependencies) -> SigningKeysResponse:
    keys = await dependencies.reads.signing_keys.keys_of(caller.tenant_id)
    return SigningKeysResponse.model_validate({"items": keys})


@signing_routes.post("", status_code=201)
async def create_signing_key(
    body: SigningKeyBody, caller: Admin, dependencies: ApiDependencies
) -> CreatedSigningKeyResponse:
    """A new key signs at once; workers take it up within a few seconds."""
    secret = dependencies.around.new_signing_secret()
    key = await dependencies.signing_keys.rotate(
        caller.actor, caller.tenant_id, secret, body.parsed()
    )
    return CreatedSigningKeyResponse.model_validate(key)
