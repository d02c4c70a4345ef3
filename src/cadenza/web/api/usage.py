"""What a tenant uses, and what it may use."""

from datetime import datetime

from pydantic import Field

from cadenza.application.ports.usage import RunCounts
from cadenza.web.api.access import ApiDependencies, Reader
from cadenza.web.api.routes import router
from cadenza.web.api.schemas import Shown

routes = router("Tenants", "/tenant")


class RunCountsShown(Shown):
    since: datetime = Field(description="They are counted by five minutes.")
    running: int = Field(description="At this moment.")
    success: int
    failure: int
    timeout: int
    cancelled: int


class UsageShown(Shown):
    jobs: int
    endpoints: int
    last_hour: RunCountsShown
    last_day: RunCountsShown
    tokens_this_month: int


class QuotaShown(Shown):
    month: str = Field(examples=["2026-03"])
    token_limit: int | None = Field(description="null: no limit has been set.")
    used: int
    reserved: int = Field(description="Set aside for sessions that are under way.")
    left: int | None
    cost_limit: float | None = Field(description="In money; null: no limit has been set.")
    cost_used: float
    cost_reserved: float
    cost_left: float | None
    refused_at: datetime | None = Field(
        description="Since when sessions are refused, for what one may use is not left. Runs go on"
        " by their baseline, and the rules brain costs nothing. null: they are held."
    )


@routes.get("/usage")
async def get_usage(caller: Reader, dependencies: ApiDependencies) -> UsageShown:
    """Runs by how they ended, and what there is."""
    usage = await dependencies.reads.usage.usage(caller.tenant_id)
    _, allowance = await dependencies.reads.usage.quota(caller.tenant_id)
    return UsageShown(
        jobs=usage.jobs,
        endpoints=usage.endpoints,
        last_hour=_counts_shown(usage.last_hour),
        last_day=_counts_shown(usage.last_day),
        tokens_this_month=allowance.used,
    )


@routes.get("/quota")
async def get_quota(caller: Reader, dependencies: ApiDependencies) -> QuotaShown:
    """Tokens and money for analysis this month, and since when there is not enough."""
    month, allowance = await dependencies.reads.usage.quota(caller.tenant_id)
    return QuotaShown(
        month=month,
        token_limit=allowance.limit,
        used=allowance.used,
        reserved=allowance.reserved,
        left=allowance.left,
        cost_limit=allowance.cost_limit,
        cost_used=allowance.cost_used,
        cost_reserved=allowance.cost_reserved,
        cost_left=allowance.cost_left,
        refused_at=allowance.refused_at,
    )


def _counts_shown(counts: RunCounts) -> RunCountsShown:
    by_status = {status.value: count for status, count in counts.by_status.items()}
    return RunCountsShown(since=counts.since_at, **by_status)
