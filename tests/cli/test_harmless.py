"""What a server says cannot do anything to a terminal; instants are told as a person tells them."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.cli.terminal_text import json_text, plain, plain_lines, quoted
from cadenza.cli.times import Times, duration_text, relative

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANYTHING = st.text(st.characters(exclude_categories=()))


def _is_harmless(text: str) -> bool:
    return all(ord(letter) >= 32 and not 127 <= ord(letter) < 160 for letter in text)


@given(ANYTHING)
def test_nothing_that_a_terminal_obeys_is_left_in_a_text(text: str) -> None:
    assert _is_harmless(plain(text))
    plain(text).encode()
    assert _is_harmless(plain_lines(text).replace("\n", ""))


@given(st.recursive(ANYTHING | st.integers() | st.none(), st.lists))
def test_json_is_as_harmless_and_reads_back_as_the_same(value: object) -> None:
    written = json_text(value)
    assert _is_harmless(written)
    assert json.loads(written) == value


def test_a_text_that_turns_around_is_shown_as_it_is_written() -> None:
    assert plain("\x1b[31mred\u202egnp.exe") == "\\x1b[31mred\\u202egnp.exe"


def test_a_name_with_a_blank_can_be_typed_again() -> None:
    assert quoted("my shop/queue") == "'my shop/queue'"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "now"),
        (4, "in 4 s"),
        (-3, "3 s ago"),
        (240, "in 4 min"),
        (-7200, "2 h ago"),
        (86_400 * 3, "in 3 days"),
    ],
)
def test_instants_are_told_from_now(seconds: int, text: str) -> None:
    assert relative(NOON + timedelta(seconds=seconds), NOON) == text


def test_instants_are_shown_in_the_zone_of_the_person() -> None:
    paris = timezone(timedelta(hours=1))
    times = Times(NOON, lambda instant: instant.astimezone(paris))
    assert times.when("2026-03-01T12:04:00Z") == "13:04:00 (in 4 min)"
    assert times.when("2026-03-01T23:30:00Z") == "2026-03-02 00:30:00 (in 12 h)"
    assert times.when(None, "never") == "never"


def test_durations_are_told_with_a_unit_that_fits() -> None:
    assert [
        duration_text(milliseconds) for milliseconds in (None, 12.4, 1500, 90_000, 5_400_000)
    ] == [
        "–",
        "12 ms",
        "1.5 s",
        "90 s",
        "1 h 30 min",
    ]
