"""Every check over a history, and the figures that a run is judged by."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from cadenza.domain.run import Run, RunStatus
from tests.chaos import delivery_checks, oracle, slots_checks, write_checks
from tests.chaos.history import CLOCK, MACHINE, History
from tests.chaos.standstills import longest_standstill
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
    delivery_checks.charged_for_nothing,
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
    matched, declared, lateness = 0, 0, list[float]()
    for spec in history.plain:
        runs = history.runs_of(spec.endpoint_id)
        matched += sum(run.status is not RunStatus.RUNNING for run in runs)
        declared += sum(run.skipped_slots for run in runs)
        lateness += [
            (oracle.first_sent_at(run) - run.slot_at).total_seconds()
            for run in runs
            if not _clock_was_set(history, run)
        ]
    standstill = longest_standstill(history)
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
        "longest_standstill_s": standstill.seconds,
        "stood_still": standstill.about,
        "faults": Counter(fault.kind for fault in history.faults if fault.kind != MACHINE),
    }


def _clock_was_set(history: History, run: Run) -> bool:
    """Then it is late, or not, by what the clock was set."""
    moment = history.index.claimed.get(run.id, 0.0)
    return delivery_checks.during(history.faults, moment, moment, CLOCK)
