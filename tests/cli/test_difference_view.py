"""What a person reads of a difference, at 80 columns."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.cli.changed_words import changed_words
from cadenza.cli.difference_view import WIDTH, field_lines
from tests.effort import at_most

WHEN = (
    "has(response.body.queue_depth) && response.body.queue_depth > 300 && "
    "siblings.checkout.response.body.visitors_per_minute > 40 && health.failures_in_a_row < 3"
)


def lines(field: str, before: Any, after: Any) -> list[str]:
    return list(field_lines({"field": field, "before": before, "after": after}))


def test_what_fits_on_a_line_is_before_and_after() -> None:
    assert lines("every", "5m", "10m") == ["    every: 5m → 10m"]
    assert lines("success_statuses", [200], [200, 404]) == [
        "    success_statuses: [200] → [200, 404]"
    ]
    assert lines("timeout", None, "5s") == ["    timeout: 5s"]
    assert lines("timeout", "5s", None) == ["    timeout: 5s → (gone)"]
    assert lines("body", "", None) == ["    body:  → (gone)"]


def test_a_long_text_shows_the_words_that_changed_with_a_little_around_them() -> None:
    assert lines("rules.deep queue.when", WHEN, WHEN.replace("> 300", "> 400")) == [
        "    rules.deep queue.when:",
        "        …response.body.queue_depth > [-300-] {+400+} && siblings.checkout.respo…",
    ]


def test_changes_far_apart_have_a_line_each() -> None:
    after = WHEN.replace("300", "400").replace("< 3", "< 5") + " && now.hour > 6"
    _, first, second = lines("when", WHEN, after)
    assert "queue_depth > [-300-] {+400+} && " in first
    assert second.endswith("health.failures_in_a_row < [-3-] {+5 && now.hour > 6+}")


def test_words_that_come_or_go_stand_alone() -> None:
    [_, added] = lines("description", "Watch the queue. " * 5, "Watch the queue. " * 5 + "Daily.")
    assert added.endswith("Watch the queue. {+Daily.+}")
    [_, removed] = lines(
        "description", "Never. " + "Watch the queue. " * 5, "Watch the queue. " * 5
    )
    assert removed.startswith("        [-Never. -]Watch the queue.")


def test_a_long_word_that_differs_late_shows_where() -> None:
    token = "a" * 300
    [_, line] = lines("headers.X", f"{token}b{token}", f"{token}c{token}")
    removed, added = line.split("] {")
    assert removed.startswith("        [-…ba")
    assert added.startswith("+…ca")
    assert len(line) <= WIDTH


def test_many_places_are_counted_and_not_all_shown() -> None:
    words = [f"word{number} stays here" for number in range(30)]
    difference = lines("description", " ".join(words), " ".join(words).replace("stays", "goes"))
    assert len(difference) == 10
    assert difference[-1] == "        and in 22 more places"


def test_control_characters_and_line_ends_are_shown_as_escapes() -> None:
    before = "Watch the queue.\nScale early, and do not forget to scale back in when it is over.\n"
    [_, line] = lines("description", before, before.replace("early", "\x1b[31mlate"))
    assert "[-early-] {+\\x1b[31mlate+}" in line
    assert "queue.\\nScale [-early" in line


@pytest.mark.parametrize("longest", [10, 200])
def test_what_is_new_or_gone_is_cut_at_the_end(longest: int) -> None:
    for before, after in ((None, "x" * longest), ("x" * longest, None)):
        [line] = lines("description", before, after)
        assert len(line) <= WIDTH


texts = st.lists(st.sampled_from(["queue", "depth", " ", "\n", "> 300", "x" * 90, "é", "\x1b"]))


@settings(deadline=None)
@given(texts.map("".join), texts.map("".join))
def test_every_line_fits_and_no_change_is_left_out(before: str, after: str) -> None:
    difference = lines("description", before, after)
    assert all(len(line) <= WIDTH for line in difference)
    places = list(changed_words(before, after, WIDTH))
    assert bool(places) is (before != after)
    assert all("[-" in place or "{+" in place for place in places)


def test_large_texts_are_compared_in_a_moment() -> None:
    before = "queue depth, " * 20_000
    with at_most(5):
        list(changed_words(before, before.replace("queue", "stock"), WIDTH))
        list(changed_words(before[:15_000], before[:15_000].replace("queue", "stock"), WIDTH))
