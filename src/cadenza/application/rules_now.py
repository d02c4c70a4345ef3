"""The declared rules of an endpoint, judged now on what it last answered. Nothing comes of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from cadenza.application.ports.analysis_queue import AnalysisQueue
from cadenza.application.ports.catalogue import EndpointReads
from cadenza.application.ports.expressions import Expressions, Owner
from cadenza.application.rule_judging import Judged, judged, why_not
from cadenza.application.rule_values import Values, values_of
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.rule import Rule, left_out

BRAIN = "rules"


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    rule: Rule
    holds: bool
    why: str  # where it does not hold
    is_trouble: bool  # it has no yes or no, and somebody should know
    fired_at: datetime | None  # when it last did something
    rests_until: datetime | None  # it holds, but is within its cooldown


@dataclass(frozen=True, slots=True)
class JudgedNow:
    at: datetime
    answered_at: datetime | None  # what they were judged on
    verdicts: Sequence[RuleVerdict]


@dataclass(frozen=True, slots=True)
class RulesNow:
    endpoints: EndpointReads
    analysis_queue: AnalysisQueue
    expressions: Expressions

    async def judge(self, tenant_id: UUID, endpoint_id: UUID) -> JudgedNow:
        """In the order of the job's rules, those that read this endpoint."""
        stored = await self.endpoints.get_endpoint(tenant_id, endpoint_id)
        contexts = await self.analysis_queue.contexts_for([endpoint_id], BRAIN)
        if not contexts:
            return JudgedNow(stored.read_at, None, ())
        context = contexts[0]
        answered_at = context.recent[0].finished_at if context.recent else None
        return JudgedNow(context.now, answered_at, await self._verdicts(context))

    async def _verdicts(self, context: AnalysisContext) -> list[RuleVerdict]:
        endpoint = context.endpoint
        rules = [rule for rule in context.job.rules if rule.endpoint in (None, endpoint.name)]
        if not rules:
            return []
        most = max(rule.runs for rule in rules)
        answers = values_of(context, context.recent[:most], without=left_out(rules))
        owner = Owner(endpoint.tenant_id, endpoint.job_id)
        judgements = await judged(owner, [(rule, answers) for rule in rules], self.expressions)
        return [
            _verdict(rule, judgement, answers, context)
            for rule, judgement in zip(rules, judgements, strict=True)
        ]


def _verdict(
    rule: Rule, judgement: Judged, answers: Sequence[Values], context: AnalysisContext
) -> RuleVerdict:
    fired_at = context.fired_at.get(rule.id) if rule.id is not None else None
    rests_until = fired_at + rule.cooldown if fired_at is not None else None
    is_resting = rests_until is not None and rests_until > context.now
    return RuleVerdict(
        rule,
        judgement.holds,
        "" if judgement.holds else why_not(judgement, answers),
        judgement.trouble,
        fired_at,
        rests_until if is_resting else None,
    )
