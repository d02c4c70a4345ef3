"""The checker itself: it is content with a good history, and every check of it can fail."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.domain import steering
from cadenza.domain.endpoint import Endpoint, Every
from cadenza.domain.outcome import finish_run
from cadenza.domain.plan import Source
from cadenza.domain.run import LostAttempt, Run, RunStatus
from tests.chaos.checker import CHECKS, check
from tests.chaos.clock_steps import ClockStep
from tests.chaos.history import (
    MACHINE,
    STOP,
    Charge,
    Delivery,
    EndpointVersion,
    Fault,
    GraphStart,
    History,
    OwnedRow,
    RunVersion,
    Spec,
    Stall,
    key_of,
)
from tests.chaos.matching import swept, windows_of
from tests.factories import CRON, NOON, id_of, interval_hint, make_endpoint, make_finished, seconds

EVERY = seconds(10)
TAKES = seconds(0.2)


def good(count: int = 6) -> History:
    """An endpoint every ten seconds, whose runs all went well."""
    endpoint = steering.begin(make_endpoint(baseline=Every(EVERY)), NOON, CRON)
    spec = Spec(endpoint.id, endpoint.tenant_id, endpoint.name, NOON, EVERY)
    history = History({endpoint.id: spec}, NOON, NOON + count * EVERY, seconds(5), seconds(10))
    note(history, endpoint, NOON, epoch=0)
    for number in range(count):
        endpoint = add_run(history, endpoint, number)
    return history


def add_run(history: History, endpoint: Endpoint, number: int) -> Endpoint:
    slot_at = NOON + number * EVERY
    finished = make_finished(endpoint, slot_at, takes=TAKES)
    now = slot_at + TAKES
    after = finish_run(endpoint, finished, now, CRON).endpoint
    run = Run(
        id=finished.claim.run_id,
        endpoint_id=endpoint.id,
        tenant_id=endpoint.tenant_id,
        slot_at=slot_at,
        source=Source.BASELINE_INTERVAL,
        status=RunStatus.SUCCESS,
        attempt=1,
        epoch=number + 1,
        claimed_at=slot_at,
        started_at=slot_at,
        finished_at=now,
        body={"delivery": number},
    )
    history.runs.append(run)
    history.run_versions.append(RunVersion(now, run.id, run))
    note(history, replace(endpoint, running_slot_at=slot_at), slot_at, epoch=number + 1)
    note(history, after, now, epoch=number + 1)
    began = slot_at.timestamp()
    key = key_of(endpoint.id, slot_at)
    history.deliveries.append(
        Delivery(number, endpoint.id, key, 1, slot_at, began, began + 0.2, endpoint.tenant_id)
    )
    return after


def note(history: History, endpoint: Endpoint, at: datetime, *, epoch: int) -> None:
    history.endpoint_versions.append(EndpointVersion(at, endpoint, epoch))


def violations(history: History) -> set[str]:
    return {violation.name for violation in check(history).violations}


def test_a_good_history_has_no_violation() -> None:
    verdict = check(good())
    assert verdict.violations == ()
    assert verdict.figures["slots_expected"] == verdict.figures["matched"] == 6
    assert verdict.figures["longest_standstill_s"] == 0


# --- Each thing that must never be ----------------------------------------------------------


def _without_a_run(history: History) -> None:
    del history.runs[2], history.deliveries[2]


def _never_again(history: History) -> None:
    history.ended_at += timedelta(minutes=5)


def _late_by_a_second(history: History) -> None:
    history.runs[3:] = [replace(run, slot_at=run.slot_at + seconds(1)) for run in history.runs[3:]]


def _two_rows(history: History) -> None:
    history.runs.append(replace(history.runs[0], id=id_of("another")))


def _false_reason(history: History) -> None:
    reason = "its worker was lost"
    history.runs[1] = replace(history.runs[1], skipped_slots=1, skipped_reason=reason)


def _blamed(history: History) -> None:
    reason = "the run took longer than its interval"
    history.runs[1] = replace(history.runs[1], skipped_slots=1, skipped_reason=reason)


def _arrives_early(history: History) -> None:
    early = history.deliveries[1].began_at - timedelta(microseconds=1)
    history.deliveries[1] = replace(history.deliveries[1], began_at=early)


def _starts_early(history: History) -> None:
    early = history.runs[1].slot_at - timedelta(microseconds=1)
    history.runs[1] = replace(history.runs[1], started_at=early)


def _key_of_another_slot(history: History) -> None:
    key = key_of(history.deliveries[1].endpoint_id, NOON + seconds(12))
    history.deliveries[1] = replace(history.deliveries[1], key=key)


def _stuck(history: History) -> None:
    last = history.endpoint_versions[-1]
    held = replace(last.endpoint, running_slot_at=NOON)
    history.endpoint_versions.append(EndpointVersion(NOON, held, 99))


def _twice(history: History) -> None:
    first = history.deliveries[1]
    history.deliveries.append(
        replace(first, number=100, attempt=2, began=first.began + 3, ended=first.ended + 3)
    )


def _same_attempt(history: History) -> None:
    first = history.deliveries[1]
    history.faults.append(Fault("kill", first.began, first.began + 5))
    history.deliveries.append(
        replace(first, number=100, began=first.began + 3, ended=first.ended + 3)
    )


def _overlap(history: History) -> None:
    first = history.deliveries[1]
    history.faults.append(Fault("kill", first.began, first.began + 5))
    second = replace(first, number=100, attempt=2, began=first.began + 0.05, ended=first.ended)
    history.deliveries.append(second)


def _stale(history: History) -> None:
    history.runs[1] = replace(history.runs[1], attempt=2)
    history.lost_attempts.append(LostAttempt(history.runs[1].id, 1, NOON))


def _result_of_another(history: History) -> None:
    other = replace(history.deliveries[1], number=200, key=key_of(id_of("other"), NOON))
    history.deliveries.append(other)
    history.runs[1] = replace(history.runs[1], body={"delivery": 200})


def _unheard(history: History) -> None:
    history.runs[1] = replace(history.runs[1], body=None)


def _foreign_row(history: History) -> None:
    history.owned_rows.append(OwnedRow("events", id_of("other"), history.runs[0].endpoint_id))


def _foreign_signature(history: History) -> None:
    history.deliveries[1] = replace(history.deliveries[1], signed_by=id_of("other"))


def _graph_twice(history: History) -> None:
    start = GraphStart(history.deliveries[0].key, NOON)
    history.graph_starts += [start, start]


def _charged_twice(history: History) -> None:
    key = history.deliveries[0].key
    history.charges += [Charge(key, "a", "call 1"), Charge(key, "b", "call 1")]


def _charged_for_nothing(history: History) -> None:
    key = history.deliveries[0].key
    history.model_calls.append(key)
    history.charges += [Charge(key, "a", "call 1"), Charge(key, "b", "call 2")]


def _epoch_falls(history: History) -> None:
    history.endpoint_versions[-1] = replace(history.endpoint_versions[-1], epoch=1)


def _end_changes(history: History) -> None:
    version = history.run_versions[0]
    assert version.run is not None
    changed = replace(version.run, status=RunStatus.FAILURE)
    history.run_versions.append(replace(version, run=changed))


def _end_is_gone(history: History) -> None:
    history.run_versions.append(replace(history.run_versions[0], run=None))


def _moved_plan(history: History) -> None:
    version = history.endpoint_versions[-1]
    plan = version.endpoint.plan
    assert plan is not None
    assert plan.next_run_at is not None
    moved = replace(plan, next_run_at=plan.next_run_at + seconds(1))
    history.endpoint_versions[-1] = replace(version, endpoint=replace(version.endpoint, plan=moved))


def _hint_outlives(history: History) -> None:
    version = history.endpoint_versions[-1]
    plan = version.endpoint.plan
    assert plan is not None
    hinted = replace(
        version.endpoint,
        plan=replace(plan, winner=Source.AI_INTERVAL),
        interval_hint=interval_hint(EVERY, plan.inputs.now + seconds(1)),
    )
    history.endpoint_versions[-1] = replace(version, endpoint=hinted)


def _hint_vanishes(history: History) -> None:
    version = history.endpoint_versions[-2]
    hint = interval_hint(EVERY, NOON + timedelta(hours=1))
    hinted = replace(version.endpoint, interval_hint=hint)
    history.endpoint_versions[-2] = replace(version, endpoint=hinted)


BROKEN: list[tuple[Callable[[History], None], str]] = [
    (_without_a_run, "lost"),
    (_never_again, "lost"),
    (_late_by_a_second, "wrong_slot"),
    (_two_rows, "doubled_row"),
    (_false_reason, "false_reason"),
    (_blamed, "false_reason"),
    (_arrives_early, "early"),
    (_starts_early, "early"),
    (_key_of_another_slot, "keys_disagree"),
    (_key_of_another_slot, "unknown_key"),
    (_stuck, "stuck"),
    (_twice, "doubled"),
    (_same_attempt, "doubled_attempt"),
    (_overlap, "overlap"),
    (_stale, "stale_write"),
    (_result_of_another, "foreign_result"),
    (_unheard, "unreported"),
    (_foreign_row, "crossed_tenant"),
    (_foreign_signature, "crossed_tenant"),
    (_graph_twice, "graph_twice"),
    (_charged_twice, "charged_twice"),
    (_charged_for_nothing, "charged_for_nothing"),
    (_epoch_falls, "falling_epoch"),
    (_end_changes, "changed_end"),
    (_end_is_gone, "changed_end"),
    (_moved_plan, "other_plan"),
    (_hint_outlives, "expired_hint"),
    (_hint_vanishes, "vanished_hint"),
]


@pytest.mark.parametrize(
    ("breaks", "name"), BROKEN, ids=[f"{name}: {breaks.__name__[1:]}" for breaks, name in BROKEN]
)
def test_what_must_never_be_is_seen(breaks: Callable[[History], None], name: str) -> None:
    history = good()
    breaks(history)
    assert name in violations(history)


def test_every_check_has_been_seen_to_fail() -> None:
    seen: set[Any] = set()
    for breaks, _ in BROKEN:
        history = good()
        breaks(history)
        seen |= {each for each in CHECKS if any(True for _ in each(history))}
    assert seen == set(CHECKS)


def test_a_doubled_delivery_during_a_fault_is_explained() -> None:
    history = good()
    _twice(history)
    first = history.deliveries[1]
    history.faults.append(Fault("kill", first.began + 1, first.began + 1))
    verdict = check(history)
    assert verdict.figures["doubled_explained"] == 1
    assert verdict.figures["doubled_unexplained"] == 0


def test_beside_a_stopped_worker_two_may_overlap() -> None:
    history = good()
    _overlap(history)
    assert "overlap" in violations(history)
    history.faults = [replace(history.faults[0], kind=STOP)]
    assert "overlap" not in violations(good()) | violations(history)


def test_declared_slots_are_not_lost() -> None:
    history = good()
    _without_a_run(history)
    reason = "no worker was free in time"
    late = {"started_at": history.runs[1].slot_at + seconds(15), "skipped_reason": reason}
    end = history.runs[1].slot_at + seconds(15.2)
    history.runs[1] = replace(history.runs[1], finished_at=end, skipped_slots=1, **late)
    assert "lost" not in violations(history)


# --- What the machine and the clock may explain ----------------------------------------------


def test_a_machine_that_stood_still_explains_a_doubled_delivery_only_past_a_renewal() -> None:
    history = good()
    _twice(history)
    at = history.deliveries[1].began
    history.faults.append(Fault(MACHINE, at, at + 1))
    assert "doubled" in violations(history)
    history.faults.append(Fault(MACHINE, at, at + 2))
    assert "doubled" not in violations(history)


def test_of_a_standstill_only_what_the_machine_stood_still_meanwhile_is_left_out() -> None:
    history = good()
    _without_a_run(history)
    at = history.deliveries[1].began
    history.stalls = [Stall(at + 1, at + 5, late=3), Stall(at + 100, at + 110, late=9)]
    expected = (EVERY - TAKES).total_seconds() - 3
    assert check(history).figures["longest_standstill_s"] == pytest.approx(expected)


def set_back(history: History, by: float) -> None:
    """After the third run: all that comes then is by the clock that was set back."""
    runs, later = history.runs[:3], history.runs[3:]
    moment = runs[-1].slot_at.timestamp() + 5
    history.clock_steps.append(ClockStep(moment, moment, -by))
    moved = [_earlier(run, by) for run in later]
    history.runs = runs + moved
    history.run_versions = [
        RunVersion(run.claimed_at, run.id, run, run.claimed_at.timestamp() + by * (run in moved))
        for run in history.runs
    ]
    history.deliveries[3:] = [
        replace(one, key=key_of(run.endpoint_id, run.slot_at), began_at=run.slot_at)
        for one, run in zip(history.deliveries[3:], moved, strict=True)
    ]
    history.ended_at -= seconds(by)


def _earlier(run: Run, by: float) -> Run:
    times = {name: getattr(run, name) - seconds(by) for name in ("slot_at", "claimed_at")}
    times |= {name: getattr(run, name) - seconds(by) for name in ("started_at", "finished_at")}
    return replace(run, **times)


def of_slots(history: History) -> set[str]:
    """Without what is about endpoints, which have not been set back here."""
    of_endpoints = {"other_plan", "vanished_hint", "stuck"}
    return violations(history) - of_endpoints


@pytest.mark.parametrize("by", [3.5, 17.0])
def test_intervals_begin_anew_by_a_clock_that_was_set_back(by: float) -> None:
    history = good()
    set_back(history, by)
    assert of_slots(history) == set()


def test_an_interval_that_waits_until_a_clock_has_caught_up_is_lost() -> None:
    history = good()
    set_back(history, 17)
    history.runs[3:] = [_earlier(run, -70) for run in history.runs[3:]]
    history.ended_at += seconds(70)
    assert "lost" in of_slots(history)


def test_an_interval_that_never_goes_on_by_a_clock_that_was_set_back_is_lost() -> None:
    history = good()
    set_back(history, 17)
    del history.runs[3:], history.deliveries[3:]
    history.ended_at += seconds(20)
    assert "lost" in of_slots(history)


@pytest.mark.parametrize(("attempt", "is_early"), [(1, True), (2, False)])
def test_what_lost_its_worker_may_be_sent_again_before_a_slot_that_had_come(
    attempt: int, is_early: bool
) -> None:
    history = good()
    set_back(history, 17)
    sent = history.deliveries[2]
    again = replace(
        sent,
        number=100,
        attempt=attempt,
        began=sent.began + 12,
        ended=sent.ended + 12,
        began_at=sent.began_at - seconds(5),
    )
    history.deliveries.append(again)
    assert ("early" in violations(history)) == is_early


def test_slots_that_go_back_without_the_clock_are_wrong() -> None:
    history = good()
    set_back(history, 17)
    history.clock_steps.clear()
    assert "wrong_slot" in of_slots(history)


def test_the_sweep_matches_as_many_windows_as_can_be_matched() -> None:
    """A delivery that fits two windows is given to the one that closes first."""
    windows = windows_of([NOON, NOON + seconds(1)], seconds(2))
    assert swept(windows, [NOON + seconds(1.5), NOON + seconds(2.5)]) == 2
    assert swept(windows, [NOON + seconds(2.5), NOON + seconds(2.6)]) == 1
    assert swept(windows, [NOON - seconds(1)]) == 0
