"""Tenants and users: made by the installation's admin; each tenant sees itself and its usage."""

from uuid import UUID

from cadenza.application.accounts import NewKey, TenantChange
from cadenza.web.api.access import Admin, ApiDependencies, InstallationDependencies, Reader
from cadenza.web.api.parsing.bodies import FirstKeyBody, TenantBody, TenantPatchBody, UserBody
from cadenza.web.api.parsing.cursors import read_cursor, write_cursor
from cadenza.web.api.parsing.headers import Idempotency
from cadenza.web.api.parsing.query import Confirm, Cursor, Limit
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.accounts import (
    CreatedKeyResponse,
    DeletedResponse,
    JobQuotaResponse,
    QuotaResponse,
    TenantResponse,
    UsageResponse,
    UserResponse,
    UsersResponse,
    created_key_response,
    job_quota_response,
    quota_response,
    usage_response,
)
from cadenza.web.api.schemas.pages import Page, page_response

routes = router("Tenants")


# --- The installation admin's -----------------------------------------------------------------


@routes.post("/tenants", status_code=201)
async def create_tenant(
    body: TenantBody,
    dependencies: InstallationDependencies,
    idempotency: Idempotency,
) -> TenantResponse:
    tenant_id, replayed = await dependencies.tenants.create(
        body.name, body.retention_days, idempotency.record(body)
    )
    idempotency.mark(replayed)
    return TenantResponse.model_validate(await dependencies.reads.tenants.get_tenant(tenant_id))


@routes.get("/tenants")
async def list_tenants(
    dependencies: InstallationDependencies, limit: Limit = 50, cursor: Cursor = None
) -> Page[TenantResponse]:
    after = read_cursor(cursor)
    tenants = await dependencies.reads.tenants.list_tenants(after[1] if after else None, limit + 1)
    return page_response(
        tenants, limit, TenantResponse.model_validate, lambda row: write_cursor("", row.id)
    )


@routes.get("/tenants/{tenant_id}")
async def get_tenant(tenant_id: UUID, dependencies: InstallationDependencies) -> TenantResponse:
    return TenantResponse.model_validate(await dependencies.reads.tenants.get_tenant(tenant_id))


@routes.delete("/tenants/{tenant_id}")
async def delete_tenant(
    tenant_id: UUID,
    dependencies: InstallationDependencies,
    confirm: Confirm,
) -> DeletedResponse:
    """With its users, keys, jobs, endpoints and all that was recorded. It does not come back."""
    await dependencies.tenants.delete(tenant_id, confirm)
    return DeletedResponse(id=tenant_id)


@routes.post("/tenants/{tenant_id}/users", status_code=201)
async def create_user(
    tenant_id: UUID,
    body: UserBody,
    dependencies: InstallationDependencies,
    idempotency: Idempotency,
) -> UserResponse:
    record = idempotency.record(body)
    user, replayed = await dependencies.tenants.create_user(tenant_id, body.name, record)
    idempotency.mark(replayed)
    return UserResponse.model_validate(user)


@routes.get("/tenants/{tenant_id}/users")
async def list_users_of_tenant(
    tenant_id: UUID, dependencies: InstallationDependencies
) -> UsersResponse:
    await dependencies.reads.tenants.get_tenant(tenant_id)
    users = await dependencies.reads.tenants.list_users(tenant_id)
    return UsersResponse.model_validate({"items": users})


@routes.delete("/tenants/{tenant_id}/users/{user_id}")
async def delete_user(
    tenant_id: UUID, user_id: UUID, dependencies: InstallationDependencies
) -> DeletedResponse:
    """With their keys."""
    await dependencies.tenants.delete_user(tenant_id, user_id)
    return DeletedResponse(id=user_id)


@routes.post("/tenants/{tenant_id}/users/{user_id}/keys", status_code=201)
async def create_key_for_user(
    tenant_id: UUID, user_id: UUID, body: FirstKeyBody, dependencies: InstallationDependencies
) -> CreatedKeyResponse:
    """The key itself is in this answer, and never again."""
    wanted = NewKey(body.name, body.scopes, user_id)
    return created_key_response(*await dependencies.keys.create_for(tenant_id, wanted))


# --- The tenant's own -------------------------------------------------------------------------


@routes.get("/tenant")
async def get_own_tenant(caller: Reader, dependencies: ApiDependencies) -> TenantResponse:
    return TenantResponse.model_validate(
        await dependencies.reads.tenants.get_tenant(caller.tenant_id)
    )


@routes.patch("/tenant")
async def change_own_tenant(
    body: TenantPatchBody, caller: Admin, dependencies: ApiDependencies
) -> TenantResponse:
    fields = body.model_dump(exclude_unset=True)
    change = TenantChange(fields, body.rules_mode, body.llm_mode, body.detectors_mode)
    return TenantResponse.model_validate(await dependencies.tenants.change(caller, change))


@routes.get("/users")
async def list_users(caller: Reader, dependencies: ApiDependencies) -> UsersResponse:
    users = await dependencies.reads.tenants.list_users(caller.tenant_id)
    return UsersResponse.model_validate({"items": users})


@routes.get("/tenant/usage")
async def get_usage(caller: Reader, dependencies: ApiDependencies) -> UsageResponse:
    """Runs by how they ended, and what there is."""
    usage = await dependencies.reads.usage.usage(caller.tenant_id)
    _, allowance = await dependencies.quotas.of_tenant(caller.tenant_id)
    return usage_response(usage, allowance)


@routes.get("/jobs/{job_id}/quota")
async def get_quota_of_job(
    job_id: UUID, caller: Reader, dependencies: ApiDependencies
) -> JobQuotaResponse:
    """Tokens and money for sessions about this job today (UTC), and the runs that detectors may
    add to its baseline."""
    day, allowance = await dependencies.quotas.of_job(caller.tenant_id, job_id)
    stored = await dependencies.reads.jobs.get_job(caller.tenant_id, job_id)
    of_jobs = dependencies.purses.of_jobs
    purses = await of_jobs(caller.tenant_id, [stored.job], stored.read_at)
    return job_quota_response(day, allowance, purses[job_id])


@routes.get("/tenant/quota")
async def get_quota(caller: Reader, dependencies: ApiDependencies) -> QuotaResponse:
    """Tokens and money for analysis this month, and since when there is not enough."""
    return quota_response(*await dependencies.quotas.of_tenant(caller.tenant_id))
