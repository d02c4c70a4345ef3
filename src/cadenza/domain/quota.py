"""What may be spent on analysis: reserved before a session, settled after it.

Two limits hold at once: a tenant's by month, and a job's by day, each of tokens and of money.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

WARNED_AT = (80, 100)  # percent


def month_of(now: datetime) -> str:
    return f"{now:%Y-%m}"


def day_of(now: datetime) -> str:
    return f"{now:%Y-%m-%d}"


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one period; None: as much as it wants."""

    tokens: int | None = None
    money: float | None = None

    def overridden(self, tokens: int | None, money: float | None) -> "Limits":
        """By what an owner says, where they say something: 0 is no limit."""
        return Limits(
            self.tokens if tokens is None else tokens or None,
            self.money if money is None else money or None,
        )


NO_LIMITS = Limits()
TENANT_LIMITS = Limits(5_000_000, 20.0)  # by month
JOB_LIMITS = Limits(500_000, 2.0)  # by day


@dataclass(frozen=True, slots=True)
class PlannerLimits:
    """What an installation lets models use, where tenants and jobs say nothing else."""

    per_month: Limits = TENANT_LIMITS
    per_day: Limits = JOB_LIMITS
    session_tokens: int = 50_000


@dataclass(frozen=True, slots=True)
class Period:
    """Whose allowance it is, and when: a tenant's month, or a job's day."""

    tenant_id: UUID
    name: str
    job_id: UUID | None = None

    def limit_of(self, what: str) -> str:
        """Its name in settings and policies, like tokens_per_day."""
        return f"{what}_per_{'month' if self.job_id is None else 'day'}"

    @property
    def owner(self) -> str:
        return "tenant" if self.job_id is None else "job"


@dataclass(frozen=True, slots=True)
class Allowance:
    """Tokens and money of one period. What is reserved counts until it is settled."""

    limit: int | None
    used: int = 0
    reserved: int = 0
    cost_limit: float | None = None
    cost_used: float = 0.0
    cost_reserved: float = 0.0
    refused_at: datetime | None = None  # since when no session could be held

    @property
    def left(self) -> int | None:
        return None if self.limit is None else max(0, self.limit - self.used - self.reserved)

    @property
    def cost_left(self) -> float | None:
        if self.cost_limit is None:
            return None
        return max(0.0, self.cost_limit - self.cost_used - self.cost_reserved)

    def within(self, limits: Limits) -> "Allowance":
        """As the limits are now."""
        return replace(self, limit=limits.tokens, cost_limit=limits.money)

    def lacks(self, tokens: int, cost: float = 0.0) -> str | None:
        """What there is not enough of for a session: tokens or money."""
        if self.limit is not None and self.used + self.reserved + tokens > self.limit:
            return "tokens"
        spent = self.cost_used + self.cost_reserved
        if self.cost_limit is not None and spent + cost > self.cost_limit:
            return "money"
        return None

    def reserve(self, tokens: int, cost: float = 0.0) -> "Allowance | None":
        """None where that much is not left, so that parallel sessions cannot overspend."""
        return None if self.lacks(tokens, cost) is not None else self.reserved_for(tokens, cost)

    def reserved_for(self, tokens: int, cost: float = 0.0) -> "Allowance":
        return replace(
            self, reserved=self.reserved + tokens, cost_reserved=self.cost_reserved + cost
        )

    def settle(
        self, reserved: int, used: int, cost_reserved: float = 0.0, cost: float = 0.0
    ) -> "Allowance":
        return replace(
            self,
            reserved=max(0, self.reserved - reserved),
            used=self.used + used,
            cost_reserved=max(0.0, self.cost_reserved - cost_reserved),
            cost_used=self.cost_used + cost,
        )


@dataclass(frozen=True, slots=True)
class OverLimit:
    """Why a session is not held: it could take more than is left of a limit."""

    limit_name: str  # like tokens_per_day
    owner: str  # tenant or job
    period: str
    limit: float
    left: float
    wanted: float
    job_id: UUID | None = None  # None: the limit is the tenant's

    @property
    def reason(self) -> str:
        """The same while it lasts: it is recorded once."""
        return f"the limit {self.limit_name} of the {self.owner} is reached for {self.period}"

    def __str__(self) -> str:
        return (
            f"{self.reason}: {_amount(self.left)} of {_amount(self.limit)} are left, and a session "
            f"may take {_amount(self.wanted)}"
        )


def over_limit(
    period: Period, allowance: Allowance, tokens: int, cost: float = 0.0
) -> OverLimit | None:
    lacking = allowance.lacks(tokens, cost)
    if lacking is None:
        return None
    is_tokens = lacking == "tokens"
    return OverLimit(
        period.limit_of(lacking),
        period.owner,
        period.name,
        limit=(allowance.limit if is_tokens else allowance.cost_limit) or 0,
        left=(allowance.left if is_tokens else allowance.cost_left) or 0,
        wanted=tokens if is_tokens else cost,
        job_id=period.job_id,
    )


def _amount(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"${number:,.2f}"


@dataclass(frozen=True, slots=True)
class QuotaWarning:
    """A share of a limit that a session has just reached."""

    limit_name: str  # like tokens_per_month
    percent: int
    used: float
    limit: float
    period: str
    job_id: UUID | None = None  # None: the limit is the tenant's


def warnings_of(
    period: Period, after: Allowance, used: int, cost: float
) -> tuple[QuotaWarning, ...]:
    """The shares that this use has crossed; only the session that crosses one reports it."""
    return (
        *_crossed(period, "tokens", after.used, used, after.limit),
        *_crossed(period, "money", after.cost_used, cost, after.cost_limit),
    )


def _crossed(
    period: Period, of: str, total: float, used: float, limit: float | None
) -> Iterator[QuotaWarning]:
    if limit is None or limit <= 0:
        return
    for percent in WARNED_AT:
        mark = limit * percent / 100
        if total - used < mark <= total:
            name = period.limit_of(of)
            yield QuotaWarning(name, percent, total, limit, period.name, period.job_id)
