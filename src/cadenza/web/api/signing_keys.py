"""Signing keys of the caller's tenant: receivers verify with them that a call is ours."""

from cadenza.web.api.access import Admin, ApiDependencies
from cadenza.web.api.parsing.bodies import SigningKeyBody
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.accounts import (
    CreatedSigningKeyResponse,
    SigningKeysResponse,
    created_signing_key_response,
    signing_keys_response,
)

routes = router("Signing keys", "/signing-keys")


@routes.get("")
async def list_signing_keys(caller: Admin, dependencies: ApiDependencies) -> SigningKeysResponse:
    return signing_keys_response(await dependencies.reads.signing_keys.keys_of(caller.tenant_id))


@routes.post("", status_code=201)
async def create_signing_key(
    body: SigningKeyBody, caller: Admin, dependencies: ApiDependencies
) -> CreatedSigningKeyResponse:
    """A new key signs at once; workers take it up within a few seconds."""
    secret = dependencies.around.new_signing_secret()
    key = await dependencies.signing_keys.rotate(
        caller.actor, caller.tenant_id, secret, body.parsed()
    )
    return created_signing_key_response(key)
