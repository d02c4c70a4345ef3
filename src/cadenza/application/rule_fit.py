"""Declared rules held against what their endpoints last answered: fields that are not there.

A warning and never an error: an answer may have the field tomorrow.
"""

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from cadenza.application.ports.expressions import Expressions
from cadenza.application.ports.run_search import LatestAnswers
from cadenza.application.rule_judging import judged, missing_in, said_of_missing
from cadenza.application.rule_values import Values
from cadenza.domain.definition import JobDefinition
from cadenza.domain.rule import Rule
from cadenza.domain.run import Body

Answers = Mapping[str, Body]  # by endpoint


def misfits(
    rules: Sequence[Rule], answers: Answers, expressions: Expressions
) -> Iterator[tuple[int, str]]:
    """The place of a rule, and what does not fit; nothing where nothing was answered yet."""
    for place, rule in enumerate(rules):
        read = answers if rule.endpoint is None else {rule.endpoint}
        said = [_misfit(rule, name, answers, expressions) for name in read if name in answers]
        # A rule for every endpoint fits where it fits one of them.
        if said and all(said):
            yield place, f"the rule {rule.name!r}: {said[0]}"


async def misfits_of_jobs(
    tenant_id: UUID, jobs: Sequence[JobDefinition], stored: LatestAnswers, expressions: Expressions
) -> list[tuple[str, str]]:
    """With the path of each expression in a file of these jobs."""
    ruled = [job.name for job in jobs if job.rules]
    if not ruled:
        return []
    answers = await stored.latest_answers(tenant_id, ruled)
    return [
        (f"jobs[{number}].rules[{place}].when", text)
        for number, job in enumerate(jobs)
        for place, text in misfits(job.rules, answers.get(job.name, {}), expressions)
    ]


def _misfit(rule: Rule, name: str, answers: Answers, expressions: Expressions) -> str | None:
    values: Values = {
        "response": answers[name],
        "siblings": {other: {"response": answers[other]} for other in answers if other != name},
    }
    missing = missing_in(rule.when, values, expressions)
    if missing is None:
        judgement = judged(rule, [values], expressions)
        if not judgement.trouble:
            return None
        return f"it has no yes or no of what {name} last answered: {judgement.why}"
    if missing[0] == "siblings" and missing[2:3] == ("response",) and missing[1] in answers:
        return f"{said_of_missing(missing, values)}, in what {missing[1]} last answered"
    if missing[0] != "response":
        return None  # of the endpoint, its health or the time nothing is known here
    return f"{said_of_missing(missing, values)}, in what {name} last answered"
