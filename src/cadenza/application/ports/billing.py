"""Accounts, their keys and their ledger: what is read of them, and a transaction's verbs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from cadenza.application.ports.gateway import Provider
from cadenza.domain.billing import (
    Account,
    Charge,
    LedgerCheck,
    LedgerEntry,
    ModelApi,
    TokenUsage,
    VirtualKey,
)
from cadenza.domain.grant import Grant
from cadenza.domain.graph import GraphCaller
from cadenza.domain.target import Secret


class UsageGroup(StrEnum):
    DAY = "day"  # in UTC
    SCHEDULE = "schedule"
    ENDPOINT = "endpoint"
    GRAPH = "graph"
    JOB = "job"  # sessions of the planner
    MODEL = "model"
    ACCOUNT = "account"  # all of it together


@dataclass(frozen=True, slots=True)
class UsageSearch:
    group_by: UsageGroup = UsageGroup.DAY
    from_at: datetime | None = None
    to_at: datetime | None = None  # not included


@dataclass(frozen=True, slots=True)
class UsageRow:
    group: str | None  # None: calls that belong to none of these
    calls: int
    estimated_calls: int
    usage: TokenUsage
    credits: int


@dataclass(frozen=True, slots=True)
class Means:
    """What a run could make a call with, as it is now."""

    read_at: datetime
    grant: Grant | None
    account: Account | None
    provider: Provider | None


class BillingReads(Protocol):
    """NotFound for an account that is not there, or of another tenant."""

    async def list_accounts(
        self, tenant_id: UUID, name: str | None, after: tuple[str, UUID] | None, limit: int
    ) -> Sequence[Account]:
        """By name."""
        ...

    async def get_account(self, tenant_id: UUID, account_id: UUID) -> Account: ...

    async def list_virtual_keys(self, tenant_id: UUID, account_id: UUID) -> Sequence[VirtualKey]:
        """The oldest first, revoked ones among them."""
        ...

    async def read_ledger(
        self, tenant_id: UUID, account_id: UUID, before: int | None, limit: int
    ) -> Sequence[LedgerEntry]:
        """The newest first, of those before an entry."""
        ...

    async def usage_of_account(
        self, tenant_id: UUID, account_id: UUID, search: UsageSearch
    ) -> Sequence[UsageRow]:
        """By days in their order; else what cost most comes first."""
        ...

    async def check_ledger(self, tenant_id: UUID, account_id: UUID) -> LedgerCheck: ...


class MeansReads(Protocol):
    async def means_of(self, caller: GraphCaller, api: ModelApi) -> Means:
        """SecretUnreadable where the default key does not open."""
        ...


class LedgerRows(Protocol):
    async def insert_account(self, account: Account) -> None:
        """AlreadyThere where the name is taken."""
        ...

    async def lock_account(self, tenant_id: UUID, account_id: UUID) -> Account: ...

    async def find_entry(self, account_id: UUID, reference: str) -> LedgerEntry | None: ...

    async def add_entry(
        self, account: Account, amount: int, reason: str, reference: str
    ) -> LedgerEntry:
        """With the balance, which moves along. The account is locked."""
        ...

    async def add_charge(self, charge: Charge) -> bool:
        """Charge, balance and entry in one statement; False where the reference was there."""
        ...


class VirtualKeyRows(Protocol):
    """The account is locked: one change of its keys at a time."""

    async def virtual_keys_of(self, account: Account) -> Sequence[VirtualKey]: ...

    async def insert_virtual_key(self, account: Account, key: VirtualKey, secret: Secret) -> None:
        """The secret is sealed."""
        ...

    async def save_virtual_key(self, key: VirtualKey) -> None:
        """Whether it is the default, and when it was revoked: then its secret is forgotten."""
        ...


class BillingRows(LedgerRows, VirtualKeyRows, Protocol): ...
