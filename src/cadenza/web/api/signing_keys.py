"""Signing keys of the caller's tenant: receivers verify with them that a call is ours."""

from datetime import datetime, timedelta
from uuid import UUID

from pydantic import Field

from cadenza.domain.signing import DEFAULT_OVERLAP
from cadenza.manifest.durations import format_duration, parse_duration
from cadenza.manifest.models import Document, Duration
from cadenza.web.api.access import Admin, ApiDependencies, audit_entry
from cadenza.web.api.routes import router
from cadenza.web.api.schemas import Shown

routes = router("Signing keys", "/signing-keys")


class SigningKeyWanted(Document):
    overlap: Duration | None = Field(
        default=None,
        description=f"How long the one before it signs too; {format_duration(DEFAULT_OVERLAP)} "
        "where it is left out. A leaked key is replaced with `no_overlap`.",
    )
    no_overlap: bool = Field(default=False, description="End all keys before it at once.")


class SigningKeyShown(Shown):
    id: UUID
    created_at: datetime
    retires_at: datetime | None = Field(description="null: it has no end yet")


class SigningKeyCreated(SigningKeyShown):
    secret: str = Field(description="`whsec_…`, for receivers. Shown this once.")


class SigningKeysShown(Shown):
    items: list[SigningKeyShown]


@routes.get("")
async def list_signing_keys(caller: Admin, dependencies: ApiDependencies) -> SigningKeysShown:
    keys = await dependencies.signing_keys.keys_of(caller.tenant_id)
    return SigningKeysShown(
        items=[
            SigningKeyShown(id=each.id, created_at=each.created_at, retires_at=each.retires_at)
            for each in keys
        ]
    )


@routes.post("", status_code=201)
async def create_signing_key(
    body: SigningKeyWanted, caller: Admin, dependencies: ApiDependencies
) -> SigningKeyCreated:
    """A new key signs at once; workers take it up within a few seconds."""
    overlap = DEFAULT_OVERLAP if body.overlap is None else parse_duration(body.overlap)
    overlap = timedelta(0) if body.no_overlap else overlap
    done = audit_entry(caller, "signing-key.create", overlap=str(overlap))
    key = await dependencies.signing_keys.rotate(
        caller.tenant_id, dependencies.new_signing_secret(), overlap, done
    )
    return SigningKeyCreated(
        id=key.id,
        created_at=key.created_at,
        retires_at=key.retires_at,
        secret=key.secret.value,
    )
