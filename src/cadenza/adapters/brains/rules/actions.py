"""What a rule that holds asks of its target: one tool call, or none where it is so already."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from cadenza.adapters.brains.rules.proposal import Proposal
from cadenza.application.ports.expressions import Expressions
from cadenza.application.rule_judging import instant_of
from cadenza.application.rule_values import Values
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.bounds import (
    MAX_INTERVAL,
    MAX_PAUSE,
    MIN_INTERVAL,
    MIN_TTL,
    bounded,
    longest_ttl,
)
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint, fresh_hints
from cadenza.domain.governor import floor_at
from cadenza.domain.hint import Author, Hint
from cadenza.domain.instants import humanize, iso, milliseconds
from cadenza.domain.rule import Rule, RuleAction

_MINUTE = timedelta(minutes=1)
_SAME_INSTANT = timedelta(seconds=1)


def act_of(
    rule: Rule,
    target: Endpoint,
    context: AnalysisContext,
    values: Values,
    expressions: Expressions,
    cron: Cron,
) -> Proposal | str | None:
    """None where nothing has to change; text where the rule's own instant cannot be told."""
    then, now = rule.then, context.now
    if then.action is RuleAction.INTERVAL:
        return _interval(rule, target, context, cron)
    if then.action is RuleAction.PAUSE:
        return _pause(rule, target, context)
    if then.action is RuleAction.RESUME:
        return _resume(rule, target, context)
    if then.action is RuleAction.CLEAR:
        return _clear(rule, target, context)
    if then.action is RuleAction.RUN_NOW:
        return _run_now(rule, target, context, cron)
    run_at: datetime | str | None = now + (then.duration or timedelta(0))
    if then.at is not None:
        run_at = instant_of(then.at, values, expressions)
    if not isinstance(run_at, datetime):
        return run_at
    return _run_at(rule, run_at, target, context, cron)


def wrote(rules: Sequence[Rule], endpoint: Endpoint, now: datetime) -> bool:
    """Whether what steers the endpoint at present was written by one of these rules."""
    present: list[Any] = [each for each in fresh_hints(endpoint, now) if each is not None]
    if endpoint.planner_pause is not None and endpoint.planner_pause.until_at > now:
        present.append(endpoint.planner_pause)
    if not present:
        return False
    ids = {rule.id for rule in rules}
    return any(each.rule_id is not None and each.rule_id in ids for each in present)


def _interval(
    rule: Rule, target: Endpoint, context: AnalysisContext, cron: Cron
) -> Proposal | None:
    assert rule.then.duration is not None
    now, hint = context.now, fresh_hints(target, context.now)[0]
    wanted = bounded("", rule.then.duration, MIN_INTERVAL, MAX_INTERVAL).value
    ttl = bounded("", rule.ttl, MIN_TTL, longest_ttl(target, now, cron)).value
    if hint is not None:
        is_same = hint.interval == wanted
        if _is_a_persons(hint) or (is_same and not _runs_out(hint.expires_at, ttl, context)):
            return None
    said = f"it runs every {humanize(wanted)} for {humanize(ttl)}"
    asked = {"interval_ms": milliseconds(wanted), "ttl_minutes": ttl / _MINUTE}
    return _proposal("propose_interval", asked, said, rule, target, context)


def _run_now(rule: Rule, target: Endpoint, context: AnalysisContext, cron: Cron) -> Proposal | None:
    """A sibling that cools down is left alone: the next answer may have no reason any more.
    The endpoint itself has just run, and runs again as soon as it may."""
    floor = floor_at(target, target.last_run_at)
    cools = floor is not None and floor[0] > context.now
    if target.in_flight or (cools and target.id != context.endpoint.id):
        return None
    return _run_at(rule, context.now, target, context, cron)


def _run_at(
    rule: Rule, run_at: datetime, target: Endpoint, context: AnalysisContext, cron: Cron
) -> Proposal | None:
    now, hint = context.now, fresh_hints(target, context.now)[1]
    longest = longest_ttl(target, now, cron)
    if run_at < now or target.paused_until(now) is not None or run_at - now >= longest - _MINUTE:
        return None  # past, paused, or so far off that a later answer is early enough
    if hint is not None:
        keeps = (
            rule.then.action is not RuleAction.RUN_AT or abs(hint.run_at - run_at) < _SAME_INSTANT
        )
        if keeps or _is_a_persons(hint):
            return None
    ttl = min(max(rule.ttl, run_at - now + _MINUTE), longest)
    floor = floor_at(target, target.last_run_at)
    if floor is not None and floor[0] >= now + ttl:
        return None  # its min, or the target's own wish to wait, lasts longer than the hint
    is_now = rule.then.action is RuleAction.RUN_NOW
    when = {"next_run_in_ms": 0} if is_now else {"next_run_at_iso": iso(run_at)}
    said = "it runs now" if is_now else f"it runs at {iso(run_at)}"
    asked = {**when, "ttl_minutes": ttl / _MINUTE}
    return _proposal("propose_next_time", asked, said, rule, target, context)


def _pause(rule: Rule, target: Endpoint, context: AnalysisContext) -> Proposal | None:
    assert rule.then.duration is not None
    length = min(rule.then.duration, MAX_PAUSE)
    present = target.planner_pause
    if present is not None and not _runs_out(present.until_at, length, context):
        return None
    until = {"until_iso": iso(context.now + length)}
    said = f"it pauses for {humanize(length)}"
    return _proposal("pause_until", until, said, rule, target, context)


def _resume(rule: Rule, target: Endpoint, context: AnalysisContext) -> Proposal | None:
    now, present, persons = context.now, target.planner_pause, target.person_pause
    if present is None or present.until_at <= now:
        return None
    if persons is not None and persons.until_at > now:
        return None
    return _proposal("pause_until", {"until_iso": None}, "its pause ends", rule, target, context)


def _clear(rule: Rule, target: Endpoint, context: AnalysisContext) -> Proposal | None:
    hints = fresh_hints(target, context.now)
    if all(hint is None or _is_a_persons(hint) for hint in hints):
        return None
    return _proposal("clear_hints", {}, "its hints are dropped", rule, target, context)


def _runs_out(expires_at: datetime, lasts: timedelta, context: AnalysisContext) -> bool:
    """When half of its time is over, or before this endpoint answers again."""
    next_run_at = context.endpoint.next_run_at
    if next_run_at is not None and expires_at <= next_run_at:
        return True
    return expires_at - context.now < lasts / 2


def _proposal(
    tool: str,
    arguments: dict[str, Any],
    said: str,
    rule: Rule,
    target: Endpoint,
    context: AnalysisContext,
) -> Proposal:
    other = {} if target.id == context.endpoint.id else {"endpoint": target.name}
    whose = f"{target.name}: " if other else ""
    reason = f"Rule {rule.name}: {rule.reason}" if rule.reason else f"Rule {rule.name}"
    sentence = f"{reason} ({whose}{said})"
    return Proposal(tool, {**arguments, **other, "reason": reason}, sentence, rule_id=rule.id)


def _is_a_persons(hint: Hint) -> bool:
    return hint.author is Author.PERSON
