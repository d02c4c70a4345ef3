"""Whether a declared rule holds: of each of the last answers, and with the reason where not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from itertools import islice
from typing import Any, cast

from cadenza.application.expressions import yes_or_no
from cadenza.application.ports.expressions import Expressions, Owner, Question
from cadenza.application.rule_values import Values
from cadenza.domain.errors import InvalidInput, NothingThere
from cadenza.domain.rule import Rule

Path = tuple[str, ...]
NOT_SO = "it is not so"
_NOTHING = object()
_LISTED_FIELDS = 8
_COMPARED_FIELDS = 200  # an answer may have thousands, and comparing takes time


@dataclass(frozen=True, slots=True)
class Judged:
    """`trouble`: it does not hold because it has no yes or no, and somebody should know."""

    holds: bool
    why: str = ""
    trouble: bool = False
    missing: Path | None = None  # the field that is not there; that is no trouble
    index: int = 0  # of the answer that it does not hold of, newest first


_HOLDS = Judged(True)
_DOES_NOT_HOLD = Judged(False, NOT_SO)
_NO_ANSWER = Judged(False, "there is no answer yet")


async def judged(
    owner: Owner, cases: Sequence[tuple[Rule, Sequence[Values]]], expressions: Expressions
) -> list[Judged]:
    """Each rule on its answers, newest first; it has to hold of as many as the rule says, one after
    the other. All are asked together: of the newest answer, then of those before it."""
    judgements = [_HOLDS if answers else _NO_ANSWER for _, answers in cases]
    for first, last in ((0, 1), (1, None)):
        asked = [
            (number, index)
            for number, (rule, answers) in enumerate(cases)
            if judgements[number].holds
            for index in range(len(answers[: rule.runs]))[first:last]
        ]
        if not asked:
            break
        questions = [Question(cases[n][0].when, cases[n][1][index]) for n, index in asked]
        results = await expressions.evaluate(owner, questions)
        for (number, index), question, result in zip(asked, questions, results, strict=True):
            if judgements[number].holds:
                judgements[number] = _judged_once(question, index, result, expressions)
    return [_enough(judged, *case) for judged, case in zip(judgements, cases, strict=True)]


def _enough(judgement: Judged, rule: Rule, answers: Sequence[Values]) -> Judged:
    if judgement.holds and len(answers) < rule.runs:
        return Judged(False, f"it holds of {len(answers)} answers, and has to of {rule.runs}")
    return judgement


def _judged_once(question: Question, index: int, result: Any, expressions: Expressions) -> Judged:
    when, values = question
    try:
        if yes_or_no(when, result):
            return _HOLDS
    except InvalidInput as error:
        missing = missing_in(when, values, expressions)
        if missing is not None or isinstance(error, NothingThere):
            return Judged(False, error.fix, missing=missing, index=index)
        return Judged(False, error.fix + _kinds(when, values, expressions), True, index=index)
    return Judged(False, NOT_SO, index=index) if index else _DOES_NOT_HOLD


def why_not(judgement: Judged, answers: Sequence[Values]) -> str:
    """In words, with the nearest field that exists where one is missing."""
    why, index = judgement.why, judgement.index
    if judgement.missing is not None:
        why = describe_missing(judgement.missing, answers[index])
    return f"it held of the last {index}, before that: {why}" if index else why


async def instant_of(
    owner: Owner, expression: str, values: Values, expressions: Expressions
) -> datetime | str | None:
    """When a rule wants a run, in UTC; None where the answer does not say, or why it has none."""
    (value,) = await expressions.evaluate(owner, [Question(expression, values)])
    if isinstance(value, InvalidInput):
        is_missing = isinstance(value, NothingThere) or missing_in(expression, values, expressions)
        return None if is_missing else value.fix
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return f"{value[:40]!r} is no instant, such as 2026-01-31T12:00:00Z"
    if not isinstance(value, datetime):
        return None if value is None else f"it gives a {type(value).__name__}, not an instant"
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        return "it gives an instant out of all time"


def missing_in(expression: str, values: Mapping[str, Any], expressions: Expressions) -> Path | None:
    """The first field that the expression speaks of and the values do not have, or have as null."""
    paths = expressions.paths(expression)
    return next((path for path in paths if _value_at(path, values) in (_NOTHING, None)), None)


def describe_missing(path: Path, values: Values) -> str:
    """The part of the path that is not there, and the nearest that is."""
    for length, name in enumerate(path, start=1):
        value, written = _value_at(path[:length], values), ".".join(path[:length])
        if value is None:
            return f"{written} is null"
        if value is _NOTHING:
            return f"there is no {written}{_nearest(name, _value_at(path[: length - 1], values))}"
    return ""


def _kinds(expression: str, values: Mapping[str, Any], expressions: Expressions) -> str:
    """What each field is, for whoever compared text with a number."""
    paths = [path for path in expressions.paths(expression) if path[1:]][:_LISTED_FIELDS]
    kinds = [f"{'.'.join(path)} is {_kind(_value_at(path, values))}" for path in paths]
    return f" ({', '.join(kinds)})" if kinds else ""


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, datetime):
        return "an instant"
    return "a list" if isinstance(value, list) else "an object"


def _value_at(path: Path, values: object) -> object:
    for name in path:
        if not isinstance(values, Mapping):
            return _NOTHING
        values = cast("Mapping[str, object]", values).get(name, _NOTHING)
    return values


def _nearest(name: str, parent: object) -> str:
    if not isinstance(parent, Mapping):
        return ", for it has no answer" if parent is None else f", for it is {_kind(parent)}"
    keys = islice(cast("Mapping[Any, Any]", parent), _COMPARED_FIELDS)
    fields = [str(key)[:100] for key in keys]
    if near := get_close_matches(name, fields, n=1, cutoff=0.6):
        return f"; the nearest is {near[0]}"
    some = ", ".join(fields[:_LISTED_FIELDS])
    return f"; there is {some}" if some else ", and nothing else either"
