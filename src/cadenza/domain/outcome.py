"""What a finished run does to its endpoint, before the next run is planned."""

from contextlib import suppress
from datetime import datetime, timedelta

from cadenza.domain.backoff import backed_off
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import CronLine, Endpoint, Every, fresh_hints
from cadenza.domain.errors import InvalidCron
from cadenza.domain.governor import plan_next_run
from cadenza.domain.instants import latest
from cadenza.domain.run import WORKER_LOST, Finish, FinishedRun, Outcome, RunStatus
from cadenza.domain.value import replace

MAX_RETRY_AFTER = timedelta(hours=1)
MAX_COUNTED_CRON_SKIPS = 100  # walking a cron is slow, and nobody needs to know more


def finish_run(endpoint: Endpoint, finished: FinishedRun, now: datetime, cron: Cron) -> Finish:
    """Apply the outcome, plan the next run, and free the endpoint."""
    settled = apply_outcome(endpoint, finished, now)
    if finished.claim.is_manual:
        plan = plan_next_run(now, settled, cron, after_run=False)
        return Finish(settled, plan, moves_anchor=False)
    skipped, reason = skipped_slots(endpoint, finished, now, cron)
    plan = plan_next_run(now, settled, cron, after_run=True)
    return Finish(settled, plan, skipped, reason)


def apply_outcome(endpoint: Endpoint, finished: FinishedRun, now: datetime) -> Endpoint:
    """Failure count, hints, anchor and last slot after a run; it is in flight no more.

    A person's run counts for health and failures, but moves neither the anchor nor the hints.
    """
    interval_hint, one_shot_hint = fresh_hints(endpoint, now)
    last_run_at, person_ran_at = endpoint.last_run_at, endpoint.person_ran_at
    if finished.claim.is_manual:
        person_ran_at = finished.claim.slot_at
    if not finished.claim.is_manual:
        last_run_at = anchor_of(endpoint, finished)
        if one_shot_hint is not None and one_shot_hint.run_at <= finished.first_started_at:
            one_shot_hint = None
    return replace(
        endpoint,
        failure_count=_failure_count(endpoint, finished),
        not_before_at=_not_before(finished.outcome, now),
        interval_hint=interval_hint,
        one_shot_hint=one_shot_hint,
        last_run_at=last_run_at,
        last_slot_at=latest(endpoint.last_slot_at, finished.claim.slot_at),
        running_slot_at=None,
        running_is_manual=False,
        person_ran_at=person_ran_at,
    )


def anchor_of(endpoint: Endpoint, finished: FinishedRun) -> datetime:
    """The slot, or the start of the first attempt where that was late by more than a little."""
    slot_at, started_at = finished.claim.slot_at, finished.first_started_at
    tolerance = timedelta(seconds=1)
    if endpoint.min_interval is not None:
        tolerance = min(endpoint.min_interval / 10, timedelta(seconds=10))
    return started_at if started_at - slot_at > tolerance else slot_at


def _failure_count(endpoint: Endpoint, finished: FinishedRun) -> int:
    outcome = finished.outcome
    if finished.claim.is_manual and outcome == WORKER_LOST:
        return endpoint.failure_count  # nobody knows how it ended, and it is not sent again
    if outcome.failed:
        return endpoint.failure_count + 1
    return 0 if outcome.status is RunStatus.SUCCESS else endpoint.failure_count


def _not_before(outcome: Outcome, now: datetime) -> datetime | None:
    # No wait is no floor: it would have a run longer than its interval followed at once.
    if outcome.retry_after is None or outcome.retry_after <= timedelta(0):
        return None
    return now + min(outcome.retry_after, MAX_RETRY_AFTER)


def skipped_slots(
    endpoint: Endpoint, finished: FinishedRun, now: datetime, cron: Cron
) -> tuple[int, str | None]:
    """How many slots passed while this one waited for a worker or ran, and why.

    Missed slots are never run in a burst, and always reported.
    """
    slot_at, started_at = finished.claim.slot_at, finished.first_started_at
    ended_at = max(now, started_at)
    in_all = _occurrences(endpoint, slot_at, ended_at, cron)
    if in_all == 0:
        return 0, None
    while_waiting = _occurrences(endpoint, slot_at, started_at, cron)
    while_running = _occurrences(endpoint, started_at, ended_at, cron)
    took = "the run took longer than its interval"
    if finished.claim.attempt > 1:
        took = "its worker was lost"
    elif _occurrences(endpoint, slot_at, finished.finished_at, cron) == while_waiting:
        took = "its result could not be stored in time"
    if while_waiting and while_running:
        return in_all, f"no worker was free in time, then {took}"
    if while_waiting or started_at - slot_at > ended_at - started_at:
        return in_all, "no worker was free in time"
    return in_all, took


def _occurrences(endpoint: Endpoint, after: datetime, until: datetime, cron: Cron) -> int:
    """Slots that the schedule in force has after one instant and before another."""
    baseline, hint = endpoint.baseline, endpoint.interval_hint
    if hint is not None and hint.expires_at > after:
        return _count_intervals(hint.interval, after, until)
    if isinstance(baseline, Every):
        interval = backed_off(baseline.interval, endpoint.slowing_failures)
        return _count_intervals(interval, after, until)
    if isinstance(baseline, CronLine):
        return _count_cron(baseline, after, until, cron)
    return 0


def _count_intervals(interval: timedelta, after: datetime, until: datetime) -> int:
    if until <= after or interval <= timedelta(0):
        return 0
    count = (until - after) // interval
    return count - 1 if after + count * interval == until else count


def _count_cron(line: CronLine, after: datetime, until: datetime, cron: Cron) -> int:
    count, at = 0, after
    with suppress(InvalidCron):
        while count < MAX_COUNTED_CRON_SKIPS:
            at = cron.next_after(line.expression, line.timezone, at)
            if at >= until:
                break
            count += 1
    return count
