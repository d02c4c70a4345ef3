"""Who asked for a run, as a list of runs says it."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from cadenza.application.ports.catalogue import StoredEndpoint
from cadenza.application.ports.run_authors import (
    HINTS,
    RunAuthor,
    Slot,
    SteeredRun,
    authors_of_runs,
)
from cadenza.application.score_steering import steered_by
from cadenza.domain.endpoint import fresh_hints
from cadenza.domain.plan import Source
from cadenza.domain.score import SteeredBy
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.dashboard.words import family, source_words

_WHOSE = {SteeredBy.RULE: "a rule", SteeredBy.MODEL: "the model", SteeredBy.DETECTOR: "a detector"}


async def authors_of(
    dependencies: Dependencies, runs: Iterable[SteeredRun]
) -> Mapping[Slot, RunAuthor]:
    return await authors_of_runs(dependencies.reads.run_authors, runs)


def asked_words(run: Any, author: RunAuthor | None, me: UUID | None) -> str:
    """`Hint by you`, `Hint by rule deep queue`, `By hand, ann`."""
    if author is None:
        return source_words("manual" if run.is_manual else run.source)
    who = _who(author, me)
    return f"By hand, {who}" if run.is_manual else f"Hint by {who}"


def family_of(run: Any, author: RunAuthor | None) -> str:
    """The family that the score draws it in, where its hint is still known."""
    if run.is_manual:
        return family("manual")
    if run.source is Source.AI_INTERVAL and author is not None and author.tightens is False:
        return "relaxed"
    return family(run.source)


def _who(author: RunAuthor, me: UUID | None) -> str:
    if author.by is SteeredBy.PERSON:
        return "you" if author.user_id == me else author.name or "a person"
    if author.by is SteeredBy.RULE and author.name:
        return f"rule {author.name}"
    return _WHOSE[author.by]


def next_asked_words(stored: StoredEndpoint, me: UUID | None, source: Source | None = None) -> str:
    """Of an endpoint's next run, or of a later one with this source. Which rule it is, is told
    where there is room for it."""
    source = source or stored.next_source
    interval, once = fresh_hints(stored.endpoint, stored.read_at)
    hint = interval if source is Source.AI_INTERVAL else once
    if source not in HINTS or hint is None:
        return source_words(source)
    by = steered_by(hint.author, hint.brain, hint.rule_id)
    return f"Hint by {_who(RunAuthor(by, None, hint.user_id), me)}"
