"""What a tenant uses, and what it may use."""

from cadenza.web.api.access import ApiDependencies, Reader
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.usage import (
    QuotaResponse,
    UsageResponse,
    quota_response,
    usage_response,
)

routes = router("Tenants", "/tenant")


@routes.get("/usage")
async def get_usage(caller: Reader, dependencies: ApiDependencies) -> UsageResponse:
    """Runs by how they ended, and what there is."""
    usage = await dependencies.reads.usage.usage(caller.tenant_id)
    _, allowance = await dependencies.reads.usage.quota(caller.tenant_id)
    return usage_response(usage, allowance)


@routes.get("/quota")
async def get_quota(caller: Reader, dependencies: ApiDependencies) -> QuotaResponse:
    """Tokens and money for analysis this month, and since when there is not enough."""
    month, allowance = await dependencies.reads.usage.quota(caller.tenant_id)
    return quota_response(month, allowance)
