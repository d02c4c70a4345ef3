"""What must hold of slots: each is run or declared, once, in its time, for the true reason."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise

from cadenza.domain.run import Run, RunStatus
from tests.chaos import oracle
from tests.chaos.clock_steps import time_at
from tests.chaos.delivery_checks import during
from tests.chaos.history import CLOCK, UNAWARE, Delivery, History, Spec, slot_of
from tests.chaos.matching import matched_by_key, swept, windows_of
from tests.chaos.violation import Violation

LOST, SLOW_RUN, NOBODY_FREE = "worker was lost", "took longer", "no worker was free"
SLOW_STORE = "could not be stored"
AHEAD = timedelta(seconds=0.25)  # of their slots, runs may be claimed
INSTANT = 1e-6
BOUNDS = 4  # that a window stays open: what comes later is late, not lost


def lost_slots(history: History) -> Iterator[Violation]:
    """Every due slot has a terminal run or is declared missed."""
    for spec in history.plain:
        runs, failures = history.runs_of(spec.endpoint_id), 0
        yield from _lost_at_the_edges(history, spec, runs)
        for run, following in pairwise(runs):
            if run.finished_at is None:
                yield Violation("lost", spec.endpoint_id, run.slot_at, "it never ended")
                continue
            missing = oracle.passed_over(spec, run, following, failures)
            failures = oracle.failures_after(failures, run)
            if history.set_back_between(run, following):
                yield from _begun_anew(history, spec, run, following)
            elif missing > run.skipped_slots:
                text = f"{missing} slots before {following.slot_at}, {run.skipped_slots} declared"
                yield Violation("lost", spec.endpoint_id, run.slot_at, text)


def _begun_anew(history: History, spec: Spec, run: Run, following: Run) -> Iterator[Violation]:
    """After a clock that was set back intervals go on by it. What takes longer than the bound is a
    standstill; what takes far longer is lost."""
    step = history.set_back_between(run, following)
    if step is None or spec.every is None or run.status is not RunStatus.SUCCESS:
        return
    set_at = time_at(history.clock_steps, step.ended)
    longest = spec.every + BOUNDS * history.bound
    if following.slot_at - set_at > longest:
        text = f"the clock was set back to {set_at}, its next slot is {following.slot_at}"
        yield Violation("lost", spec.endpoint_id, run.slot_at, text)


def _lost_at_the_edges(history: History, spec: Spec, runs: list[Run]) -> Iterator[Violation]:
    """Before the first run, and after the last one that it left time for."""
    by_then = history.ended_at - history.bound - history.longest_run - _period(spec)
    if not runs:
        if spec.since < by_then and _first_due(spec) < by_then:
            yield Violation("lost", spec.endpoint_id, spec.since, "it never ran")
        return
    first, last = runs[0], runs[-1]
    if spec.cron is not None:
        missing = oracle.cron_between(spec, spec.since, first.slot_at)
    else:
        missing = [] if first.slot_at <= _first_due(spec) else [spec.since]
    if missing:
        yield Violation("lost", spec.endpoint_id, missing[0], "slots before its first run")
    step = history.set_back_between(last)
    reached = min(last.slot_at, time_at(history.clock_steps, step.ended)) if step else last.slot_at
    if reached < by_then - _period(spec) * 2**5 * (last.status is not RunStatus.SUCCESS):
        yield Violation("lost", spec.endpoint_id, last.slot_at, "nothing after it")


def _period(spec: Spec) -> timedelta:
    if spec.every is not None:
        return spec.every
    return oracle.cron_after(spec.cron or "", spec.timezone, _first_due(spec)) - _first_due(spec)


def _first_due(spec: Spec) -> datetime:
    """The latest that its first slot may be."""
    if spec.cron is not None:
        return oracle.cron_after(spec.cron, spec.timezone, spec.since)
    assert spec.every is not None
    return spec.since + min(oracle.LONGEST_JITTER, spec.every / 10)


def wrong_slots(history: History) -> Iterator[Violation]:
    """Every slot of a plain baseline is where arithmetic says."""
    for spec in history.plain:
        failures = 0
        for run, following in pairwise(history.runs_of(spec.endpoint_id)):
            failures = oracle.failures_after(failures, run)
            if run.finished_at is None or history.set_back_between(run, following):
                continue
            if spec.cron is not None:
                first = oracle.cron_after(
                    spec.cron, spec.timezone, max(run.finished_at, run.slot_at)
                )
                last = first
            else:
                first, last = oracle.interval_after(spec, run, failures)
            if not first <= following.slot_at <= last:
                text = f"due {first} to {last}, planned {following.slot_at}"
                yield Violation("wrong_slot", spec.endpoint_id, run.slot_at, text)


def doubled_rows(history: History) -> Iterator[Violation]:
    """One run row per slot."""
    counts = Counter((run.endpoint_id, run.slot_at) for run in history.runs)
    for (endpoint_id, slot_at), count in counts.items():
        if count > 1:
            yield Violation("doubled_row", endpoint_id, slot_at, f"{count} rows")


def false_reasons(history: History) -> Iterator[Violation]:
    """A slot that is declared missed says truly why."""
    for run in history.runs:
        if run.skipped_slots and (wrong := _what_is_wrong(history, run)):
            text = f"says “{run.skipped_reason}”, but {wrong}"
            yield Violation("false_reason", run.endpoint_id, run.slot_at, text)


def _what_is_wrong(history: History, run: Run) -> str | None:
    reason, sent_at = run.skipped_reason or "", oracle.first_sent_at(run)
    if not reason:
        return "there is none"
    if LOST in reason and run.id not in history.index.lost_attempts:
        return "no attempt was lost"
    if (SLOW_RUN in reason or SLOW_STORE in reason) and run.attempt > 1:
        return "its worker was lost"
    if SLOW_RUN in reason and not _was_answered_late(history, run):
        return "its target had answered in time"
    if NOBODY_FREE in reason and sent_at - run.slot_at < timedelta(milliseconds=1):
        return "it was sent in time"
    return None


def _was_answered_late(history: History, run: Run) -> bool:
    """By what the receiver saw; where it says nothing, the database is believed."""
    spec = history.specs.get(run.endpoint_id)
    number = run.body.get("delivery") if isinstance(run.body, dict) else None
    if spec is None or spec.every is None or number is None or not spec.plain:
        return True
    seen = history.index.by_number.get(number)
    if seen is None:
        return True
    late = max(0.0, (oracle.first_sent_at(run) - run.slot_at).total_seconds())
    limit = spec.every.total_seconds() * 0.9
    # Who stood still, or whose clock was set, saw another length than the receiver did.
    unaware = during(history.faults, seen.began, seen.ended + limit, *UNAWARE)
    return unaware or seen.ended - seen.began + late + history.slack >= limit


def early_starts(history: History) -> Iterator[Violation]:
    """Never early, by the receiver and by the database."""
    for run in history.runs:
        started_at = run.started_at
        if run.attempt == 1 and started_at is not None and started_at < run.slot_at:
            yield Violation("early", run.endpoint_id, run.slot_at, f"started {run.started_at}")
    for delivery in history.deliveries:
        slot_at = slot_of(delivery.key)
        if slot_at is None or delivery.began_at >= slot_at:
            continue
        # By a clock that was just set back, what was in time a moment ago is early.
        just_set = during(history.faults, delivery.began, delivery.began, CLOCK)
        if not just_set and not _had_come(history, delivery, slot_at):
            text = f"attempt {delivery.attempt} arrived {delivery.began_at}"
            yield Violation("early", delivery.endpoint_id, slot_at, text)


def _had_come(history: History, delivery: Delivery, slot_at: datetime) -> bool:
    """What lost its worker is sent again, also where its slot, which had come, lies ahead since the
    clock was set back (docs/decisions/0009)."""
    steps = [step for step in history.clock_steps if step.is_back and step.began < delivery.began]
    reached = [time_at(history.clock_steps, step.began - INSTANT) + AHEAD for step in steps]
    return delivery.attempt > 1 and any(slot_at <= instant for instant in reached)


def disagreements(history: History) -> Iterator[Violation]:
    """Matched to windows ignoring keys and by key, runs must come to the same number."""
    for spec in history.plain:
        deliveries = history.deliveries_of(spec.endpoint_id)
        slots = (run.slot_at for run in history.runs_of(spec.endpoint_id))
        windows = windows_of(slots, BOUNDS * history.bound)
        by_time = swept(windows, (delivery.began_at for delivery in deliveries))
        by_key = matched_by_key(spec.endpoint_id, windows, deliveries)
        again = sum(
            delivery.attempt > 1 or during(history.faults, delivery.began, delivery.began, CLOCK)
            for delivery in deliveries
        )
        if abs(by_time - by_key) > again:
            text = f"{by_time} by time, {by_key} by key"
            yield Violation("keys_disagree", spec.endpoint_id, spec.since, text)


def stuck(history: History) -> Iterator[Violation]:
    """Nothing stands still so long after the last fault."""
    by_then = history.ended_at - history.bound - history.longest_run
    for version in history.index.last_versions.values():
        endpoint = version.endpoint
        due_at = endpoint.running_slot_at or endpoint.manual_slot_at or endpoint.next_run_at
        if due_at is not None and due_at < by_then and endpoint.archived_at is None:
            yield Violation("stuck", endpoint.id, due_at, f"epoch {version.epoch}")
