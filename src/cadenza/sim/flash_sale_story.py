"""The story of the flash sale: the metrics of every minute, and what they are a reason for."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.sim.world import START

Metrics = dict[str, int]
METRIC_NAMES = ("traffic", "orders", "page_load_ms", "inventory_lag_ms", "db_query_ms")
PHASES: tuple[tuple[int, str, tuple[int, ...]], ...] = (
    (0, "calm", (1000, 40, 800, 100, 120)),
    (5, "surge", (5000, 180, 1800, 250, 280)),
    (9, "strain", (5500, 160, 3200, 450, 850)),
    (13, "critical", (6000, 120, 4500, 600, 1200)),
    (21, "recovery", (1500, 50, 1100, 150, 180)),
)

STORY = tuple((begins, label) for begins, label, _ in PHASES)


def metrics_at(at: datetime) -> Metrics:
    """What every endpoint of the shop answers in this minute."""
    minute = (at - START) / timedelta(minutes=1)
    values = [values for begins, _, values in PHASES if begins <= minute][-1]
    return dict(zip(METRIC_NAMES, values, strict=True))


@dataclass(frozen=True, slots=True)
class Investigation:
    """Wakes while something is wrong, and runs every half minute until it is over."""

    name: str
    starts: Callable[[Metrics], bool]
    ends: Callable[[Metrics], bool]


@dataclass(frozen=True, slots=True)
class Remedy:
    """Runs once per cooldown while its condition holds; the cooldown is its min."""

    name: str
    cooldown: timedelta
    condition: Callable[[Metrics], bool]


INVESTIGATIONS = (
    Investigation(
        "slow_page_analyzer",
        lambda seen: seen["page_load_ms"] > 2000,
        lambda seen: seen["page_load_ms"] < 1500,
    ),
    Investigation(
        "database_query_trace",
        lambda seen: seen["db_query_ms"] > 500,
        lambda seen: seen["db_query_ms"] < 300,
    ),
)
REMEDIES = (
    Remedy("cache_warm_up", timedelta(minutes=10), lambda seen: seen["page_load_ms"] > 3000),
    Remedy(
        "scale_checkout_workers",
        timedelta(minutes=15),
        lambda seen: seen["orders"] < 150 and seen["traffic"] >= 5000,
    ),
    Remedy("slack_operations", timedelta(minutes=5), lambda seen: seen["page_load_ms"] >= 3000),
    Remedy(
        "slack_customer_support",
        timedelta(minutes=10),
        lambda seen: seen["orders"] < 130 and seen["traffic"] >= 5500,
    ),
    Remedy(
        "emergency_oncall_page",
        timedelta(minutes=30),
        lambda seen: seen["page_load_ms"] >= 4000 and seen["orders"] < 125,
    ),
)
