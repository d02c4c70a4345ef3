"""What a rule that holds asks of its target: one tool call, or none where nothing would change."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from cadenza.adapters.brains.rules.proposal import Proposal
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.authority import Authority, author_of, may_overwrite
from cadenza.domain.bounds import (
    MAX_INTERVAL,
    MIN_INTERVAL,
    MIN_TTL,
    bounded,
    longest_pause,
    longest_ttl,
)
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint, fresh_hints
from cadenza.domain.governor import hint_floor_at
from cadenza.domain.instants import humanize, iso, milliseconds
from cadenza.domain.rule import Rule, RuleAction

_MINUTE = timedelta(minutes=1)


def proposal_of(
    rule: Rule,
    target: Endpoint,
    context: AnalysisContext,
    run_at: datetime | str | None,
    cron: Cron,
) -> Proposal | str | None:
    """None where nothing has to change; a text where the rule's own instant has none."""
    then = rule.then
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
    if isinstance(run_at, datetime):
        return _run_at(rule, run_at, target, context, cron)
    return run_at


def wrote(rules: Sequence[Rule], endpoint: Endpoint, now: datetime) -> bool:
    """Whether what steers the endpoint at present was written by one of these rules."""
    authors = {hint.rule_id for hint in fresh_hints(endpoint, now) if hint is not None}
    if endpoint.planner_pause is not None and endpoint.planner_pause.until_at > now:
        authors.add(endpoint.planner_pause.rule_id)
    return any(rule.id is not None and rule.id in authors for rule in rules)


def _interval(
    rule: Rule, target: Endpoint, context: AnalysisContext, cron: Cron
) -> Proposal | None:
    assert rule.then.duration is not None
    now, hint = context.now, fresh_hints(target, context.now)[0]
    wanted = bounded("", rule.then.duration, MIN_INTERVAL, MAX_INTERVAL).value
    ttl = bounded("", rule.ttl, MIN_TTL, longest_ttl(target, now, cron)).value
    if hint is not None:
        is_same = hint.interval == wanted and not _runs_out(hint.expires_at, ttl, context)
        if is_same or not may_overwrite(Authority.RULE, hint):
            return None
    effect = f"it runs every {humanize(wanted)} for {humanize(ttl)}"
    arguments = {"interval_ms": milliseconds(wanted), "ttl_minutes": ttl / _MINUTE}
    return _proposal("propose_interval", arguments, effect, rule, target, context)


def _run_now(rule: Rule, target: Endpoint, context: AnalysisContext, cron: Cron) -> Proposal | None:
    """A sibling in its min interval is left alone: the next answer may not ask for it any more.
    The endpoint itself has just run, and runs again as soon as it may."""
    floor = hint_floor_at(target, target.last_run_at)
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
        is_same = abs(hint.run_at - run_at) < timedelta(seconds=1)
        waits = rule.then.action is not RuleAction.RUN_AT and author_of(hint) is Authority.RULE
        if is_same or waits or not may_overwrite(Authority.RULE, hint):
            return None
    ttl = min(max(rule.ttl, run_at - now + _MINUTE), longest)
    floor = hint_floor_at(target, target.last_run_at)
    if floor is not None and floor[0] >= now + ttl:
        return None  # its min interval, or the target's Retry-After, lasts longer than the hint
    when: dict[str, Any] = {"next_run_at_iso": iso(run_at)}
    effect = f"it runs at {iso(run_at)}"
    if rule.then.action is RuleAction.RUN_NOW:
        when, effect = {"next_run_in_ms": 0}, "it runs now"
    arguments = {**when, "ttl_minutes": ttl / _MINUTE}
    return _proposal("propose_next_time", arguments, effect, rule, target, context)


def _pause(rule: Rule, target: Endpoint, context: AnalysisContext) -> Proposal | None:
    assert rule.then.duration is not None
    longest = longest_pause(target, context.job.planner, Authority.RULE, context.now)
    length = min(rule.then.duration, longest)
    present = target.planner_pause
    if present is not None and not _runs_out(present.until_at, length, context):
        return None
    until = {"until_iso": iso(context.now + length)}
    effect = f"it pauses for {humanize(length)}"
    return _proposal("pause_until", until, effect, rule, target, context)


def _resume(rule: Rule, target: Endpoint, context: AnalysisContext) -> Proposal | None:
    now, present, persons = context.now, target.planner_pause, target.person_pause
    is_a_persons = persons is not None and persons.until_at > now
    if present is None or present.until_at <= now or is_a_persons:
        return None
    return _proposal("pause_until", {"until_iso": None}, "its pause ends", rule, target, context)


def _clear(rule: Rule, target: Endpoint, context: AnalysisContext) -> Proposal | None:
    hints = fresh_hints(target, context.now)
    if not any(hint and may_overwrite(Authority.RULE, hint) for hint in hints):
        return None
    return _proposal("clear_hints", {}, "its hints are dropped", rule, target, context)


def _runs_out(expires_at: datetime, lasts: timedelta, context: AnalysisContext) -> bool:
    """When half of its time is over, or before this endpoint answers again."""
    next_run_at = context.endpoint.next_run_at
    ends_before = next_run_at is not None and expires_at <= next_run_at
    return ends_before or expires_at - context.now < lasts / 2


def _proposal(
    tool: str,
    arguments: dict[str, Any],
    effect: str,
    rule: Rule,
    target: Endpoint,
    context: AnalysisContext,
) -> Proposal:
    other = {} if target.id == context.endpoint.id else {"endpoint": target.name}
    whose = f"{target.name}: " if other else ""
    reason = f"Rule {rule.name}: {rule.reason}" if rule.reason else f"Rule {rule.name}"
    sentence = f"{reason} ({whose}{effect})"
    return Proposal(tool, {**arguments, **other, "reason": reason}, sentence, rule_id=rule.id)
