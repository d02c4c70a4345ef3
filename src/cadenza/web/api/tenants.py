"""Tenants and users: made by the installation's admin; each tenant sees itself."""

from dataclasses import replace
from uuid import UUID

from fastapi import Request, Response

from cadenza.domain.access import Tenant, User
from cadenza.domain.audit import AuditEntry
from cadenza.domain.definition import check_name
from cadenza.domain.errors import InvalidInput, NotFound
from cadenza.domain.rule import Modes
from cadenza.web.api.access import (
    INSTALLATION_ADMIN,
    Admin,
    ApiDependencies,
    InstallationDependencies,
    Reader,
    audit_entry,
)
from cadenza.web.api.keys import new_key
from cadenza.web.api.parsing.bodies import FirstKeyBody, TenantBody, TenantPatchBody, UserBody
from cadenza.web.api.parsing.cursors import read_cursor, write_cursor
from cadenza.web.api.parsing.headers import IdempotencyKey, idempotency_record, mark_replayed
from cadenza.web.api.parsing.query import Confirm, Cursor, Limit
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.accounts import (
    CreatedKeyResponse,
    DeletedResponse,
    TenantResponse,
    UserResponse,
    UsersResponse,
    created_key_response,
    tenant_response,
    user_response,
    users_response,
)
from cadenza.web.api.schemas.pages import Page, page_response

routes = router("Tenants")


# --- The installation admin's -----------------------------------------------------------------


@routes.post("/tenants", status_code=201)
async def create_tenant(
    body: TenantBody,
    request: Request,
    response: Response,
    dependencies: InstallationDependencies,
    key: IdempotencyKey,
) -> TenantResponse:
    check_name("name", body.name)
    tenant = Tenant(dependencies.new_id(), body.name, dependencies.clock.now(), body.retention_days)
    entry = AuditEntry(INSTALLATION_ADMIN, "tenant.create", {"name": body.name})
    record = idempotency_record(request, key, body)
    tenant_id = await dependencies.tenants.add_tenant(tenant, entry, record)
    mark_replayed(response, tenant_id != tenant.id)
    return tenant_response(await dependencies.tenants.get_tenant(tenant_id))


@routes.get("/tenants")
async def list_tenants(
    dependencies: InstallationDependencies, limit: Limit = 50, cursor: Cursor = None
) -> Page[TenantResponse]:
    after = read_cursor(cursor)
    tenants = await dependencies.tenants.list_tenants(after[1] if after else None, limit + 1)
    return page_response(tenants, limit, tenant_response, lambda row: write_cursor("", row.id))


@routes.get("/tenants/{tenant_id}")
async def get_tenant(tenant_id: UUID, dependencies: InstallationDependencies) -> TenantResponse:
    return tenant_response(await dependencies.tenants.get_tenant(tenant_id))


@routes.delete("/tenants/{tenant_id}")
async def delete_tenant(
    tenant_id: UUID,
    dependencies: InstallationDependencies,
    confirm: Confirm,
) -> DeletedResponse:
    """With its users, keys, jobs, endpoints and all that was recorded. It does not come back."""
    tenant = await dependencies.tenants.get_tenant(tenant_id)
    _check_confirmed(tenant, confirm)
    await dependencies.tenants.delete_tenant(tenant_id)
    return DeletedResponse(id=tenant_id)


@routes.post("/tenants/{tenant_id}/users", status_code=201)
async def create_user(
    tenant_id: UUID,
    body: UserBody,
    request: Request,
    response: Response,
    dependencies: InstallationDependencies,
    key: IdempotencyKey,
) -> UserResponse:
    check_name("name", body.name)
    user = User(dependencies.new_id(), tenant_id, body.name, dependencies.clock.now())
    entry = AuditEntry(INSTALLATION_ADMIN, "user.create", {"name": body.name})
    record = idempotency_record(request, key, body)
    user_id = await dependencies.tenants.add_user(user, entry, record)
    if user_id != user.id:
        mark_replayed(response, True)
        users = await dependencies.tenants.list_users(tenant_id)
        user = next((row for row in users if row.id == user_id), None)
    if user is None:
        raise NotFound(f"no user {user_id}; it was created, and is gone")
    return user_response(user)


@routes.get("/tenants/{tenant_id}/users")
async def list_users_of_tenant(
    tenant_id: UUID, dependencies: InstallationDependencies
) -> UsersResponse:
    await dependencies.tenants.get_tenant(tenant_id)
    return users_response(await dependencies.tenants.list_users(tenant_id))


@routes.delete("/tenants/{tenant_id}/users/{user_id}")
async def delete_user(
    tenant_id: UUID, user_id: UUID, dependencies: InstallationDependencies
) -> DeletedResponse:
    """With their keys."""
    await dependencies.tenants.delete_user(
        tenant_id, user_id, AuditEntry(INSTALLATION_ADMIN, "user.delete")
    )
    return DeletedResponse(id=user_id)


@routes.post("/tenants/{tenant_id}/users/{user_id}/keys", status_code=201)
async def create_key_for_user(
    tenant_id: UUID, user_id: UUID, body: FirstKeyBody, dependencies: InstallationDependencies
) -> CreatedKeyResponse:
    """The key itself is in this answer, and never again."""
    key, token = new_key(dependencies, tenant_id, user_id, body.name, body.scopes, None)
    await dependencies.keys.add_key(
        key, AuditEntry(INSTALLATION_ADMIN, "key.create", {"name": body.name})
    )
    return created_key_response(key, token)


# --- The tenant's own -------------------------------------------------------------------------


@routes.get("/tenant")
async def get_own_tenant(caller: Reader, dependencies: ApiDependencies) -> TenantResponse:
    return tenant_response(await dependencies.tenants.get_tenant(caller.tenant_id))


@routes.patch("/tenant")
async def change_own_tenant(
    body: TenantPatchBody, caller: Admin, dependencies: ApiDependencies
) -> TenantResponse:
    tenant = await dependencies.tenants.get_tenant(caller.tenant_id)
    modes = Modes(body.rules_mode or tenant.modes.rules, body.llm_mode or tenant.modes.llm)
    fields = body.model_dump(exclude_unset=True)
    days = fields.get("retention_days", tenant.retention_days)
    changed = replace(tenant, retention_days=days, modes=modes)
    entry = audit_entry(caller, "tenant.change", **fields)
    await dependencies.tenants.change_tenant(changed, entry)
    return tenant_response(changed)


@routes.get("/users")
async def list_users(caller: Reader, dependencies: ApiDependencies) -> UsersResponse:
    return users_response(await dependencies.tenants.list_users(caller.tenant_id))


def _check_confirmed(tenant: Tenant, confirm: str) -> None:
    if confirm != tenant.name:
        raise InvalidInput(
            "confirm", confirm, f"the name of the tenant, {tenant.name!r}, to be sure"
        )
