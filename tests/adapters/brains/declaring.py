"""Rules, and the context of a look at an endpoint that has answered something."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cadenza.adapters.brains.rules.declared import CelRules
from cadenza.adapters.brains.rules.proposal import Proposal, Ruling
from cadenza.adapters.expressions.cel import CelExpressions
from cadenza.domain.analysis import AnalysisContext, LastAnalysis, Response, SiblingState
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.health import WINDOWS, Health, HealthWindow
from cadenza.domain.rule import Rule, RuleAction, Then
from cadenza.domain.run import RunStatus
from tests.factories import CRON, NOON, id_of, make_endpoint, minutes, seconds
from tests.without_waiting import without_waiting

RULES = CelRules(CelExpressions(), CRON)
HALF_MINUTE = Then(RuleAction.INTERVAL, seconds(30))


def rule(when: str, then: Then = HALF_MINUTE, name: str = "mine", **fields: Any) -> Rule:
    return Rule(name, when, then, **{"id": rule_id(name), **fields})


def rule_id(name: str) -> UUID:
    return id_of(f"rule {name}")


def answer(body: Any, ago: timedelta = timedelta(0), **fields: Any) -> Response:
    status = fields.pop("status", RunStatus.SUCCESS)
    return Response(NOON - ago, NOON - ago, status, body, **fields)


def context(
    rules: Sequence[Rule],
    *bodies: Any,
    siblings: dict[str, Any] | None = None,
    endpoint: Endpoint | None = None,
    others: Sequence[Endpoint] = (),
    looked_at: datetime | None = None,
    fired_at: dict[UUID, datetime] | None = None,
    success_rate: float | None = 1.0,
) -> AnalysisContext:
    """The newest body first, a minute apart; the newest came just now."""
    states = [SiblingState(make_endpoint(n), answer(body)) for n, body in (siblings or {}).items()]
    states += [SiblingState(other, None) for other in others]
    runs = 0 if success_rate is None else 10
    windows = tuple(
        HealthWindow(window, runs, round(runs * (success_rate or 0))) for window in WINDOWS
    )
    return AnalysisContext(
        now=NOON,
        endpoint=endpoint or make_endpoint(),
        job=Job(id_of("job"), id_of("tenant"), "job", rules=tuple(rules)),
        health=Health(windows, seconds(1), 0),
        sibling_names=tuple(state.endpoint.name for state in states),
        last_analysis=LastAnalysis(looked_at, "") if looked_at else None,
        recent=tuple(answer(body, minutes(number)) for number, body in enumerate(bodies)),
        siblings=tuple(states),
        fired_at=fired_at or {},
    )


def ruled(rules: Sequence[Rule], *bodies: Any, **about: Any) -> Ruling:
    return without_waiting(RULES.ruling(context(rules, *bodies, **about)))


def rules_speak_for(about: AnalysisContext) -> bool:
    return without_waiting(RULES.speak_for(about))


def only(ruling: Ruling) -> Proposal:
    (proposal,) = ruling.proposals
    return proposal
