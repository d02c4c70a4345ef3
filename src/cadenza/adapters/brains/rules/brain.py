"""The default brain: it looks after every run, and acts through the same tools as every other.

It keeps nothing between looks. When a burst began, how much was spent and what is in force are in
the context: two planners, or one that was started anew, decide alike.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from cadenza.adapters.brains.rules.pace import Pace
from cadenza.adapters.brains.rules.proposal import DeclaredRules, Proposal, Ruling
from cadenza.application.ports.brain import Tools, Usage
from cadenza.domain.analysis import AnalysisContext, Attention
from cadenza.domain.cron import Cron
from cadenza.domain.detectors.case import Case
from cadenza.domain.detectors.decide import Decision, decide
from cadenza.domain.detectors.finding import Finding, Want
from cadenza.domain.endpoint import CronLine, Endpoint
from cadenza.domain.hint import Author, IntervalHint
from cadenza.domain.instants import TICK, iso, milliseconds
from cadenza.domain.spending import Budget

NO_USE = Usage()
_NO_RULING = Ruling()
_MINUTE = timedelta(minutes=1)
_RUNS_OF_A_HINT = 6  # how many runs a hint outlives the brain that wrote it
_STEP = 1.15  # an interval that is nearly the one in force is left as it is


@dataclass(frozen=True, slots=True)
class _Thought:
    """What a look comes to: acts, what was found, and rules that have no yes or no."""

    proposals: tuple[Proposal, ...] = ()
    found: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def wants_tools(self) -> bool:
        return bool(self.proposals or self.found)


_NO_THOUGHT = _Thought()


class RulesBrain:
    name = "rules"
    attention = Attention.EVERY_RUN
    reserved_tokens = 0
    reserved_cost = 0.0

    def __init__(
        self,
        cron: Cron,
        declared: DeclaredRules | None = None,
        budget: Budget | None = None,
    ) -> None:
        self._pace = Pace(cron)
        self._declared = declared
        self._budget = budget or Budget()

    def pre_check(self, context: AnalysisContext) -> Usage | None:
        """It waits for nobody but its tools, and most looks want none of them."""
        thought = self._think(context)
        return None if thought.wants_tools else _usage(thought)

    async def analyse(self, context: AnalysisContext, tools: Tools) -> Usage:
        thought = self._think(context)
        if not thought.wants_tools:
            return _usage(thought)
        return _usage(thought, fired=await _carry_out(thought, tools))

    def _think(self, context: AnalysisContext) -> _Thought:
        ruling = self._declared.ruling(context) if self._declared is not None else _NO_RULING
        if ruling.proposals:
            return _Thought(ruling.proposals, (), ruling.warnings)
        pace = self._pace.of(context.endpoint, context.now)
        decision = decide(Case(context, pace, self._budget_of(context)))
        proposals = _proposals(decision, context, pace)
        if proposals and self._declared is not None and self._declared.speak_for(context):
            return _Thought(warnings=ruling.warnings)
        if proposals or _has_something_to_say(decision):
            said = tuple(each.said for each in decision.findings)
            return _Thought(proposals, said, ruling.warnings)
        return _Thought(warnings=ruling.warnings) if ruling.warnings else _NO_THOUGHT

    def _budget_of(self, context: AnalysisContext) -> Budget:
        """What the owner of the job lets it spend."""
        owners = context.job.probe_budget
        return (
            self._budget
            if owners == 1
            else replace(self._budget, factor=self._budget.factor * owners)
        )


def _usage(thought: _Thought, fired: tuple[UUID, ...] = ()) -> Usage:
    return Usage(warnings=thought.warnings, fired=fired) if thought.warnings or fired else NO_USE


async def _carry_out(thought: _Thought, tools: Tools) -> tuple[UUID, ...]:
    """All of it; gives back the declared rules whose act was not refused."""
    proposals, fired = thought.proposals, list[UUID]()
    for proposal in proposals:
        answer = await tools.call(proposal.tool, proposal.arguments, proposal.rule_id)
        if proposal.rule_id is not None and answer["ok"]:
            fired.append(proposal.rule_id)
    reasons = thought.found or [each.sentence for each in proposals]
    confidence = min((each.confidence for each in proposals), default=None)
    await tools.call(
        "submit_analysis",
        {
            "reasoning": ". ".join(reasons),
            "confidence": confidence,
            "actions_taken": [each.tool for each in proposals],
        },
    )
    return tuple(fired)


def _has_something_to_say(decision: Decision) -> bool:
    """Whether something goes on, also where the hint in force is all that it needs."""
    return any(each.want is not Want.RELAX for each in decision.findings)


def _proposals(
    decision: Decision, context: AnalysisContext, pace: timedelta | None
) -> tuple[Proposal, ...]:
    act, endpoint = decision.act, context.endpoint
    if act is None:
        return _let_go(context, pace)
    if act.want is Want.PAUSE:
        return _pause(act, endpoint)
    if act.want is Want.RUN:
        now = {"next_run_in_ms": 0, "reason": act.said}
        return (Proposal("propose_next_time", now, act.said, act.confidence),)
    return _interval(act, context)


def _pause(act: Finding, endpoint: Endpoint) -> tuple[Proposal, ...]:
    assert act.until_at is not None
    present = endpoint.planner_pause
    if present is not None and present.until_at >= act.until_at:
        return ()
    until = {"until_iso": iso(act.until_at), "reason": act.said}
    return (Proposal("pause_until", until, act.said, act.confidence),)


def _interval(act: Finding, context: AnalysisContext) -> tuple[Proposal, ...]:
    assert act.interval is not None
    if act.want is Want.RELAX and isinstance(context.endpoint.baseline, CronLine):
        return ()  # a cron keeps its grid; only a reason takes it off
    if _is_in_force(act.interval, context):
        return ()
    lasts = _RUNS_OF_A_HINT * act.interval
    arguments = {
        "interval_ms": milliseconds(act.interval),
        "ttl_minutes": -(-lasts // _MINUTE),
        "reason": act.said,
    }
    return (Proposal("propose_interval", arguments, act.said, act.confidence),)


def _is_in_force(interval: timedelta, context: AnalysisContext) -> bool:
    """Whether the present hint says nearly this, and will still say it after the next run."""
    hint = _own_hint(context)
    if hint is None:
        return _belongs_to_a_person(context)
    is_near = interval / _STEP < hint.interval < interval * _STEP
    return is_near and hint.expires_at - context.now > 2 * hint.interval


def _let_go(context: AnalysisContext, pace: timedelta | None) -> tuple[Proposal, ...]:
    """With nothing found any more, a hint that runs faster than the baseline has had its time."""
    hint = _own_hint(context)
    if hint is None or pace is None or hint.interval > pace - TICK:
        return ()
    sentence = "Rest: nothing calls for more than the baseline any more"
    return (Proposal("clear_hints", {"reason": sentence}, sentence),)


def _own_hint(context: AnalysisContext) -> IntervalHint | None:
    hint = context.endpoint.interval_hint
    if hint is None or hint.author is Author.PERSON or hint.expires_at <= context.now:
        return None
    return hint


def _belongs_to_a_person(context: AnalysisContext) -> bool:
    hint = context.endpoint.interval_hint
    return hint is not None and hint.author is Author.PERSON and hint.expires_at > context.now
