"""What an owner lets planners do, from documents to the domain and back."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from typing import Any, cast

from cadenza.domain.errors import InvalidInput
from cadenza.domain.planner_policy import RELAXED, USUAL, PlannerPolicy
from cadenza.domain.rule import Mode
from cadenza.manifest.durations import format_duration, is_zero, parse_duration
from cadenza.manifest.models import PlannerDocument

MODES = ("rules", "detectors", "llm")
_AS_WRITTEN = (
    "extra_runs", "model", "prompt", "tokens_per_day", "money_per_day", "tokens_per_session",
    "account",
)  # fmt: skip
# The older names of fields, and what takes their place.
_OLDER = {"mode": MODES, "budget": ("extra_runs",)}


def read_planner(document: PlannerDocument | None) -> PlannerPolicy:
    """What is left out has its usual value."""
    if document is None:
        return USUAL
    values: dict[str, Any] = {name: getattr(document, name) for name in _AS_WRITTEN}
    for name in MODES:
        word = getattr(document, name) or document.mode
        values[name] = Mode(word) if word is not None else None
    values["relax"] = _relax(document.relax)
    values["max_pause"] = _duration(document.max_pause)
    values["min_gap"] = _duration(document.min_gap)
    if document.budget is not None:
        values["extra_runs"] = _extra_runs(document)
    return PlannerPolicy(**{name: value for name, value in values.items() if value is not None})


def planner_document(policy: PlannerPolicy) -> dict[str, Any]:
    """What has its usual value is left out."""
    written = full_document(policy)
    return {
        name: written[name]
        for name in (field.name for field in fields(PlannerPolicy))
        if getattr(policy, name) != getattr(USUAL, name)
    }


def full_document(policy: PlannerPolicy) -> dict[str, Any]:
    """Everything; null where the tenant, the endpoint or the installation decides."""
    pause, relax = policy.max_pause, policy.relax
    return {
        **{name: mode and str(mode) for name in MODES for mode in [getattr(policy, name)]},
        "relax": {1.0: False, RELAXED: True}.get(relax, relax),
        "max_pause": format_duration(pause) if pause else (0 if pause is not None else None),
        "min_gap": format_duration(policy.min_gap),
        **{name: getattr(policy, name) for name in _AS_WRITTEN},
    }


def patched_planner(present: Mapping[str, Any], patch: Any) -> Any:
    """After a JSON merge patch: null takes a field away, another name of one replaces it."""
    if not isinstance(patch, dict):
        return patch
    changes = cast("dict[str, Any]", patch)
    replaced = {name for older, names in _OLDER.items() if changes.get(older) for name in names}
    rest = {name: value for name, value in present.items() if name not in replaced}
    return {name: value for name, value in {**rest, **changes}.items() if value is not None}


def _relax(written: bool | float | None) -> float | None:
    if written is None or isinstance(written, bool):
        return RELAXED if written else None
    return written


def _duration(written: int | str | None) -> timedelta | None:
    if written is None:
        return None
    return timedelta(0) if is_zero(written) else parse_duration(written)


def _extra_runs(document: PlannerDocument) -> float | None:
    """Of a budget, which counted the baseline's own runs."""
    budget = document.budget
    assert budget is not None
    if document.extra_runs is not None:
        fix = "extra_runs has taken its place; leave one of them out"
        raise InvalidInput("planner.budget", budget, fix)
    return budget - 1 if budget > 1 else None
