"""Declared rules: judged on each new answer, in their order; the first that holds gets its target.

An answer is judged once. An analysis after a sibling's run has no new answer of this endpoint, and
acting on the old one again would, say, make a pause endless; only rules that use siblings and not
the endpoint's own response are judged then. While a rule holds for an endpoint, or what it wrote is
in force, the detectors leave that endpoint alone. Fifty rules take 1 to 2 ms an analysis.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache

from cadenza.adapters.brains.rules.actions import proposal_of, wrote
from cadenza.adapters.brains.rules.proposal import Proposal, Ruling
from cadenza.application.ports.expressions import Expressions, Owner
from cadenza.application.rule_judging import Judged, instant_of, judged
from cadenza.application.rule_values import Values, values_of
from cadenza.domain.analysis import AnalysisContext, Response
from cadenza.domain.bounds import MAX_TOOL_CALLS
from cadenza.domain.cron import Cron
from cadenza.domain.rule import SIBLINGS, Rule, is_about_siblings, left_out, siblings_in

_ALL = ""  # no endpoint has this name


class CelRules:
    def __init__(self, expressions: Expressions, cron: Cron) -> None:
        self._expressions = expressions
        self._cron = cron

    async def ruling(self, context: AnalysisContext) -> Ruling:
        rules = _with_news(context)
        if not rules:
            return Ruling()
        siblings = [sibling.endpoint for sibling in context.siblings]
        endpoints = {endpoint.name: endpoint for endpoint in (*siblings, context.endpoint)}
        answers = _answers(rules, context)
        proposals: list[Proposal] = []
        warnings: list[str] = []
        taken: set[str] = set()
        for rule, judgement in await self._judged(rules, answers, context):
            target = rule.then.endpoint or context.endpoint.name
            if target in taken or target not in endpoints:
                continue
            if judgement.trouble:
                warnings.append(_warning(rule, judgement.why))
            if not judgement.holds:
                continue
            taken.add(target)
            run_at = await self._run_at(rule, answers[0], context)
            proposal = proposal_of(rule, endpoints[target], context, run_at, self._cron)
            if isinstance(proposal, str):
                warnings.append(_warning(rule, proposal))
            elif proposal is not None and not _rests(rule, context):
                proposals.append(proposal)
        # The last call of the session submits it.
        return Ruling(tuple(proposals[: MAX_TOOL_CALLS - 1]), tuple(warnings))

    async def speak_for(self, context: AnalysisContext) -> bool:
        if not context.job.rules:
            return False
        if wrote(context.job.rules, context.endpoint, context.now):
            return True
        own = (None, context.endpoint.name)
        rules = [rule for rule in _applying(context) if rule.then.endpoint in own]
        answers = _answers(rules, context) if rules else []
        judgements = await self._judged(rules, answers, context)
        return any(judgement.holds for _, judgement in judgements)

    async def _judged(
        self, rules: Sequence[Rule], answers: Sequence[Values], context: AnalysisContext
    ) -> list[tuple[Rule, Judged]]:
        cases = [(rule, answers) for rule in rules]
        judgements = await judged(_owner(context), cases, self._expressions)
        return list(zip(rules, judgements, strict=True))

    async def _run_at(
        self, rule: Rule, values: Values, context: AnalysisContext
    ) -> datetime | str | None:
        if rule.then.at is None:
            return context.now + (rule.then.duration or timedelta(0))
        return await instant_of(_owner(context), rule.then.at, values, self._expressions)


def _owner(context: AnalysisContext) -> Owner:
    return Owner(context.endpoint.tenant_id, context.job.id)


def _applying(context: AnalysisContext) -> list[Rule]:
    names = (None, context.endpoint.name)
    return [rule for rule in context.job.rules if rule.endpoint in names]


def _with_news(context: AnalysisContext) -> list[Rule]:
    """Those for which something is new: the endpoint's own answer, or that of a sibling."""
    rules = _applying(context)
    if not rules or _is_new(context.recent[0] if context.recent else None, context):
        return rules
    rules = [rule for rule in rules if is_about_siblings(rule.when)]
    if rules and any(_is_new(sibling.latest, context) for sibling in context.siblings):
        return rules
    return []


def _is_new(answer: Response | None, context: AnalysisContext) -> bool:
    look = context.last_analysis
    return answer is not None and (look is None or answer.finished_at > look.at)


def _answers(rules: Sequence[Rule], context: AnalysisContext) -> list[Values]:
    most = max(rule.runs for rule in rules)
    # Ten siblings are most of the work, and most rules name none, or one.
    named = frozenset[str]().union(*(_siblings_in(rule.when, rule.then.at) for rule in rules))
    siblings = None if _ALL in named else named
    return values_of(context, context.recent[:most], siblings=siblings, without=left_out(rules))


@lru_cache(maxsize=10_000)
def _siblings_in(when: str, at: str | None) -> frozenset[str]:
    """The siblings that a rule names; all, where it does not say which."""
    text = f"{when} {at}"
    names = siblings_in(text)
    return frozenset(names if len(names) == len(SIBLINGS.findall(text)) else (_ALL,))


def _rests(rule: Rule, context: AnalysisContext) -> bool:
    """Within its cooldown. It still blocks its target, or a later rule would undo what it did."""
    fired_at = context.fired_at.get(rule.id) if rule.id is not None else None
    return fired_at is not None and context.now < fired_at + rule.cooldown


def _warning(rule: Rule, why: str) -> str:
    return f"the rule {rule.name!r} has no yes or no: {why}"
