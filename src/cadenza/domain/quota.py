"""What a tenant may spend on analysis: reserved before a session, settled after it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime


def month_of(now: datetime) -> str:
    return f"{now:%Y-%m}"


@dataclass(frozen=True, slots=True)
class Allowance:
    """Tokens and money of one tenant in one month. What is reserved counts until it is settled."""

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

    def reserve(self, tokens: int, cost: float = 0.0) -> "Allowance | None":
        """None where that much is not left, so that parallel sessions cannot overspend."""
        if self.limit is not None and self.used + self.reserved + tokens > self.limit:
            return None
        spent = self.cost_used + self.cost_reserved
        if self.cost_limit is not None and spent + cost > self.cost_limit:
            return None
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
class QuotaWarning:
    """A share of a month's limit that a session has just reached."""

    of: str  # tokens or money
    percent: int
    used: float
    limit: float


def warnings_of(after: Allowance, used: int, cost: float) -> tuple[QuotaWarning, ...]:
    """The shares that this use has crossed; only the session that crosses one reports it."""
    return (
        *_crossed("tokens", after.used, used, after.limit),
        *_crossed("money", after.cost_used, cost, after.cost_limit),
    )


def _crossed(of: str, total: float, used: float, limit: float | None) -> Iterator[QuotaWarning]:
    if limit is None or limit <= 0:
        return
    for percent in (80, 100):
        mark = limit * percent / 100
        if total - used < mark <= total:
            yield QuotaWarning(of, percent, total, limit)
