"""How the dashboard says what programs write."""

import pytest

from cadenza.domain.schedule import Concurrency
from cadenza.web.dashboard.words import (
    CONCURRENCY,
    call_words,
    detail_words,
    ending_words,
    month_words,
)


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(1.1240967333333334, "1 min 7 s"), (60, "1 h"), (90, "1 h 30 min"), (0.5, "30 s")],
)
def test_how_long_a_hint_lasts_is_said_as_far_as_it_matters(minutes: float, words: str) -> None:
    asked = {"interval_ms": 15_000, "ttl_minutes": minutes}
    assert call_words("propose_interval", asked) == f"Run every 15 s, for {words}"


def test_words_of_programs_are_said_plainly() -> None:
    assert month_words("2026-11") == "November 2026"
    assert ending_words("submitted") == "completed"
    assert ending_words("out-of-calls") == "out of calls"
    assert detail_words({"jobs": 2, "prune": False, "reason": ""}) == "jobs: 2; prune: no"
    assert set(CONCURRENCY) == set(Concurrency)
