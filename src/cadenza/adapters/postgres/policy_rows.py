"""What an owner lets planners do, in a form of its own, whatever documents become.

What has its usual value is not stored, and what this version does not know is left alone, so that a
stricter check of what people write never makes an old row unreadable.
"""

import json
from dataclasses import fields
from functools import lru_cache
from typing import Any

from cadenza.adapters.postgres.rows import MILLISECOND, Row, ms
from cadenza.domain.planner_policy import USUAL, PlannerPolicy
from cadenza.domain.rule import Mode, Modes

_MODES = ("rules", "detectors", "llm")
_DURATIONS = ("max_pause", "min_gap")
_NAMES = tuple(field.name for field in fields(PlannerPolicy))


@lru_cache(maxsize=10_000)
def policy_of(text: str) -> PlannerPolicy:
    stored: dict[str, Any] = json.loads(text)
    if not stored:
        return USUAL
    values = {name: stored[name] for name in _NAMES if name in stored}
    values |= {name: Mode(stored[name]) for name in _MODES if name in stored}
    values |= {
        name: stored[f"{name}_ms"] * MILLISECOND for name in _DURATIONS if f"{name}_ms" in stored
    }
    return PlannerPolicy(**values)


def modes_of(row: Row) -> Modes:
    """Of a tenant."""
    return Modes(*(Mode(row[f"{name}_mode"]) for name in ("rules", "llm", "detectors")))


def stored_policy(policy: PlannerPolicy) -> dict[str, Any]:
    declared = {
        name: value for name in _NAMES if (value := getattr(policy, name)) != getattr(USUAL, name)
    }
    durations = {name: declared.pop(name) for name in _DURATIONS if name in declared}
    return declared | {f"{name}_ms": ms(duration) for name, duration in durations.items()}
