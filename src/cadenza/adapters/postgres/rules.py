"""Declared rules as they are stored: a form of their own, whatever documents become."""

import json
from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.rows import MILLISECOND
from cadenza.adapters.postgres.storable import to_json
from cadenza.domain.instants import milliseconds
from cadenza.domain.rule import Rule, RuleAction, Then


def rules_json(rules: Sequence[Rule]) -> str:
    return to_json([_stored(rule) for rule in rules])


@lru_cache(maxsize=10_000)
def rules_of(text: str) -> tuple[Rule, ...]:
    return tuple(_rule(stored) for stored in json.loads(text)) if text != "[]" else ()


def _stored(rule: Rule) -> dict[str, Any]:
    then = rule.then
    return {
        "id": str(rule.id),
        "name": rule.name,
        "endpoint": rule.endpoint,
        "when": rule.when,
        "runs": rule.runs,
        "then": {
            "action": then.action,
            "duration_ms": None if then.duration is None else milliseconds(then.duration),
            "at": then.at,
            "endpoint": then.endpoint,
        },
        "ttl_ms": milliseconds(rule.ttl),
        "cooldown_ms": milliseconds(rule.cooldown),
        "reason": rule.reason,
    }


def _rule(stored: dict[str, Any]) -> Rule:
    then = stored["then"]
    duration_ms: int | None = then["duration_ms"]
    duration: timedelta | None = None if duration_ms is None else duration_ms * MILLISECOND
    return Rule(
        name=stored["name"],
        when=stored["when"],
        then=Then(RuleAction(then["action"]), duration, then["at"], then["endpoint"]),
        endpoint=stored["endpoint"],
        runs=stored["runs"],
        ttl=stored["ttl_ms"] * MILLISECOND,
        cooldown=stored["cooldown_ms"] * MILLISECOND,
        reason=stored["reason"],
        id=UUID(stored["id"]),
    )
