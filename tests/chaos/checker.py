"""Every check over a history, and the figures that a run is judged by."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cadenza.domain.run import RunStatus
from tests.chaos import delivery_checks, oracle, slots_checks, write_checks
from tests.chaos.history import History, Spec
from tests.chaos.violation import Violation

Check = Callable[[History], Iterable[Violation]]
CHECKS: tuple[Check, ...] = (
    slots_checks.lost_slots,
    slots_checks.wrong_slots,
    slots_checks.doubled_rows,
    slots_checks.false_reasons,
    slots_checks.early_starts,
    slots_checks.disagreements,
    slots_checks.stuck,
    delivery_checks.doubled_unexplained,
    delivery_checks.unknown_keys,
    delivery_checks.overlaps,
    delivery_checks.stale_writes,
    delivery_checks.unreported,
    delivery_checks.crossed_tenants,
    delivery_checks.graphs_twice,
    write_checks.falling_epochs,
    write_checks.changed_ends,
    write_checks.other_plans,
    write_checks.expired_hints,
    write_checks.vanished_hints,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    violations: tuple[Violation, ...]
    figures: dict[str, Any]


def check(history: History) -> Verdict:
    violations = tuple(found for each in CHECKS for found in each(history))
    return Verdict(violations, figures_of(history, violations))


def figures_of(history: History, violations: Iterable[Violation]) -> dict[str, Any]:
    kinds = Counter(violation.name for violation in violations)
    matched, declared, lateness, standstill = 0, 0, list[float](), 0.0
    for spec in history.plain:
        runs = history.runs_of(spec.endpoint_id)
        matched += sum(run.status is not RunStatus.RUNNING for run in runs)
        declared += sum(run.skipped_slots for run in runs)
        late = [(oracle.first_sent_at(run) - run.slot_at).total_seconds() for run in runs]
        lateness += late
        if spec.endpoint_id not in history.locked:
            standstill = max(standstill, longest_standstill(history, spec))
    return {
        "slots_expected": matched + declared + kinds["lost"],
        "matched": matched,
        "declared": declared,
        "lost": kinds["lost"],
        "doubled_explained": delivery_checks.doubled(history).explained,
        "doubled_unexplained": kinds["doubled"],
        "early": kinds["early"],
        "lateness": lateness,
        "overlaps": kinds["overlap"],
        "fenced_writes": len(history.late_results),
        "longest_standstill_s": standstill,
        "faults": Counter(fault.kind for fault in history.faults),
    }


def longest_standstill(history: History, spec: Spec) -> float:
    """The longest that its receiver heard nothing of a plain endpoint, beyond its interval."""
    heard = sorted(delivery.began for delivery in history.deliveries_of(spec.endpoint_id))
    if spec.every is None or len(heard) < 2:
        return 0.0
    gaps = (later - earlier for earlier, later in pairwise(heard))
    return max(0.0, max(gaps) - spec.every.total_seconds())
