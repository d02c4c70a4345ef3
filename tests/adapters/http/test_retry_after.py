"""`Retry-After`, from targets that write anything there."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.adapters.http.retry_after import MOST, retry_after
from tests.factories import NOON, minutes, seconds


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("1", seconds(1)),
        ("3600", minutes(60)),
        ("  30  ", seconds(30)),
        ("0030", seconds(30)),
        ("0", None),
        ("-1", None),
        ("+5", None),
        ("1.5", None),
        ("1e3", None),
        ("NaN", None),
        ("٣", None),
        ("", None),
        ("999999999", MOST),
        ("9" * 8000, MOST),
        ("Mon, 02 Mar 2026 12:05:00 GMT", minutes(5)),
        ("Monday, 02-Mar-26 12:05:00 GMT", minutes(5)),
        ("Mon Mar  2 12:05:00 2026", minutes(5)),
        ("Mon, 02 Mar 2026 14:05:00 +0200", minutes(5)),
        ("Mon, 02 Mar 2026 12:05:00 -0000", minutes(5)),
        ("Mon, 02 Mar 2026 11:59:59 GMT", None),
        ("Mon, 02 Mar 2026 12:00:00 GMT", None),
        ("Fri, 31 Dec 9999 23:59:59 GMT", MOST),
        ("Fri, 31 Dec 9999 23:59:59 -2359", None),
        ("Sat, 01 Jan 0001 00:00:00 +2359", None),
        ("Mon, 32 Mar 2026 12:05:00 GMT", None),
        ("Mon, 02 Mar 99999999999 12:05:00 GMT", None),
        ("Mon, 02 Mar 2026 12:05:00 +9999999", None),
        ("tomorrow", None),
        ("a" * 8000, None),
    ],
)
def test_a_wait_is_read_or_left(header: str, expected: timedelta | None) -> None:
    assert retry_after(header, NOON) == expected


@settings(max_examples=500, derandomize=True, deadline=None, database=None)
@given(
    st.text(max_size=80)
    | st.from_regex(r"\A[A-Z][a-z]{2}, ?\d{1,3} [A-Z][a-z]{2} \d{1,5} \d+:\d+(:\d+)?( .*)?\Z")
)
def test_nothing_that_is_written_there_breaks_anything(header: str) -> None:
    wait = retry_after(header, NOON)
    assert wait is None or timedelta(0) < wait <= MOST
