"""The default brain: it looks after every run, and acts through the same tools as every other.

It keeps nothing between looks. When a burst began, how much was spent and what is in force are in
the material: two planners, or one that was started anew, decide alike.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from cadenza.adapters.brains.rules.pace import Pace
from cadenza.adapters.brains.rules.proposal import DeclaredRules, Proposal, Ruling
from cadenza.application.ports.brain import Tools, Usage
from cadenza.domain.analysis import Attention, Material
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

    async def analyse(self, material: Material, tools: Tools) -> Usage:
        ruling = self._declared.ruling(material) if self._declared is not None else _NO_RULING
        if ruling.proposals:
            fired = await _carry_out(ruling.proposals, [], tools)
            return Usage(warnings=ruling.warnings, fired=fired)
        await self._detect(material, tools)
        return Usage(warnings=ruling.warnings) if ruling.warnings else NO_USE

    async def _detect(self, material: Material, tools: Tools) -> None:
        pace = self._pace.of(material.endpoint, material.now)
        decision = decide(Case(material, pace, self._budget_of(material)))
        proposals = _proposals(decision, material, pace)
        if proposals and self._declared is not None and self._declared.speak_for(material):
            return
        if proposals or _has_something_to_say(decision):
            await _carry_out(proposals, [each.said for each in decision.findings], tools)

    def _budget_of(self, material: Material) -> Budget:
        """What the owner of the job lets it spend."""
        owners = material.job.probe_budget
        return (
            self._budget
            if owners == 1
            else replace(self._budget, factor=self._budget.factor * owners)
        )


async def _carry_out(
    proposals: Sequence[Proposal], found: list[str], tools: Tools
) -> tuple[str, ...]:
    """All of it; gives back the declared rules whose act was not refused."""
    fired: list[str] = []
    for proposal in proposals:
        answer = await tools.call(proposal.tool, proposal.arguments)
        if proposal.rule is not None and answer["ok"]:
            fired.append(proposal.rule)
    reasons = found or [each.sentence for each in proposals]
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
    decision: Decision, material: Material, pace: timedelta | None
) -> tuple[Proposal, ...]:
    act, endpoint = decision.act, material.endpoint
    if act is None:
        return _let_go(material, pace)
    if act.want is Want.PAUSE:
        return _pause(act, endpoint)
    if act.want is Want.RUN:
        now = {"next_run_in_ms": 0, "reason": act.said}
        return (Proposal("propose_next_time", now, act.said, act.confidence),)
    return _interval(act, material)


def _pause(act: Finding, endpoint: Endpoint) -> tuple[Proposal, ...]:
    assert act.until_at is not None
    present = endpoint.planner_pause
    if present is not None and present.until_at >= act.until_at:
        return ()
    until = {"until_iso": iso(act.until_at), "reason": act.said}
    return (Proposal("pause_until", until, act.said, act.confidence),)


def _interval(act: Finding, material: Material) -> tuple[Proposal, ...]:
    assert act.interval is not None
    if act.want is Want.RELAX and isinstance(material.endpoint.baseline, CronLine):
        return ()  # a cron keeps its grid; only a reason takes it off
    if _is_in_force(act.interval, material):
        return ()
    lasts = _RUNS_OF_A_HINT * act.interval
    arguments = {
        "interval_ms": milliseconds(act.interval),
        "ttl_minutes": -(-lasts // _MINUTE),
        "reason": act.said,
    }
    return (Proposal("propose_interval", arguments, act.said, act.confidence),)


def _is_in_force(interval: timedelta, material: Material) -> bool:
    """Whether the present hint says nearly this, and will still say it after the next run."""
    hint = _own_hint(material)
    if hint is None:
        return _belongs_to_a_person(material)
    is_near = interval / _STEP < hint.interval < interval * _STEP
    return is_near and hint.expires_at - material.now > 2 * hint.interval


def _let_go(material: Material, pace: timedelta | None) -> tuple[Proposal, ...]:
    """With nothing found any more, a hint that runs faster than the baseline has had its time."""
    hint = _own_hint(material)
    if hint is None or pace is None or hint.interval > pace - TICK:
        return ()
    sentence = "Rest: nothing calls for more than the baseline any more"
    return (Proposal("clear_hints", {"reason": sentence}, sentence),)


def _own_hint(material: Material) -> IntervalHint | None:
    hint = material.endpoint.interval_hint
    if hint is None or hint.author is Author.PERSON or hint.expires_at <= material.now:
        return None
    return hint


def _belongs_to_a_person(material: Material) -> bool:
    hint = material.endpoint.interval_hint
    return hint is not None and hint.author is Author.PERSON and hint.expires_at > material.now
