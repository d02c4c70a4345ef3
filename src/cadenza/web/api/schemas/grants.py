"""Grants, as they are sent."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from cadenza.application.ports.grants import LoggedUse
from cadenza.domain.grant import Grant, GrantRefusal
from cadenza.web.api.schemas.base import ResponseSchema


class GrantState(StrEnum):
    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


class GrantResponse(ResponseSchema):
    id: UUID
    user_id: UUID = Field(description="On whose behalf graphs run.")
    account_id: UUID = Field(description="Who pays.")
    scopes: list[str]
    state: GrantState
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    schedule_id: UUID | None = Field(
        description="It was made for this one, and is revoked with it."
    )
    endpoint_id: UUID | None = Field(description="Likewise.")


class GrantUseResponse(ResponseSchema):
    run_id: UUID
    graph_id: str
    at: datetime
    refusal: GrantRefusal | None = Field(description="null: it was good.")


class GrantDetailResponse(GrantResponse):
    uses: list[GrantUseResponse] = Field(description="The last ones, newest first.")


def grant_response(grant: Grant, now: datetime) -> GrantResponse:
    return GrantResponse(
        id=grant.id,
        user_id=grant.user_id,
        account_id=grant.account_id,
        scopes=list(grant.scopes),
        state=_state(grant, now),
        created_at=grant.created_at,
        expires_at=grant.expires_at,
        revoked_at=grant.revoked_at,
        schedule_id=grant.schedule_id,
        endpoint_id=grant.endpoint_id,
    )


def grant_detail_response(
    grant: Grant, uses: Sequence[LoggedUse], now: datetime
) -> GrantDetailResponse:
    return GrantDetailResponse(
        **dict(grant_response(grant, now)), uses=[_use_response(logged) for logged in uses]
    )


def _use_response(logged: LoggedUse) -> GrantUseResponse:
    use = logged.use
    return GrantUseResponse(
        run_id=use.run_id, graph_id=use.graph_id, at=logged.at, refusal=use.refusal
    )


def _state(grant: Grant, now: datetime) -> GrantState:
    if grant.revoked_at is not None:
        return GrantState.REVOKED
    if grant.expires_at is not None and grant.expires_at <= now:
        return GrantState.EXPIRED
    return GrantState.ACTIVE
