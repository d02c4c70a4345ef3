"""The request bodies about accounts, their keys and grants, and what they mean."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from cadenza.application.billing import Adjustment, NewVirtualKey
from cadenza.application.grants import NewGrant
from cadenza.domain.billing import MAX_CREDITS, ModelApi
from cadenza.domain.billing_validation import MAX_KEY, MAX_REASON, REFERENCE
from cadenza.domain.errors import InvalidInput
from cadenza.domain.instants import iso
from cadenza.domain.target import Secret
from cadenza.domain.target_validation import MAX_URL
from cadenza.manifest.durations import parse_duration
from cadenza.manifest.models import Document, Duration, Name
from cadenza.web.api.parsing.query import Instant

Id = Annotated[UUID, Field(strict=False)]
GrantScope = Annotated[str, Field(min_length=1, max_length=300)]


class AccountBody(Document):
    name: Name


class CreditsBody(Document):
    credits: int = Field(
        ge=-MAX_CREDITS,
        le=MAX_CREDITS,
        examples=[5_000_000],
        description="To add; below zero, to take away. A credit is a millionth of a dollar.",
    )
    reason: str = Field(min_length=1, max_length=MAX_REASON, examples=["invoice of March"])
    reference: str = Field(
        pattern=REFERENCE,
        examples=["invoice-2026-03"],
        description="What it is known by: told again, it counts once.",
    )

    def parsed(self) -> Adjustment:
        return Adjustment(self.credits, self.reason, self.reference)


class VirtualKeyBody(Document):
    name: Name
    api: Annotated[ModelApi, Field(strict=False)] = Field(
        description="How the provider is spoken to: openai (and whatever is compatible), anthropic."
    )
    base_url: str = Field(min_length=1, max_length=MAX_URL, examples=["https://api.openai.com/v1"])
    secret_key: str = Field(
        min_length=1,
        max_length=MAX_KEY,
        examples=["sk-not-a-real-key"],
        description="The provider's key: encrypted at rest, and never shown.",
    )
    is_default: bool = Field(
        default=False, description="Calls are made with it; the first of an api is it anyway."
    )

    def parsed(self) -> NewVirtualKey:
        secret = Secret(self.secret_key)
        return NewVirtualKey(self.name, self.api, self.base_url, secret, self.is_default)


class GrantBody(Document):
    account_id: Id = Field(description="Who pays.")
    scopes: list[GrantScope] = Field(
        min_length=1,
        max_length=100,
        examples=[["graph:execute:langgraph:poet"]],
        description="graph:execute:<graph id>, or graph:execute:* for all.",
    )
    expires_at: Instant | None = Field(
        default=None, description="Or `expires_in`; left out, it has no end."
    )
    expires_in: Duration | None = Field(default=None, description="From now.")

    def parsed(self) -> NewGrant:
        if self.expires_at is not None and self.expires_in is not None:
            fix = "give `expires_at` or `expires_in`, not both"
            raise InvalidInput("expires_at", iso(self.expires_at), fix)
        length = None if self.expires_in is None else parse_duration(self.expires_in)
        return NewGrant(self.account_id, tuple(self.scopes), length or self.expires_at)
