"""Accounts that pay for models, as they are sent. Money is in credits, millionths of a dollar."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from pydantic import Field

from cadenza.application.ports.billing import UsageGroup, UsageRow
from cadenza.domain.billing import LedgerCheck, ModelApi, VirtualKey
from cadenza.web.api.schemas.base import ResponseSchema


class AccountResponse(ResponseSchema):
    id: UUID
    name: str
    balance: int = Field(description="In credits; below zero where more was used than paid.")
    created_at: datetime


class LedgerEntryResponse(ResponseSchema):
    id: int
    at: datetime
    credits: int = Field(description="Below zero: spent.")
    balance: int = Field(description="After it.")
    reason: str
    reference: str


class LedgerCheckResponse(ResponseSchema):
    account_id: UUID
    account_name: str
    is_right: bool
    balance: int
    entries: int
    total: int = Field(description="Of all entries.")
    problems: list[str]


class VirtualKeyResponse(ResponseSchema):
    id: UUID
    account_id: UUID
    name: str
    api: ModelApi
    base_url: str
    hint: str = Field(description="The key's last characters.")
    is_default: bool
    created_at: datetime
    revoked_at: datetime | None


class VirtualKeysResponse(ResponseSchema):
    items: list[VirtualKeyResponse]


class UsageRowResponse(ResponseSchema):
    group: str | None = Field(description="null: calls of no schedule, endpoint or graph.")
    calls: int
    estimated_calls: int = Field(description="Whose stream was cut before its usage was told.")
    input_tokens: int = Field(description="Cached ones among them.")
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    credits: int


class AccountUsageResponse(ResponseSchema):
    group_by: UsageGroup
    items: list[UsageRowResponse]


def ledger_check_response(check: LedgerCheck) -> LedgerCheckResponse:
    return LedgerCheckResponse(
        account_id=check.account_id,
        account_name=check.account_name,
        is_right=not check.problems,
        balance=check.balance,
        entries=check.entries,
        total=check.total,
        problems=list(check.problems),
    )


def virtual_keys_response(keys: Sequence[VirtualKey]) -> VirtualKeysResponse:
    return VirtualKeysResponse(items=[VirtualKeyResponse.model_validate(key) for key in keys])


def usage_response(group_by: UsageGroup, rows: Sequence[UsageRow]) -> AccountUsageResponse:
    return AccountUsageResponse(group_by=group_by, items=[_usage_row(row) for row in rows])


def _usage_row(row: UsageRow) -> UsageRowResponse:
    return UsageRowResponse(
        group=row.group,
        calls=row.calls,
        estimated_calls=row.estimated_calls,
        input_tokens=row.usage.input_tokens,
        output_tokens=row.usage.output_tokens,
        cache_read_tokens=row.usage.cache_read_tokens,
        cache_write_tokens=row.usage.cache_write_tokens,
        credits=row.credits,
    )
