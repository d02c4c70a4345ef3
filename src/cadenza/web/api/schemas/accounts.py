"""Tenants with what they use, users, API keys and signing keys, as they are sent."""

from dataclasses import asdict
from datetime import datetime
from importlib.metadata import version
from typing import Any
from uuid import UUID

from pydantic import AliasPath, Field

from cadenza.application.ports.usage import RunCounts, Usage
from cadenza.domain.access import ApiKey, Caller, Scope
from cadenza.domain.quota import Allowance
from cadenza.domain.spending import Purse
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
    job_ids: list[UUID] | None = Field(
        description="It sees and touches only these jobs; null: what its user may."
    )


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
    key_expires_at: datetime | None = Field(description="null: it has no end.")
    scopes: list[Scope] = Field(description="What the key and your role allow, both.")
    job_ids: list[UUID] | None = Field(
        description="The jobs that you see; null: all of the tenant."
    )
    operable_job_ids: list[UUID] | None = Field(
        description="The jobs that you may change, where you may operate; null: all of the tenant."
    )
    owned_job_ids: list[UUID] = Field(
        description="The single jobs whose people and keys you look after; an owner of the tenant"
        " looks after all."
    )
    server_version: str = Field(examples=["0.1.0"])


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


class PurseResponse(ResponseSchema):
    """Runs above the baseline, of all endpoints of a job together; what is used fades over two
    days."""

    size: float = Field(description="How many detectors may add.")
    used: float = Field(description="Spent, or promised by hints in force.")
    left: float


class JobQuotaResponse(AllowanceResponse):
    day: str = Field(examples=["2026-03-31"])
    extra_runs: PurseResponse


def me_response(caller: Caller, tenant_name: str, key_expires_at: datetime | None) -> MeResponse:
    readable, operable, owned = caller.limits
    return MeResponse(
        tenant_id=caller.tenant_id,
        tenant_name=tenant_name,
        user_id=caller.user_id,
        user_name=caller.user_name,
        key_id=caller.key_id,
        key_expires_at=key_expires_at,
        scopes=list(caller.scopes),
        job_ids=None if readable is None else sorted(readable),
        operable_job_ids=None if operable is None else sorted(operable),
        owned_job_ids=sorted(owned),
        server_version=version("cadenza"),
    )


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


def job_quota_response(day: str, allowance: Allowance, purse: Purse) -> JobQuotaResponse:
    extra_runs = PurseResponse.model_validate(purse)
    return JobQuotaResponse(day=day, extra_runs=extra_runs, **_allowance(allowance))


def _allowance(allowance: Allowance) -> dict[str, Any]:
    return {"left": allowance.left, "cost_left": allowance.cost_left, **asdict(allowance)}


def _counts(counts: RunCounts) -> RunCountsResponse:
    by_status = {status.value: count for status, count in counts.by_status.items()}
    return RunCountsResponse(since=counts.since_at, **by_status)
