"""Rules tried on answers of the past: which would have fired, when, and why the others did not.

What was answered is known; what the schedule was then is not. So the report says when a rule would
have asked for its action, not what that action would have changed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from uuid import UUID

from cadenza.application.ports.expressions import Expressions, Owner
from cadenza.application.rule_judging import Judged, judged, why_not
from cadenza.application.rule_values import Values, values_of
from cadenza.domain.analysis import RECENT_RESPONSES, AnalysisContext, Response, SiblingState
from cadenza.domain.definition import JobDefinition
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.health import health_of
from cadenza.domain.plan import Source
from cadenza.domain.rule import Rule, is_about_siblings, left_out
from cadenza.domain.run import Run

_NOBODY = UUID(int=0)
_DAY = timedelta(hours=24)
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Answered:
    endpoint: str
    response: Response


@dataclass(slots=True)
class Tried:
    """One rule over all answers."""

    rule: Rule
    judged: int = 0
    held: int = 0
    fired: list[tuple[datetime, str]] = field(default_factory=list[tuple[datetime, str]])
    why_not: Counter[str] = field(default_factory=Counter[str])
    troubles: Counter[str] = field(default_factory=Counter[str])


async def try_rules(
    job: JobDefinition, answers: Sequence[Answered], expressions: Expressions
) -> list[Tried]:
    """Oldest first; each answer is judged by the rules that read its endpoint."""
    trial = _Trial(job, expressions)
    for answer in sorted(answers, key=lambda answer: answer.response.finished_at):
        await trial.see(answer)
    return trial.tried


class _Trial:
    def __init__(self, job: JobDefinition, expressions: Expressions) -> None:
        self.tried = [Tried(rule) for rule in job.rules]
        self._expressions = expressions
        self._job = Job(_NOBODY, _NOBODY, job.name, rules=job.rules)
        self._endpoints = {endpoint.name: endpoint for endpoint in job.endpoints}
        self._seen: dict[str, list[Response]] = {name: [] for name in self._endpoints}

    async def see(self, answer: Answered) -> None:
        if answer.endpoint not in self._seen:
            return
        self._seen[answer.endpoint].insert(0, answer.response)
        now = answer.response.finished_at
        await self._judge_all(answer.endpoint, self.tried, now)
        news = [tried for tried in self.tried if is_about_siblings(tried.rule.when)]
        for name in self._seen if news else ():
            if name != answer.endpoint and self._seen[name]:
                await self._judge_all(name, news, now)

    async def _judge_all(self, name: str, candidates: Sequence[Tried], now: datetime) -> None:
        applying = [tried for tried in candidates if tried.rule.endpoint in (None, name)]
        if not applying:
            return
        values, taken = self._values(name, now, [tried.rule for tried in applying]), set[str]()
        cases = [(tried.rule, values) for tried in applying]
        judgements = await judged(Owner(_NOBODY, _NOBODY), cases, self._expressions)
        for tried, judgement in zip(applying, judgements, strict=True):
            tried.judged += 1
            if judgement.holds:
                self._held(tried, name, now, taken)
            else:
                _not_held(tried, judgement, values)

    def _held(self, tried: Tried, name: str, now: datetime, taken: set[str]) -> None:
        rule = tried.rule
        tried.held += 1
        target = rule.then.endpoint or name
        if target not in self._seen:
            tried.why_not[f"the job has no endpoint {target}"] += 1
        elif target in taken:
            tried.why_not[f"a rule before it held for {target}"] += 1
        elif any(at + rule.cooldown > now for at, by in tried.fired if by == name):
            tried.why_not["it was within its cooldown"] += 1
        else:
            tried.fired.append((now, name))
        taken.add(target)

    def _values(self, name: str, now: datetime, rules: Sequence[Rule]) -> list[Values]:
        recent = self._seen[name][:RECENT_RESPONSES]
        streak = next((i for i, response in enumerate(recent) if response.is_well), len(recent))
        without, most = left_out(rules), max(rule.runs for rule in rules)
        runs: Iterable[Run] = ()
        if "health" not in without:
            runs = takewhile(lambda run: run.slot_at > now - _DAY, map(_run, self._seen[name]))
        others = [other for other in self._seen if other != name]
        context = AnalysisContext(
            now=now,
            endpoint=self._endpoint(name),
            job=self._job,
            health=health_of(runs, streak, now),
            sibling_names=tuple(others),
            recent=tuple(recent),
            siblings=tuple(
                SiblingState(self._endpoint(other), next(iter(self._seen[other]), None))
                for other in others
            ),
        )
        return values_of(context, recent[:most], without=without)

    def _endpoint(self, name: str) -> Endpoint:
        definition, seen = self._endpoints[name], self._seen[name]
        return Endpoint(
            id=_NOBODY,
            tenant_id=_NOBODY,
            job_id=_NOBODY,
            name=name,
            baseline=definition.baseline,
            created_at=_LONG_AGO,
            min_interval=definition.min_interval,
            max_interval=definition.max_interval,
            last_run_at=seen[0].slot_at if seen else None,
        )


def _not_held(tried: Tried, judgement: Judged, values: Sequence[Values]) -> None:
    reasons = tried.troubles if judgement.trouble else tried.why_not
    reasons[why_not(judgement, values)] += 1


def _run(response: Response) -> Run:
    took = response.duration or timedelta(0)
    return Run(
        id=_NOBODY,
        endpoint_id=_NOBODY,
        tenant_id=_NOBODY,
        slot_at=response.slot_at,
        source=Source.BASELINE_INTERVAL,
        status=response.status,
        attempt=1,
        epoch=1,
        claimed_at=response.slot_at,
        started_at=response.finished_at - took,
        finished_at=response.finished_at,
    )
