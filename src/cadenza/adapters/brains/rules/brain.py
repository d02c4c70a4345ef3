"""The default brain: it analyses after every run, and acts through the same tools as every other.

It has no state of its own between analyses. What it remembers of an endpoint (its outages, and what
it spent) is kept with the analysis: two planners, or one that was restarted, decide alike.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from cadenza.adapters.brains.rules.carrying_out import carry_out
from cadenza.adapters.brains.rules.proposal import DeclaredRules, Proposal, Ruling
from cadenza.application.ports.brain import Tools, Usage
from cadenza.domain.analysis import AnalysisContext, Attention
from cadenza.domain.authority import Authority, may_overwrite
from cadenza.domain.cron import Cron
from cadenza.domain.detectors.case import Case, Finding, Want
from cadenza.domain.detectors.decide import Decision, decide
from cadenza.domain.detectors.memory import account_of
from cadenza.domain.endpoint import Every, Job, fresh_hints
from cadenza.domain.instants import iso, milliseconds
from cadenza.domain.pace import Pace
from cadenza.domain.rule import Mode
from cadenza.domain.spending import Purse, Share, purse_of

NAME = "rules"


@dataclass(frozen=True, slots=True)
class _Thought:
    """The result of an analysis before any tool is called; warnings name unclear rules."""

    proposals: tuple[Proposal, ...] = ()
    findings: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    memory: Mapping[str, Any] | None = None
    if_refused: Mapping[str, Any] | None = None

    @property
    def wants_tools(self) -> bool:
        return bool(self.proposals or self.findings)


class RulesBrain:
    name = NAME
    attention = Attention.EVERY_RUN
    reserved_tokens = 0

    def __init__(self, cron: Cron, declared: DeclaredRules | None = None) -> None:
        self._pace = Pace(cron)
        self._declared = declared

    def model_for(self, _job: Job) -> None:
        """It asks none."""

    async def pre_check(self, context: AnalysisContext) -> Usage | None:
        """Most analyses need no tool, and without one nothing has to be waited for."""
        thought = await self._think(context)
        if thought.wants_tools:
            return None
        return Usage(warnings=thought.warnings, memory=thought.memory)

    async def analyse(self, context: AnalysisContext, tools: Tools) -> Usage:
        thought = await self._think(context)
        if not thought.wants_tools:
            return Usage(warnings=thought.warnings, memory=thought.memory)
        carried_out = await carry_out(thought.proposals, thought.findings, tools)
        memory = thought.memory if carried_out.took_effect else thought.if_refused
        return Usage(warnings=thought.warnings, fired=carried_out.fired, memory=memory)

    async def _think(self, context: AnalysisContext) -> _Thought:
        """Declared rules and detectors each obey their own mode: off is not proposed at all."""
        declared = self._declared if context.modes.rules is not Mode.OFF else None
        ruling = await declared.ruling(context) if declared is not None else Ruling()
        pace, policy = self._pace.of(context.endpoint, context.now), context.job.planner
        case = Case(context, pace, lambda: self._purse(case), policy.relax)
        if ruling.proposals or context.modes.detectors is Mode.OFF:
            seen = case.memory.as_json()
            return _Thought(ruling.proposals, (), ruling.warnings, seen, seen)
        decision = decide(case)
        memory = if_refused = decision.memory.as_json()
        if decision.if_refused is not decision.memory:
            if_refused = decision.if_refused.as_json()
        proposals = _proposals(decision, context)
        if proposals and declared is not None and await declared.speak_for(context):
            return _Thought(warnings=ruling.warnings, memory=if_refused)
        findings = tuple(finding.text for finding in decision.findings)
        return _Thought(proposals, findings, ruling.warnings, memory, if_refused)

    def _purse(self, case: Case) -> Purse:
        """What the endpoints of a job have spent, and may spend, together."""
        policy, now = case.context.job.planner, case.now.timestamp()
        return purse_of(self._shares(case), now, policy.extra_runs, policy.relax)

    def _shares(self, case: Case) -> Iterator[Share]:
        now = case.now
        members = [(case.endpoint, case.memory.account)]
        members += [(state.endpoint, account_of(state.memory)) for state in case.context.siblings]
        for endpoint, account in members:
            pace = self._pace.of(endpoint, now)
            if pace is not None and endpoint.paused_until(now) is None:
                yield Share(account, pace.total_seconds(), isinstance(endpoint.baseline, Every))


def _proposals(decision: Decision, context: AnalysisContext) -> tuple[Proposal, ...]:
    action, endpoint = decision.action, context.endpoint
    if action is None:
        return _let_go(context) if decision.is_new else ()
    if action.want is Want.PAUSE:
        assert action.until_at is not None
        present = endpoint.planner_pause
        if present is not None and present.until_at >= action.until_at:
            return ()
        return _proposal("pause_until", {"until_iso": iso(action.until_at)}, action)
    if action.want is Want.RUN:
        return _proposal("propose_next_time", _when(action, context), action)
    assert action.interval is not None
    assert action.lasts is not None
    # Measured from the run's slot, and half an interval more, so that its last run is in it. One
    # that relaxes outlives its renewal: no hint puts a run off that the baseline has planned.
    begun_at = endpoint.last_run_at or context.now
    more = 1.5 if action.want is Want.RELAX else 0.5
    ttl = action.lasts + more * action.interval - (context.now - begun_at)
    arguments = {
        "interval_ms": milliseconds(action.interval),
        "ttl_minutes": ttl / timedelta(minutes=1),
    }
    return _proposal("propose_interval", arguments, action)


def _when(action: Finding, context: AnalysisContext) -> dict[str, Any]:
    if action.run_at is None:
        return {"next_run_in_ms": 0}
    ttl = action.run_at - context.now + timedelta(minutes=5)
    return {"next_run_at_iso": iso(action.run_at), "ttl_minutes": ttl / timedelta(minutes=1)}


def _proposal(tool: str, arguments: dict[str, Any], action: Finding) -> tuple[Proposal, ...]:
    arguments = {**arguments, "reason": action.text}
    return (Proposal(tool, arguments, action.text, action.confidence),)


def _let_go(context: AnalysisContext) -> tuple[Proposal, ...]:
    """Where the baseline is enough again, what a detector wrote before is dropped."""
    hint = fresh_hints(context.endpoint, context.now)[0]
    if hint is None or not may_overwrite(Authority.DETECTOR, hint):
        return ()
    sentence = "Rest: nothing calls for anything but the baseline any more"
    return (Proposal("clear_hints", {"reason": sentence}, sentence),)
