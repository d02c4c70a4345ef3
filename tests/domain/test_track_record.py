"""What is known of an endpoint over all its latest runs."""

from datetime import datetime

import pytest

from cadenza.domain.run import RunStatus
from cadenza.domain.track_record import COUNTED_RUNS, Ending, TrackRecord, track_record_of
from tests.factories import NOON, minutes

WELL, FAILED, LATE, CANCELLED = (
    RunStatus.SUCCESS,
    RunStatus.FAILURE,
    RunStatus.TIMEOUT,
    RunStatus.CANCELLED,
)


def endings(*oldest_first: RunStatus) -> list[Ending]:
    """One a minute from noon on; newest first."""
    return [Ending(NOON + minutes(number), status) for number, status in enumerate(oldest_first)][
        ::-1
    ]


def test_an_endpoint_that_never_ran_has_no_record() -> None:
    assert track_record_of([], None) == TrackRecord(0)


def test_cancelled_runs_do_not_count() -> None:
    record = track_record_of(endings(WELL, CANCELLED, WELL), None)
    assert (record.runs, record.last_failure) == (2, None)


def test_the_last_failure_is_the_newest_one_with_its_kind() -> None:
    failed = Ending(NOON + minutes(9), FAILED, 503, "status")
    record = track_record_of([*endings(WELL)[::-1], failed, *endings(LATE)], None)
    assert record.last_failure == failed


@pytest.mark.parametrize(
    ("analysed_at", "failures"),
    [
        (None, None),
        (NOON - minutes(1), 0),
        (NOON, 0),
        (NOON + minutes(1), 1),
        (NOON + minutes(3), 2),
        (NOON + minutes(4), 0),
        (NOON + minutes(9), 1),
    ],
)
def test_the_failures_at_the_last_analysis_are_those_in_a_row_that_had_ended_then(
    analysed_at: datetime | None, failures: int | None
) -> None:
    past = endings(WELL, FAILED, CANCELLED, LATE, WELL, FAILED)
    assert track_record_of(past, analysed_at).failures_at_last_analysis == failures


def test_no_more_than_a_thousand_are_counted() -> None:
    assert track_record_of(endings(*[WELL] * (COUNTED_RUNS + 50)), None).runs == COUNTED_RUNS
