"""Tenants and users: made by the operator; each tenant sees itself."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Query, Request, Response
from pydantic import Field

from cadenza.domain.access import Scope, Tenant, User
from cadenza.domain.audit import AuditEntry
from cadenza.domain.definition import check_name
from cadenza.domain.errors import InvalidInput, NotFound
from cadenza.domain.rule import Mode, Modes
from cadenza.manifest.models import Document, Name
from cadenza.web.api.access import (
    OPERATOR_DID,
    Admin,
    AdminDependencies,
    ApiDependencies,
    Reader,
    audit_entry,
)
from cadenza.web.api.conditions import IdempotencyKey, mark_replayed, once
from cadenza.web.api.keys import KeyCreated, Scopes, key_created, new_key
from cadenza.web.api.paging import Cursor, Limit, Page, cut, read_cursor, write_cursor
from cadenza.web.api.routes import router
from cadenza.web.api.schemas import Shown

routes = router("Tenants")
RetentionDays = Annotated[int, Field(ge=1, le=3650)]

ModeWord = Annotated[Mode, Field(strict=False)]  # a word in JSON


class TenantWanted(Document):
    name: Name
    retention_days: RetentionDays | None = Field(
        default=None, description="Shorter than the installation's; left out: the same."
    )


class TenantChange(Document):
    """What is left out stays as it is."""

    retention_days: RetentionDays | None = None
    rules_mode: ModeWord | None = Field(
        default=None, description="What the rules brain may do: off, advise or act."
    )
    llm_mode: ModeWord | None = Field(
        default=None, description="The same of a model; a job's own mode comes before both."
    )


class UserWanted(Document):
    name: Name


class FirstKeyWanted(Document):
    name: Name = "first"
    scopes: Scopes = Field(default_factory=lambda: [Scope.ADMIN])


class TenantShown(Shown):
    id: UUID
    name: str
    created_at: datetime
    retention_days: int | None
    rules_mode: str
    llm_mode: str


class UserShown(Shown):
    id: UUID
    tenant_id: UUID
    name: str
    created_at: datetime


class UsersShown(Shown):
    items: list[UserShown]


class Gone(Shown):
    id: UUID


# --- The operator's ---------------------------------------------------------------------------


@routes.post("/tenants", status_code=201)
async def create_tenant(
    body: TenantWanted,
    request: Request,
    response: Response,
    dependencies: AdminDependencies,
    told: IdempotencyKey,
) -> TenantShown:
    check_name("name", body.name)
    tenant = Tenant(dependencies.new_id(), body.name, dependencies.clock.now(), body.retention_days)
    done = AuditEntry(OPERATOR_DID, "tenant.create", {"name": body.name})
    tenant_id = await dependencies.tenants.add_tenant(tenant, done, once(request, told, body))
    mark_replayed(response, tenant_id != tenant.id)
    return _tenant_shown(await dependencies.tenants.get_tenant(tenant_id))


@routes.get("/tenants")
async def list_tenants(
    dependencies: AdminDependencies, limit: Limit = 50, cursor: Cursor = None
) -> Page[TenantShown]:
    after = read_cursor(cursor)
    listed = await dependencies.tenants.list_tenants(after[1] if after else None, limit + 1)
    found, more = cut(listed, limit)
    following = write_cursor("", found[-1].id) if more else None
    return Page[TenantShown](items=[_tenant_shown(each) for each in found], next=following)


@routes.get("/tenants/{tenant_id}")
async def get_tenant(tenant_id: UUID, dependencies: AdminDependencies) -> TenantShown:
    return _tenant_shown(await dependencies.tenants.get_tenant(tenant_id))


@routes.delete("/tenants/{tenant_id}")
async def delete_tenant(
    tenant_id: UUID,
    dependencies: AdminDependencies,
    confirm: Annotated[str, Query(max_length=100, description="Its name, to be sure.")],
) -> Gone:
    """With its users, keys, jobs, endpoints and all that was recorded. It does not come back."""
    tenant = await dependencies.tenants.get_tenant(tenant_id)
    _check_confirmed(tenant, confirm)
    await dependencies.tenants.delete_tenant(tenant_id)
    return Gone(id=tenant_id)


@routes.post("/tenants/{tenant_id}/users", status_code=201)
async def create_user(
    tenant_id: UUID,
    body: UserWanted,
    request: Request,
    response: Response,
    dependencies: AdminDependencies,
    told: IdempotencyKey,
) -> UserShown:
    check_name("name", body.name)
    user = User(dependencies.new_id(), tenant_id, body.name, dependencies.clock.now())
    done = AuditEntry(OPERATOR_DID, "user.create", {"name": body.name})
    user_id = await dependencies.tenants.add_user(user, done, once(request, told, body))
    if user_id != user.id:
        mark_replayed(response, True)
        users = await dependencies.tenants.list_users(tenant_id)
        user = next((each for each in users if each.id == user_id), None)
    if user is None:
        raise NotFound(f"no user {user_id}; it was created, and is gone")
    return _user_shown(user)


@routes.get("/tenants/{tenant_id}/users")
async def list_users_of_tenant(tenant_id: UUID, dependencies: AdminDependencies) -> UsersShown:
    await dependencies.tenants.get_tenant(tenant_id)
    return _users_shown(await dependencies.tenants.list_users(tenant_id))


@routes.delete("/tenants/{tenant_id}/users/{user_id}")
async def delete_user(tenant_id: UUID, user_id: UUID, dependencies: AdminDependencies) -> Gone:
    """With their keys."""
    await dependencies.tenants.delete_user(
        tenant_id, user_id, AuditEntry(OPERATOR_DID, "user.delete")
    )
    return Gone(id=user_id)


@routes.post("/tenants/{tenant_id}/users/{user_id}/keys", status_code=201)
async def create_key_for_user(
    tenant_id: UUID, user_id: UUID, body: FirstKeyWanted, dependencies: AdminDependencies
) -> KeyCreated:
    """The key itself is in this answer, and never again."""
    key, token = new_key(dependencies, tenant_id, user_id, body.name, body.scopes, None)
    await dependencies.keys.add_key(
        key, AuditEntry(OPERATOR_DID, "key.create", {"name": body.name})
    )
    return key_created(key, token)


# --- The tenant's own -------------------------------------------------------------------------


@routes.get("/tenant")
async def get_own_tenant(caller: Reader, dependencies: ApiDependencies) -> TenantShown:
    return _tenant_shown(await dependencies.tenants.get_tenant(caller.tenant_id))


@routes.patch("/tenant")
async def change_own_tenant(
    body: TenantChange, caller: Admin, dependencies: ApiDependencies
) -> TenantShown:
    tenant = await dependencies.tenants.get_tenant(caller.tenant_id)
    modes = Modes(body.rules_mode or tenant.modes.rules, body.llm_mode or tenant.modes.llm)
    given = body.model_dump(exclude_unset=True)
    days = given.get("retention_days", tenant.retention_days)
    changed = replace(tenant, retention_days=days, modes=modes)
    await dependencies.tenants.change_tenant(changed, audit_entry(caller, "tenant.change", **given))
    return _tenant_shown(changed)


@routes.get("/users")
async def list_users(caller: Reader, dependencies: ApiDependencies) -> UsersShown:
    return _users_shown(await dependencies.tenants.list_users(caller.tenant_id))


def _check_confirmed(tenant: Tenant, confirm: str) -> None:
    if confirm != tenant.name:
        raise InvalidInput(
            "confirm", confirm, f"the name of the tenant, {tenant.name!r}, to be sure"
        )


def _tenant_shown(tenant: Tenant) -> TenantShown:
    return TenantShown(
        id=tenant.id,
        name=tenant.name,
        created_at=tenant.created_at,
        retention_days=tenant.retention_days,
        rules_mode=tenant.modes.rules,
        llm_mode=tenant.modes.llm,
    )


def _users_shown(users: Sequence[User]) -> UsersShown:
    return UsersShown(items=[_user_shown(each) for each in users])


def _user_shown(user: User) -> UserShown:
    return UserShown(
        id=user.id, tenant_id=user.tenant_id, name=user.name, created_at=user.created_at
    )
