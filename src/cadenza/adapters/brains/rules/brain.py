"""The default brain: it analyses after every run, and acts through the same tools as every other.

It has no state between analyses. When a burst began, how much was spent and what is in force are in
the context: two planners, or one that was restarted, decide alike.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from cadenza.adapters.brains.rules.carrying_out import carry_out
from cadenza.adapters.brains.rules.pace import Pace
from cadenza.adapters.brains.rules.proposal import DeclaredRules, Proposal, Ruling
from cadenza.application.ports.brain import Tools, Usage
from cadenza.domain.analysis import AnalysisContext, Attention
from cadenza.domain.authority import Authority, may_overwrite
from cadenza.domain.cron import Cron
from cadenza.domain.detectors.case import Case, Finding, Want
from cadenza.domain.detectors.decide import Decision, decide
from cadenza.domain.endpoint import CronLine, Job, fresh_hints
from cadenza.domain.instants import iso, milliseconds
from cadenza.domain.rule import Mode
from cadenza.domain.spending import Budget

_STEP = 1.15  # an interval that is nearly the one in force is left as it is


@dataclass(frozen=True, slots=True)
class _Thought:
    """The result of an analysis before any tool is called; warnings name unclear rules."""

    proposals: tuple[Proposal, ...] = ()
    findings: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def wants_tools(self) -> bool:
        return bool(self.proposals or self.findings)


class RulesBrain:
    name = "rules"
    attention = Attention.EVERY_RUN
    reserved_tokens = 0

    def __init__(
        self, cron: Cron, declared: DeclaredRules | None = None, budget: Budget | None = None
    ) -> None:
        self._pace = Pace(cron)
        self._declared = declared
        self._budget = budget or Budget()

    def model_for(self, _job: Job) -> None:
        """It asks none."""

    def pre_check(self, context: AnalysisContext) -> Usage | None:
        """Most analyses need no tool, and without one nothing has to be waited for."""
        thought = self._think(context)
        return None if thought.wants_tools else Usage(warnings=thought.warnings)

    async def analyse(self, context: AnalysisContext, tools: Tools) -> Usage:
        thought = self._think(context)
        if not thought.wants_tools:
            return Usage(warnings=thought.warnings)
        carried_out = await carry_out(thought.proposals, thought.findings, tools)
        return Usage(warnings=thought.warnings, fired=carried_out.fired)

    def _think(self, context: AnalysisContext) -> _Thought:
        """Declared rules and detectors each obey their own mode: off is not proposed at all."""
        declared = self._declared if context.modes.rules is not Mode.OFF else None
        ruling = declared.ruling(context) if declared is not None else Ruling()
        if ruling.proposals or context.modes.detectors is Mode.OFF:
            return _Thought(ruling.proposals, (), ruling.warnings)
        pace = self._pace.of(context.endpoint, context.now)
        factor = self._budget.factor * (1 + context.job.planner.extra_runs)
        budget = replace(self._budget, factor=factor)
        decision = decide(Case(context, pace, budget))
        proposals = _proposals(decision, context, pace)
        if proposals and declared is not None and declared.speak_for(context):
            return _Thought(warnings=ruling.warnings)
        # Reported where something goes on, also where the hint in force is all that it needs.
        findings = decision.findings
        if proposals or any(finding.want is not Want.RELAX for finding in findings):
            texts = tuple(finding.text for finding in findings)
            return _Thought(proposals, texts, ruling.warnings)
        return _Thought(warnings=ruling.warnings)


def _proposals(
    decision: Decision, context: AnalysisContext, pace: timedelta | None
) -> tuple[Proposal, ...]:
    action, endpoint = decision.action, context.endpoint
    if action is None:
        return _let_go(context, pace)
    if action.want is Want.PAUSE:
        assert action.until_at is not None
        present = endpoint.planner_pause
        if present is not None and present.until_at >= action.until_at:
            return ()
        return _proposal("pause_until", {"until_iso": iso(action.until_at)}, action)
    if action.want is Want.RUN:
        return _proposal("propose_next_time", {"next_run_in_ms": 0}, action)
    assert action.interval is not None
    if action.want is Want.RELAX and isinstance(endpoint.baseline, CronLine):
        return ()  # a calm cron stays on its grid
    if _is_in_force(action.interval, context):
        return ()
    lasts = 6 * action.interval  # so many runs, should no analysis follow
    ttl = -(-lasts // timedelta(minutes=1))
    arguments = {"interval_ms": milliseconds(action.interval), "ttl_minutes": ttl}
    return _proposal("propose_interval", arguments, action)


def _proposal(tool: str, arguments: dict[str, Any], action: Finding) -> tuple[Proposal, ...]:
    arguments = {**arguments, "reason": action.text}
    return (Proposal(tool, arguments, action.text, action.confidence),)


def _is_in_force(interval: timedelta, context: AnalysisContext) -> bool:
    """Whether a detector's hint for nearly this is in force, and outlasts the next run. What
    others wrote is for the tool to leave alone, so that the record has it."""
    hint, _ = fresh_hints(context.endpoint, context.now)
    if hint is None or not may_overwrite(Authority.DETECTOR, hint):
        return False
    is_near = interval / _STEP < hint.interval < interval * _STEP
    return is_near and hint.expires_at - context.now > 2 * hint.interval


def _let_go(context: AnalysisContext, pace: timedelta | None) -> tuple[Proposal, ...]:
    """Without any finding, an own hint that is faster than the baseline is dropped."""
    hint, _ = fresh_hints(context.endpoint, context.now)
    if hint is None or pace is None or hint.interval >= pace:
        return ()
    if not may_overwrite(Authority.DETECTOR, hint):
        return ()
    sentence = "Rest: nothing calls for more than the baseline any more"
    return (Proposal("clear_hints", {"reason": sentence}, sentence),)
