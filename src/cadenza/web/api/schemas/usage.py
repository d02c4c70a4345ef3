"""What a tenant uses and may use, as it is sent."""

from datetime import datetime

from pydantic import Field

from cadenza.application.ports.usage import RunCounts, Usage
from cadenza.domain.quota import Allowance
from cadenza.web.api.schemas.base import ResponseSchema


class RunCountsResponse(ResponseSchema):
    since: datetime = Field(description="They are counted by five minutes.")
    running: int = Field(description="At this moment.")
    success: int
    failure: int
    timeout: int
    cancelled: int


class UsageResponse(ResponseSchema):
    jobs: int
    endpoints: int
    last_hour: RunCountsResponse
    last_day: RunCountsResponse
    tokens_this_month: int


class QuotaResponse(ResponseSchema):
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


def usage_response(usage: Usage, allowance: Allowance) -> UsageResponse:
    return UsageResponse(
        jobs=usage.jobs,
        endpoints=usage.endpoints,
        last_hour=_counts(usage.last_hour),
        last_day=_counts(usage.last_day),
        tokens_this_month=allowance.used,
    )


def quota_response(month: str, allowance: Allowance) -> QuotaResponse:
    return QuotaResponse(
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


def _counts(counts: RunCounts) -> RunCountsResponse:
    by_status = {status.value: count for status, count in counts.by_status.items()}
    return RunCountsResponse(since=counts.since_at, **by_status)
