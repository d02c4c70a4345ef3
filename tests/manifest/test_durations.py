from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.manifest.durations import format_duration, parse_duration

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("5m", timedelta(minutes=5)),
        ("1h30m", timedelta(minutes=90)),
        ("90s", timedelta(seconds=90)),
        ("250ms", timedelta(milliseconds=250)),
        ("1m5ms", timedelta(minutes=1, milliseconds=5)),
        ("2w", 14 * DAY),
        (" 1D ", DAY),
        ("1w1d1h1m1s1ms", timedelta(8, 3661, milliseconds=1)),
        (1500, timedelta(seconds=1.5)),
    ],
)
def test_a_duration_is_read_as_people_write_it(written: int | str, meant: timedelta) -> None:
    assert parse_duration(written) == meant


@pytest.mark.parametrize(
    "written",
    [
        "", " ", "5", "m", "5 m", "5min", "-5m", "+5m", "1.5h", "1e3s", "5m1h", "5m5m", "0s", "0",
        "٥m", "5µs", "5m\0", "5m\n5s", "9" * 13 + "s", "1s" * 100, "999999999999w", "PT5M", "5M S",
        "5m;", 0, -1, 10**30,
    ],
)  # fmt: skip
def test_what_is_no_duration_is_refused_with_examples(written: int | str) -> None:
    with pytest.raises(ValueError, match='write "5m"'):
        parse_duration(written)


@settings(deadline=None)
@given(st.integers(1, 366 * 86_400_000))
def test_what_is_written_reads_back_as_the_same_duration(count: int) -> None:
    duration = timedelta(milliseconds=count)
    assert parse_duration(format_duration(duration)) == duration


@settings(deadline=None)
@given(st.text(max_size=60))
def test_whatever_is_typed_ends_as_a_duration_or_as_advice(text: str) -> None:
    with suppress(ValueError):
        assert parse_duration(text) > timedelta(0)


@pytest.mark.parametrize(
    ("duration", "written"),
    [
        (timedelta(days=10), "10d"),
        (timedelta(days=14), "2w"),
        (timedelta(seconds=90), "1m30s"),
        (timedelta(hours=24), "1d"),
        (timedelta(0), "0ms"),
        (timedelta(seconds=1, milliseconds=1), "1s1ms"),
    ],
)
def test_a_duration_is_written_shortly(duration: timedelta, written: str) -> None:
    assert format_duration(duration) == written
