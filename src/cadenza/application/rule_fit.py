"""Declared rules held against what their endpoints last answered: fields that are not there.

A warning and never an error: an answer may have the field tomorrow.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from cadenza.application.ports.expressions import Expressions, Owner
from cadenza.application.ports.run_search import LatestAnswers
from cadenza.application.rule_judging import describe_missing, judged, missing_in
from cadenza.application.rule_values import Values
from cadenza.domain.definition import JobDefinition
from cadenza.domain.rule import Rule
from cadenza.domain.run import Body

Answers = Mapping[str, Body]  # by endpoint


async def misfits(
    owner: Owner, rules: Sequence[Rule], answers: Answers, expressions: Expressions
) -> list[tuple[int, str]]:
    """The index of a rule, and what does not fit; nothing where nothing was answered yet."""
    texts: list[tuple[int, str]] = []
    for index, rule in enumerate(rules):
        names = [name for name in answers if rule.endpoint in (None, name)]
        text = await _misfit(owner, rule, names, answers, expressions)
        if text is not None:
            texts.append((index, f"the rule {rule.name!r}: {text}"))
    return texts


async def misfits_of_jobs(
    tenant_id: UUID, jobs: Sequence[JobDefinition], stored: LatestAnswers, expressions: Expressions
) -> list[tuple[str, str]]:
    """With the path of each expression in a file of these jobs."""
    ruled = [job.name for job in jobs if job.rules]
    if not ruled:
        return []
    answers = await stored.latest_answers(tenant_id, ruled)
    owner = Owner(tenant_id, tenant_id)  # all of a file shares what one job may use
    return [
        (f"jobs[{number}].rules[{index}].when", text)
        for number, job in enumerate(jobs)
        for index, text in await misfits(owner, job.rules, answers.get(job.name, {}), expressions)
    ]


async def _misfit(
    owner: Owner, rule: Rule, names: Sequence[str], answers: Answers, expressions: Expressions
) -> str | None:
    """The first that does not; a rule for every endpoint fits where it fits one of them."""
    first: str | None = None
    for name in names:
        values = values_among(name, answers)
        text = _missing(rule, name, values, answers, expressions)
        if text is None and missing_in(rule.when, values, expressions) is None:
            (judgement,) = await judged(owner, [(rule, [values])], expressions)
            why = f"it has no yes or no of what {name} last answered: {judgement.why}"
            text = why if judgement.trouble else None
        if text is None:
            return None
        first = first or text
    return first


def values_among(name: str, answers: Answers) -> Values:
    """What is known of an endpoint by the last answers of its job."""
    others = {other: {"response": answers[other]} for other in answers if other != name}
    return {"response": answers[name], "siblings": others}


def _missing(
    rule: Rule, name: str, values: Values, answers: Answers, expressions: Expressions
) -> str | None:
    missing = missing_in(rule.when, values, expressions)
    if missing is None:
        return None
    if missing[0] == "siblings" and missing[2:3] == ("response",) and missing[1] in answers:
        name = missing[1]
    elif missing[0] != "response":
        return None  # of the endpoint, its health or the time nothing is known here
    return f"{describe_missing(missing, values)}, in what {name} last answered"
