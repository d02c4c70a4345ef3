"""Detectors about what answers say: waiting, coordination, staleness."""

from datetime import timedelta
from typing import Any

import pytest

from cadenza.domain.detectors.case import Want
from cadenza.domain.detectors.coordination import coordination
from cadenza.domain.detectors.staleness import staleness
from cadenza.domain.detectors.waiting import waiting
from cadenza.domain.endpoint import OnDemand
from cadenza.domain.hint import Pause
from cadenza.domain.instants import iso
from tests.domain.detectors.cases import PACE, answer, case, sibling
from tests.factories import NOON, minutes, one_shot

# --- Waiting ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "until"),
    [
        ({"cooldown_until": iso(NOON + minutes(15))}, minutes(15)),
        ({"cache_cooldown_until": iso(NOON + minutes(15))}, minutes(15)),
        ({"next_allowed_at": iso(NOON + timedelta(days=9))}, timedelta(days=1)),
        ({"cooldown_until": iso(NOON - minutes(15))}, None),
        ({"cooldown_until": "2026-03-02T13:00:00"}, None),
        ({"cooldown_until": "soon"}, None),
        ({"retry_after": 120}, minutes(2)),
        ({"retry_after_seconds": 1e12}, minutes(60)),
        ({"retry_after": -5}, None),
        ({"dependency_status": "unavailable"}, 2 * PACE),
        ({"dependency_status": "DOWN"}, 2 * PACE),
        ({"dependency_status": "healthy"}, None),
        ({"dependency_status": None}, None),
        ({"retry_after": 60, "cooldown_until": iso(NOON + minutes(5))}, minutes(5)),
        ("not an object", None),
    ],
)
def test_an_answer_that_asks_to_wait_is_heeded(body: Any, until: timedelta | None) -> None:
    found = waiting(case([body]), PACE)
    assert (found and found.until_at) == (None if until is None else NOON + until)


def test_a_failure_is_watched_and_not_slept_through() -> None:
    body = {"dependency_status": "down", "cooldown_until": iso(NOON + minutes(15))}
    assert waiting(case([answer(body, ok=False, code=500)]), PACE) is None


def test_one_that_was_told_to_come_back_later_does() -> None:
    found = waiting(case([answer({"retry_after": 120}, ok=False, code=429)]), PACE)
    assert found is not None
    assert found.until_at == NOON + minutes(2)


# --- Coordination -------------------------------------------------------------------------------

READY = {"ready_for_processing": True}


def waits(siblings: list[Any], **fields: Any) -> bool:
    found = coordination(
        case(siblings=siblings, **{"name": "processor", "baseline": OnDemand(), **fields})
    )
    return found is not None and found.want is Want.RUN


@pytest.mark.parametrize(
    ("body", "is_started"),
    [
        (READY, True),
        ({"batch_ready": True}, True),
        ({"data_available": True}, True),
        ({"ready_for_processing": 1500}, True),
        ({"ready_for_processing": False}, False),
        ({"ready_for_processing": 0}, False),
        ({"ready_for_processing": "true"}, False),
        ({"already": True}, False),
        (None, False),
    ],
)
def test_a_sibling_that_says_it_is_ready_starts_the_one_that_waits(
    body: Any, is_started: bool
) -> None:
    assert waits([sibling("fetcher", body)]) is is_started


def test_what_runs_by_itself_is_not_started() -> None:
    assert not coordination(case(siblings=[sibling("fetcher", READY)]))


def test_one_answer_starts_one_run() -> None:
    assert not waits([sibling("fetcher", READY, at=NOON - minutes(5))], last_slot_at=NOON)
    assert waits([sibling("fetcher", READY)], last_slot_at=NOON - minutes(5))


def test_what_is_paused_in_flight_or_about_to_run_is_left_alone() -> None:
    ready = [sibling("fetcher", READY)]
    assert not waits(ready, person_pause=Pause(NOON + minutes(5)))
    assert not waits(ready, running_slot_at=NOON)
    assert not waits(ready, one_shot_hint=one_shot(NOON, NOON + minutes(5)))


def test_among_several_that_wait_the_one_that_is_spoken_of_is_started() -> None:
    other = sibling("notifier", None, baseline=OnDemand())
    assert waits([sibling("fetcher", READY), other])
    assert not waits([sibling("fetcher", {"ready_for_loading": True}), other])


# --- Staleness ----------------------------------------------------------------------------------


def stamps(ages: list[float]) -> list[Any]:
    return [{"last_success_at": iso(NOON - minutes(age))} for age in ages]


@pytest.mark.parametrize(
    ("ages", "is_stale"),
    [
        ([100, 90, 80, 70, 60, 60, 60, 60], True),
        ([40, 30, 20, 10, 10, 10], False),
        ([60, 60, 60, 60, 60], False),
        ([100, 90, 80, 70, 60, 60, 0], False),
        ([], False),
    ],
)
def test_a_last_success_that_used_to_move_and_stands_still_is_stale(
    ages: list[float], is_stale: bool
) -> None:
    assert (staleness(case(stamps(ages)), PACE) is not None) is is_stale
