"""API keys of the caller's tenant: created (shown once), listed, rotated, revoked."""

from datetime import datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import Request
from pydantic import Field

from cadenza.domain.access import ApiKey, Scope, hash_of, token_of
from cadenza.domain.definition import check_name
from cadenza.domain.errors import InvalidInput, NotFound, Refused
from cadenza.manifest.durations import parse_duration
from cadenza.manifest.models import Document, Duration, Name
from cadenza.web.api.access import Admin, ApiDependencies, Reader, audit_entry
from cadenza.web.api.conditions import IdempotencyKey, once
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.instants import Instant
from cadenza.web.api.routes import router
from cadenza.web.api.schemas import Shown

routes = router("Keys", "/keys")
MAX_OVERLAP = timedelta(days=30)
Scopes = Annotated[
    list[Annotated[Scope, Field(strict=False)]], Field(min_length=1, max_length=len(Scope))
]


class KeyWanted(Document):
    name: Name
    scopes: Scopes = Field(description="read, operate, admin; each may do what those before may.")
    user_id: Annotated[UUID, Field(strict=False)] | None = Field(
        default=None, description="Whom it acts for; yourself where it is left out."
    )
    expires_at: Instant | None = None


class Rotation(Document):
    overlap: Duration | None = Field(
        default=None, description="How long the old one still works; not at all where left out."
    )


class KeyShown(Shown):
    id: UUID
    name: str
    user_id: UUID
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="To the minute.")


class KeyCreated(KeyShown):
    key: str = Field(description="Shown this once: keep it.")


class KeysShown(Shown):
    items: list[KeyShown]


def new_key(
    dependencies: Dependencies,
    tenant_id: UUID,
    user_id: UUID,
    wanted_name: str,
    scopes: list[Scope],
    expires_at: datetime | None,
) -> tuple[ApiKey, str]:
    check_name("name", wanted_name)
    now = dependencies.clock.now()
    if expires_at is not None and expires_at <= now:
        raise InvalidInput("expires_at", expires_at.isoformat(), "an instant to come")
    key_id = dependencies.new_id()
    token = token_of(key_id, dependencies.new_secret())
    in_order = tuple(scope for scope in Scope if scope in scopes)
    return (
        ApiKey(key_id, tenant_id, user_id, wanted_name, in_order, hash_of(token), now, expires_at),
        token,
    )


def key_shown(key: ApiKey) -> KeyShown:
    return KeyShown(**_fields(key))


def key_created(key: ApiKey, token: str) -> KeyCreated:
    return KeyCreated(**_fields(key), key=token)


def _fields(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "user_id": key.user_id,
        "scopes": list(key.scopes),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
    }


@routes.post("", status_code=201)
async def create_key(
    body: KeyWanted,
    request: Request,
    caller: Admin,
    dependencies: ApiDependencies,
    told: IdempotencyKey,
) -> KeyCreated:
    """The key itself is in this answer, and never again."""
    user_id = body.user_id or caller.user_id
    key, token = new_key(
        dependencies, caller.tenant_id, user_id, body.name, body.scopes, body.expires_at
    )
    done = audit_entry(
        caller, "key.create", name=body.name, scopes=list(key.scopes), user_id=str(user_id)
    )
    created_id = await dependencies.keys.add_key(key, done, once(request, told, body))
    if created_id != key.id:
        raise Refused(f"it was created as {created_id}, and shown then; rotate it for a new one")
    return key_created(key, token)


@routes.get("")
async def list_keys(caller: Admin, dependencies: ApiDependencies) -> KeysShown:
    keys = await dependencies.keys.list_keys(caller.tenant_id)
    return KeysShown(items=[key_shown(each) for each in keys])


@routes.post("/{key_id}/rotate", status_code=201)
async def rotate_key(
    key_id: UUID, body: Rotation, caller: Admin, dependencies: ApiDependencies
) -> KeyCreated:
    """A new key in the place of another, with the same user, name and scopes."""
    overlap = parse_duration(body.overlap) if body.overlap is not None else timedelta(0)
    if overlap > MAX_OVERLAP:
        raise InvalidInput("overlap", body.overlap, "at most 30 days")
    found = await dependencies.keys.find_key(key_id)
    if found is None or found[0].tenant_id != caller.tenant_id:
        raise NotFound(f"no key {key_id}")
    old, _, now = found
    new, token = new_key(
        dependencies, caller.tenant_id, old.user_id, old.name, list(old.scopes), None
    )
    await dependencies.keys.replace_key(
        key_id, new, now + overlap, audit_entry(caller, "key.rotate")
    )
    return key_created(new, token)


@routes.delete("/{key_id}")
async def revoke_key(key_id: UUID, caller: Admin, dependencies: ApiDependencies) -> KeyShown:
    """It opens nothing from now on."""
    revoked = await dependencies.keys.revoke_key(
        caller.tenant_id, key_id, audit_entry(caller, "key.revoke")
    )
    return key_shown(revoked)


class MeShown(Shown):
    tenant_id: UUID
    tenant_name: str
    user_id: UUID
    user_name: str
    key_id: UUID
    scopes: list[Scope]


me_routes = router("Keys")


@me_routes.get("/me")
async def me(caller: Reader, dependencies: ApiDependencies) -> MeShown:
    """Who you are, by your key."""
    tenant = await dependencies.tenants.get_tenant(caller.tenant_id)
    return MeShown(
        tenant_id=tenant.id,
        tenant_name=tenant.name,
        user_id=caller.user_id,
        user_name=caller.user_name,
        key_id=caller.key_id,
        scopes=list(caller.scopes),
    )
