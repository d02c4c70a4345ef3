"""The state of an installation in a few figures, whoever the tenants are."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

MOST_DUE = 10_000  # endpoints that are counted; a longer backlog says "at least"


@dataclass(frozen=True, slots=True)
class QuotaShare:
    """Of a month's limits, what is used; None where there is no limit."""

    tokens: float | None = None
    dollars: float | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    due: int = 0  # and not claimed
    oldest_due_seconds: float = 0.0
    highest: QuotaShare = QuotaShare()  # of all tenants
    tenants: Mapping[str, QuotaShare] = field(default_factory=dict[str, QuotaShare])
    open_incidents: Mapping[str, int] = field(default_factory=dict[str, int])  # by severity
    oldest_delivery_seconds: float = 0.0  # that it has been due, and not taken


class OverviewReads(Protocol):
    async def overview(self, tenants: Collection[str]) -> Overview:
        """With the quotas of these tenants, by name, as far as they exist."""
        ...
