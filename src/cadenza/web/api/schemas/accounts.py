"""Tenants with what they use, users, API keys and signing keys, as they are sent."""

from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import AliasPath, Field

from cadenza.application.ports.usage import RunCounts, Usage
from cadenza.domain.access import ApiKey, Scope
from cadenza.domain.quota import Allowance
from cadenza.web.api.schemas.base import ResponseSchema


class TenantResponse(ResponseSchema):
    id: UUID
    name: str
    created_at: datetime
    retention_days: int | None
    rules_mode: str = Field(validation_alias=AliasPath("modes", "rules"))
    detectors_mode: str = Field(validation_alias=AliasPath("modes", "detectors"))
    llm_mode: str = Field(validation_alias=AliasPath("modes", "llm"))
    planner_account_id: UUID | None


class UserResponse(ResponseSchema):
    id: UUID
    tenant_id: UUID
    name: str
    created_at: datetime


class UsersResponse(ResponseSchema):
    items: list[UserResponse]


class DeletedResponse(ResponseSchema):
    id: UUID


class KeyResponse(ResponseSchema):
    id: UUID
    name: str
    user_id: UUID
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="To the minute.")


class CreatedKeyResponse(KeyResponse):
    key: str = Field(description="Shown this once: keep it.")


class KeysResponse(ResponseSchema):
    items: list[KeyResponse]


class MeResponse(ResponseSchema):
    tenant_id: UUID
    tenant_name: str
    user_id: UUID
    user_name: str
    key_id: UUID
    scopes: list[Scope]


class SigningKeyResponse(ResponseSchema):
    id: UUID
    created_at: datetime
    retires_at: datetime | None = Field(description="null: it has no end yet")


class CreatedSigningKeyResponse(SigningKeyResponse):
    secret: str = Field(
        validation_alias=AliasPath("secret", "value"),
        description="`whsec_…`, for receivers. Shown this once.",
    )


class SigningKeysResponse(ResponseSchema):
    items: list[SigningKeyResponse]


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


class AllowanceResponse(ResponseSchema):
    token_limit: int | None = Field(
        validation_alias="limit", description="null: no limit has been set."
    )
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


class QuotaResponse(AllowanceResponse):
    month: str = Field(examples=["2026-03"])


class JobQuotaResponse(AllowanceResponse):
    day: str = Field(examples=["2026-03-31"])


def created_key_response(key: ApiKey, token: str) -> CreatedKeyResponse:
    return CreatedKeyResponse(**dict(KeyResponse.model_validate(key)), key=token)


def usage_response(usage: Usage, allowance: Allowance) -> UsageResponse:
    return UsageResponse(
        jobs=usage.jobs,
        endpoints=usage.endpoints,
        last_hour=_counts(usage.last_hour),
        last_day=_counts(usage.last_day),
        tokens_this_month=allowance.used,
    )


def quota_response(month: str, allowance: Allowance) -> QuotaResponse:
    return QuotaResponse(month=month, **_allowance(allowance))


def job_quota_response(day: str, allowance: Allowance) -> JobQuotaResponse:
    return JobQuotaResponse(day=day, **_allowance(allowance))


def _allowance(allowance: Allowance) -> dict[str, Any]:
    return {"left": allowance.left, "cost_left": allowance.cost_left, **asdict(allowance)}


def _counts(counts: RunCounts) -> RunCountsResponse:
    by_status = {status.value: count for status, count in counts.by_status.items()}
    return RunCountsResponse(since=counts.since_at, **by_status)
