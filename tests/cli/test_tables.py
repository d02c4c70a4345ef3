"""Tables fit: columns go by their rank, texts are cut before names, and ids stay as they are."""

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.cli.graphs import workers_here
from cadenza.cli.runs import run_columns
from cadenza.cli.tables import GAP, LEAST_ENDPOINT, Column, fitted, short_ids, shorter_endpoint

NAME = Column("name", str)
TEXT = Column("why", str, is_text=True)
ID = Column("id", str, is_id=True)
FIRST, SECOND = Column("a", str, rank=1), Column("b", str, rank=2)
COLUMNS = [NAME, FIRST, SECOND, TEXT, ID]


def test_a_run_tells_why_beside_a_long_id() -> None:
    columns = run_columns(cast("Any", None), cast("Any", None), cast("Any", None))
    # Two that were due in the same millisecond, at 80 columns.
    fit = fitted(columns, [8, 10, 7, 7, 6, 26, 18], 80)
    assert fit.dropped == ["took"]


def test_a_worker_that_is_away_is_not_counted_with_a_graph() -> None:
    assert workers_here({"workers": [{"state": "away"}, {"state": "ready"}]}) == 1


def test_where_there_is_room_nothing_is_left_out_or_cut() -> None:
    fit = fitted(COLUMNS, [10, 5, 5, 30, 13], 100)
    assert (list(fit.widths), fit.dropped) == ([10, 5, 5, 30, 13], [])


def test_a_text_is_cut_before_a_column_goes() -> None:
    fit = fitted(COLUMNS, [10, 5, 5, 60, 13], 80)
    assert fit.dropped == []
    assert sum(fit.widths) + GAP * 4 == 80


def test_the_highest_rank_goes_first() -> None:
    assert fitted(COLUMNS, [30, 5, 5, 60, 13], 74).dropped == ["b"]
    assert fitted(COLUMNS, [30, 5, 5, 60, 13], 66).dropped == ["a", "b"]


def test_a_name_is_cut_only_where_nothing_else_is_left_and_an_id_never() -> None:
    fit = fitted(COLUMNS, [60, 5, 5, 60, 13], 60)
    assert fit.dropped == ["a", "b"]
    assert list(fit.widths) == [60 - 16 - 13 - 2 * GAP, 16, 13]


def test_without_a_limit_everything_is_as_wide_as_it_is() -> None:
    assert list(fitted(COLUMNS, [60, 5, 5, 600, 36], None).widths) == [60, 5, 5, 600, 36]


@pytest.mark.parametrize(
    ("width", "cell"),
    [
        (30, "platform-observability/queue-1"),
        (16, "platfor…/queue-1"),
        (10, "p…/queue-1"),
        (8, "…/queue-1"),  # which the table cuts at its end
    ],
)
def test_of_an_endpoint_the_job_is_cut_before_its_own_name(width: int, cell: str) -> None:
    assert shorter_endpoint("platform-observability/queue-1", width) == cell


def test_a_reason_stays_readable_beside_a_long_endpoint() -> None:
    endpoint = Column("endpoint", str, is_endpoint=True)
    fit = fitted([Column("state", str), endpoint, Column("since", str), TEXT], [6, 46, 9, 60], 80)
    assert list(fit.widths) == [6, LEAST_ENDPOINT, 9, 80 - 6 - 9 - LEAST_ENDPOINT - 3 * GAP]
    narrow = fitted([endpoint, TEXT], [46, 60], 50)
    assert list(narrow.widths) == [LEAST_ENDPOINT, 50 - GAP - LEAST_ENDPOINT]


@given(st.lists(st.integers(1, 200), min_size=5, max_size=5), st.integers(60, 200))
def test_a_table_is_never_wider_than_its_room(natural: list[int], room: int) -> None:
    natural[4] = min(natural[4], 36)
    fit = fitted(COLUMNS, natural, room)
    assert sum(fit.widths) + GAP * (len(fit.widths) - 1) <= room


@pytest.mark.parametrize(
    ("ids", "length"),
    [
        (["01a1ece2-aff1-7cb8-9d11-39087edb9677", "01a1ece2-aff2-7cb8-9d11-39087edb9677"], 13),
        (["01a1ece2-aff1-7cb8-9d11-39087edb9677", "01a1ece2-aff1-7cb9-9d11-39087edb9677"], 18),
        (["01a1ece2-aff1-7cb8-9d11-39087edb9677"] * 2, 13),
        (["01a1ece2-aff1-7cb8-9d11-39087edb9677", "01a1ece2-aff1-7cb8-9d11-39087edb9678"], 36),
    ],
)
def test_an_id_is_as_short_as_tells_it_from_the_others(ids: list[str], length: int) -> None:
    assert [len(text) for text in short_ids(ids)] == [length] * len(ids)
