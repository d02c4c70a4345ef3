"""The governor decides as it did when the corpus was written; how to renew it: governor_corpus."""

from collections import Counter

import pytest

from tests.domain.governor_corpus import SIZE, Case, Decision, decide, make_cases, read_corpus

SHOWN = 5


@pytest.fixture(scope="module")
def corpus() -> list[tuple[Case, Decision]]:
    return read_corpus()


def difference(case: Case, before: Decision, now: Decision) -> str:
    lines = [f"    {name}: {value}" for name, value in case.items()]
    lines.extend(
        f"  {name} was {before[name]}, is {now[name]}"
        for name in before
        if before[name] != now[name]
    )
    return "\n".join(lines)


def test_every_decision_of_the_corpus_is_made_again(corpus: list[tuple[Case, Decision]]) -> None:
    different = [
        difference(case, before, now) for case, before in corpus if (now := decide(case)) != before
    ]
    shown = "\n\n".join(different[:SHOWN])
    assert not different, f"{len(different)} of {len(corpus)} decisions differ, first:\n{shown}"


def test_the_corpus_holds_the_cases_of_its_generator(corpus: list[tuple[Case, Decision]]) -> None:
    assert [case for case, _ in corpus] == make_cases()
    assert len(corpus) == SIZE


def test_the_corpus_has_seen_every_source_that_the_governor_gives(
    corpus: list[tuple[Case, Decision]],
) -> None:
    sources = Counter(decision["source"] for _, decision in corpus)
    assert set(sources) == {
        None,
        "baseline-cron",
        "baseline-interval",
        "ai-interval",
        "ai-oneshot",
        "clamped-min",
        "clamped-max",
        "retry-after",
        "paused",
    }
    assert min(sources.values()) >= 30
