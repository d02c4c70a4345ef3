"""Events are the same, however a stream is cut into pieces, and cost no more than their bytes."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.adapters.gateway.events import EventBuffer, EventTooLong

STREAM = (
    b": a comment\n\nevent: a\r\ndata: 1\r\n\r\ndata:2\ndata: 3\n\n\n\n"
    b"data: 4\r\rid: 5\n\ndata: [DONE]"
)


def events_of(pieces: list[bytes]) -> tuple[bytes, list[bytes]]:
    buffer = EventBuffer()
    events = [event for piece in pieces for event in buffer.feed(piece)]
    if (rest := buffer.rest()) is not None:
        events.append(rest)
    return b"".join(event.raw for event in events), [event.data for event in events if event.data]


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_pieces_make_no_difference_and_nothing_is_lost(cuts: list[int]) -> None:
    at = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[begin:end] for begin, end in itertools.pairwise(at)]
    assert events_of(pieces) == (STREAM, [b"1", b"2\n3", b"4", b"[DONE]"])


@given(st.lists(st.binary(max_size=50), max_size=20))
def test_no_bytes_are_lost_or_made_up(pieces: list[bytes]) -> None:
    assert events_of(pieces)[0] == b"".join(pieces)


def test_an_event_may_be_as_long_as_the_limit_and_no_longer() -> None:
    buffer = EventBuffer(limit=100)
    assert list(buffer.feed(b"x" * 100)) == []
    with pytest.raises(EventTooLong, match="100"):
        list(buffer.feed(b"x"))


def test_a_long_stream_in_small_pieces_is_searched_once() -> None:
    """One byte at a time, and none of them ends an event: quadratic would be many minutes."""
    buffer = EventBuffer()
    for _ in range(200_000):
        assert not list(buffer.feed(b"x"))
    (event,) = buffer.feed(b"\n\n")
    assert len(event.raw) == 200_002


def test_many_events_in_one_piece() -> None:
    event = b"data: " + json.dumps({"a": 1}).encode() + b"\n\n"
    buffer = EventBuffer()
    assert len(list(buffer.feed(event * 20_000))) == 20_000
    assert buffer.rest() is None
