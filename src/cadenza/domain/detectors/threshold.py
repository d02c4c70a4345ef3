"""A threshold that the answer itself names: `queue_depth` beside `queue_max`."""

from datetime import timedelta
from typing import Any

from cadenza.domain.detectors.case import Case, Finding
from cadenza.domain.detectors.series import fields_of, number_of, rounded

# How the name of a limit ends, and the share of it that counts as reached.
SUFFIXES = {"_warning_threshold": 1.0, "_threshold": 1.0, "_max": 0.9, "_limit": 0.9}
IN_A_ROW = 2  # answers: once is no reason to act


def threshold(case: Case, _pace: timedelta) -> Finding | None:
    crossed = crossings(case.body)
    for limit, share in crossed.items():
        newest = case.recent[:IN_A_ROW]
        reached = [limit in crossings(fields_of(response)) for response in newest]
        if len(reached) == IN_A_ROW and all(reached):
            name, value = _measured(case.body, limit) or ("", 0.0)
            most = rounded(float(case.body[limit]))
            near = "has reached" if share >= 1.0 else "is near"
            sentence = f"{name} is {rounded(value)} and {near} {limit}, which is {most}"
            return Finding("Threshold", sentence, confidence=0.9)
    return None


def crossings(body: dict[str, Any]) -> dict[str, float]:
    """The limits that an answer names and its own numbers have reached, each with the share."""
    crossed: dict[str, float] = {}
    for limit, most in body.items():
        suffix = _suffix(limit)
        allowed = number_of(most)
        if suffix is None or allowed is None or allowed <= 0:
            continue
        measured = _measured(body, limit)
        if measured is not None and measured[1] >= SUFFIXES[suffix] * allowed:
            crossed[limit] = measured[1] / allowed
    return crossed


def _measured(body: dict[str, Any], limit: str) -> tuple[str, float] | None:
    """What a limit is about: the first number whose name begins like it."""
    stem = limit.removesuffix(_suffix(limit) or "")
    for name, value in body.items():
        number = number_of(value)
        begins_alike = name == stem or name.startswith(f"{stem}_")
        if begins_alike and number is not None and _suffix(name) is None:
            return name, number
    return None


def _suffix(name: str) -> str | None:
    matches = (end for end in SUFFIXES if name.endswith(end) and len(name) > len(end))
    return next(matches, None)
