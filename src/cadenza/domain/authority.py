"""Who may overwrite whom: a person, then a declared rule, then a model, then a detector."""

from enum import IntEnum
from uuid import UUID

from cadenza.domain.hint import Author, Hint, Pause
from cadenza.domain.rule import Mode, Modes


class Authority(IntEnum):
    """The higher may replace, clear and shorten what the lower set, and equals each other's."""

    DETECTOR = 1
    MODEL = 2
    RULE = 3
    PERSON = 4


def of_planner(brain: str | None, rule_id: UUID | None) -> Authority:
    """A detector is what the brain of rules does without a declared rule."""
    if rule_id is not None:
        return Authority.RULE
    return Authority.DETECTOR if brain in (None, "rules") else Authority.MODEL


def of_hint(hint: Hint) -> Authority:
    if hint.author is Author.PERSON:
        return Authority.PERSON
    return of_planner(hint.brain, hint.rule_id)


def of_pause(pause: Pause) -> Authority:
    """Of a planner; a person's is kept apart from it."""
    return of_planner(pause.brain, pause.rule_id)


def mode_of(authority: Authority, modes: Modes) -> Mode:
    """What it may do with a job; nobody asks a person."""
    by_authority = {
        Authority.DETECTOR: modes.detectors,
        Authority.MODEL: modes.llm,
        Authority.RULE: modes.rules,
    }
    return by_authority.get(authority, Mode.ACT)
