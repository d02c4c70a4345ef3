"""Money: accounts with a balance in integer credits, and a ledger that only grows.

A credit is a millionth of a dollar. What is charged is rounded up, so that no call is free.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum
from uuid import UUID

from cadenza.domain.errors import InsufficientCredits

CREDITS_PER_DOLLAR = 1_000_000
MAX_CREDITS = 10**15  # a billion dollars: of one entry, and of a balance that a person may reach
MAX_TOKENS = 10**12  # of one call: what a provider says is not ours to trust
CHARGE = "charge"  # the reason of entries that calls make; no person may write it


def credits_of(dollars: Decimal) -> int:
    return int((dollars * CREDITS_PER_DOLLAR).to_integral_value(ROUND_CEILING))


class ModelApi(StrEnum):
    """How a provider of models is spoken to."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"


@dataclass(frozen=True, slots=True)
class Account:
    id: UUID
    tenant_id: UUID
    name: str
    balance: int  # the sum of its ledger; below zero it is shown as such
    created_at: datetime


@dataclass(frozen=True, slots=True)
class VirtualKey:
    """How an account reaches its provider. The key itself is sealed, and only a hint is shown."""

    id: UUID
    account_id: UUID
    name: str
    api: ModelApi
    base_url: str
    hint: str  # the last characters of the key
    is_default: bool
    created_at: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TokenUsage:
    input_tokens: int = 0  # cached ones among them
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens

    def plus(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )

    @property
    def bounded(self) -> "TokenUsage":
        """Whatever a provider claims, as it can be stored."""
        counts = (self.input_tokens, self.output_tokens)
        cached = (self.cache_read_tokens, self.cache_write_tokens)
        return TokenUsage(*(min(max(count, 0), MAX_TOKENS) for count in (*counts, *cached)))


NO_TOKENS = TokenUsage()


class Basis(StrEnum):
    """Whether the provider said how much it was, or the stream was cut before it could."""

    COUNTED = "counted"
    ESTIMATED = "estimated"


@dataclass(frozen=True, slots=True)
class Charge:
    """What one call costs. The reference is unique: the same usage told again charges once."""

    account_id: UUID
    tenant_id: UUID
    run_id: UUID  # of a graph, or a session of the planner
    attempt: int
    unit: str  # which call of the run
    model: str
    usage: TokenUsage
    credits: int
    basis: Basis = Basis.COUNTED
    schedule_id: UUID | None = None
    endpoint_id: UUID | None = None
    graph_id: str | None = None
    job_id: UUID | None = None  # of a session

    @property
    def reference(self) -> str:
        return f"{self.run_id}/{self.attempt}/{self.unit}"


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    id: int
    account_id: UUID
    at: datetime
    credits: int  # below zero: spent
    balance: int  # after it
    reason: str  # CHARGE, or what a person wrote
    reference: str  # unique in its account: told again, it counts once


@dataclass(frozen=True, slots=True)
class LedgerCheck:
    """What the rows of an account say about each other; all of it is read in one snapshot."""

    account_id: UUID
    account_name: str
    balance: int
    entries: int
    total: int  # of the ledger
    wrong_entry: int | None = None  # the first whose balance is not the sum up to it
    unwritten_charges: int = 0  # with no entry of the same amount
    uncharged_entries: int = 0  # that say they are a charge, and there is none

    @property
    def problems(self) -> tuple[str, ...]:
        problems: list[str] = []
        if self.balance != self.total:
            problems.append(f"the balance is {self.balance}, its ledger comes to {self.total}")
        if self.wrong_entry is not None:
            problems.append(f"entry {self.wrong_entry} has a balance that is not the sum up to it")
        if self.unwritten_charges:
            problems.append(f"{self.unwritten_charges} charges have no entry of their amount")
        if self.uncharged_entries:
            problems.append(f"{self.uncharged_entries} entries name a charge that there is not")
        return tuple(problems)


def covers(balance: int, limit: int | None = None, spent: int = 0) -> bool:
    """Whether one more call may be made: calls are checked before, and paid after."""
    return balance > 0 and (limit is None or spent < limit)


def check_credits(account: Account) -> None:
    if not covers(account.balance):
        raise InsufficientCredits(
            f"the account {account.name!r} has {account.balance} credits; add some first: "
            "POST /accounts/{account_id}/credits, or `cadenza accounts top-up`"
        )
