"""Declared rules, from documents to the domain and back."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from cadenza.domain.errors import InvalidInput
from cadenza.domain.rule import DEFAULT_TTL, Rule, RuleAction, Then
from cadenza.manifest.durations import format_duration, parse_duration
from cadenza.manifest.models import RuleDocument, ThenDocument

_WITH_DURATION = (RuleAction.INTERVAL, RuleAction.RUN_IN, RuleAction.PAUSE)


def read_rules(documents: Sequence[RuleDocument]) -> tuple[Rule, ...]:
    """InvalidInput where one names no action, or several."""
    return tuple(_read_rule(rule, f"rules[{index}]") for index, rule in enumerate(documents))


def _read_rule(document: RuleDocument, path: str) -> Rule:
    return Rule(
        name=document.name,
        when=document.when,
        then=_read_then(document.then, path),
        endpoint=document.endpoint,
        runs=document.runs,
        ttl=parse_duration(document.ttl) if document.ttl is not None else DEFAULT_TTL,
        cooldown=parse_duration(document.cooldown) if document.cooldown else timedelta(0),
        reason=document.reason,
    )


def _read_then(document: ThenDocument, path: str) -> Then:
    actions = [name for name in RuleAction if getattr(document, name) not in (None, False)]
    if len(actions) != 1:
        names = " and ".join(actions) or "none of them"
        fix = f"give exactly one of {', '.join(RuleAction)}"
        raise InvalidInput(f"{path}.then", names, fix)
    [action] = actions
    value = getattr(document, action)
    return Then(
        action,
        duration=parse_duration(value) if action in _WITH_DURATION else None,
        at=value if action is RuleAction.RUN_AT else None,
        endpoint=document.endpoint,
    )


def rule_document(rule: Rule) -> dict[str, Any]:
    then = rule.then
    value = format_duration(then.duration) if then.duration is not None else then.at or True
    return without_empty(
        {
            "name": rule.name,
            "endpoint": rule.endpoint,
            "when": rule.when,
            "for": rule.runs if rule.runs > 1 else None,
            "then": without_empty({str(then.action): value, "endpoint": then.endpoint}),
            "ttl": format_duration(rule.ttl) if rule.ttl != DEFAULT_TTL else None,
            "cooldown": format_duration(rule.cooldown) if rule.cooldown else None,
            "reason": rule.reason,
        }
    )


def without_empty(document: Mapping[str, Any]) -> dict[str, Any]:
    """An empty body is still a body: with it the usual method is POST."""
    return {
        name: value
        for name, value in document.items()
        if value not in (None, "", [], {}) or (name == "body" and value is not None)
    }
