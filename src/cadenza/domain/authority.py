"""Who may overwrite whom: a person, then a declared rule, then a model, then a detector.

What a higher one set stays until it expires: each hint and the pause by themselves. Who set it is
data with it (author, rule, brain), never read from a reason's text.
"""

from enum import IntEnum
from uuid import UUID

from cadenza.domain.errors import LeftAlone
from cadenza.domain.hint import Author, Hint, Pause
from cadenza.domain.instants import humanize_until
from cadenza.domain.rule import Mode, Modes


class Authority(IntEnum):
    """The higher may replace, clear and shorten what the lower set, and equals each other's."""

    DETECTOR = 1
    MODEL = 2
    RULE = 3
    PERSON = 4


_NAMES = {
    Authority.DETECTOR: "a detector's",
    Authority.MODEL: "the model's",
    Authority.RULE: "a declared rule's",
    Authority.PERSON: "a person's",
}


def authority_of(author: Author, brain: str | None, rule_id: UUID | None) -> Authority:
    """A detector is what every brain but a model does without a declared rule."""
    if author is Author.PERSON:
        return Authority.PERSON
    if rule_id is not None:
        return Authority.RULE
    return Authority.MODEL if brain == "llm" else Authority.DETECTOR


def author_of(advice: Hint | Pause) -> Authority:
    """A pause by a person has a field of its own, and is not asked for here."""
    author = advice.author if not isinstance(advice, Pause) else Author.PLANNER
    return authority_of(author, advice.brain, advice.rule_id)


def may_overwrite(authority: Authority, present: Hint | Pause | None) -> bool:
    return present is None or authority >= author_of(present)


def check_may_overwrite(authority: Authority, present: Hint | Pause | None) -> None:
    if present is not None and not may_overwrite(authority, present):
        raise LeftAlone(describe(present))


def describe(advice: Hint | Pause) -> str:
    """`the model's hint until 2026-03-02T12:40:00Z`."""
    is_pause = isinstance(advice, Pause)
    kind, end_at = ("pause", advice.until_at) if is_pause else ("hint", advice.expires_at)
    return f"{_NAMES[author_of(advice)]} {kind} {humanize_until(end_at)}"


def mode_of(authority: Authority, modes: Modes) -> Mode:
    """What it may do with a job; nobody asks a person."""
    by_authority = {
        Authority.DETECTOR: modes.detectors,
        Authority.MODEL: modes.llm,
        Authority.RULE: modes.rules,
    }
    return by_authority.get(authority, Mode.ACT)
