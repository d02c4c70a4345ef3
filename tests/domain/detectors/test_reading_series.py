"""The fast way to read numbers out of answers finds what the plain way does."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cadenza.domain.analysis import Response
from cadenza.domain.detectors.series import MOST_FIELDS, is_usual, number_of, series_of
from cadenza.domain.run import RunStatus
from tests.factories import NOON, minutes

ODD = [None, True, False, "7", float("nan"), float("inf"), 10**400, -(10**400), 1e300, [1], {}]
VALUES = st.integers(-3, 3) | st.floats(-5, 5) | st.just(7)
NAMES = st.sampled_from([f"m{n}" for n in range(MOST_FIELDS + 3)])
FULL = st.fixed_dictionaries({f"m{n}": VALUES for n in range(MOST_FIELDS + 3)})
ONE = st.fixed_dictionaries({"depth": VALUES})
STRANGE = st.dictionaries(NAMES, VALUES | st.sampled_from(ODD)) | st.sampled_from([None, "x", [1]])
STATUS = st.sampled_from([RunStatus.SUCCESS, RunStatus.SUCCESS, RunStatus.FAILURE])


def answers(bodies: list[Any], statuses: list[RunStatus]) -> list[Response]:
    """Newest first."""
    return [
        Response(NOON - minutes(n), NOON - minutes(n), status, body)
        for n, (body, status) in enumerate(zip(bodies, statuses, strict=False))
    ]


def plainly(recent: list[Response]) -> list[tuple[str, list[tuple[Any, Any]]]]:
    newest = recent[0].body if isinstance(recent[0].body, dict) else {}
    names = [name for name, value in newest.items() if number_of(value) is not None]
    found: list[tuple[str, list[tuple[Any, Any]]]] = []
    for name in names[:MOST_FIELDS]:
        points: list[tuple[Any, Any]] = []
        for each in reversed(recent):
            value = each.body.get(name) if isinstance(each.body, dict) else None
            if each.is_well and number_of(value) is not None:
                points.append((value, each.slot_at))
        if len({value for value, _ in points}) > 1:
            found.append((name, points))
    return found


@given(
    bodies=st.lists(FULL, min_size=1, max_size=6)
    | st.lists(ONE, min_size=1, max_size=6)
    | st.lists(FULL | STRANGE, min_size=1, max_size=6),
    statuses=st.lists(STATUS, min_size=6, max_size=6),
)
def test_every_number_that_moved_is_found_with_all_its_points(
    bodies: list[Any], statuses: list[RunStatus]
) -> None:
    recent = answers(bodies, statuses)
    found = [
        (each.name, list(zip(each.values, each.times, strict=True))) for each in series_of(recent)
    ]
    assert found == plainly(recent)


@given(value=VALUES, values=st.lists(VALUES, min_size=1, max_size=60))
def test_usual_is_what_more_than_a_tenth_reach_from_either_side(
    value: float, values: list[float]
) -> None:
    cut = len(values) // 10
    below, above = sum(v <= value for v in values), sum(v >= value for v in values)
    assert is_usual(value, values) is (below > cut and above > cut)
