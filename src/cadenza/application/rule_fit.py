"""Declared rules held against what their endpoints last answered: fields that are not there.

A warning and never an error: an answer may have the field tomorrow.
"""

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from cadenza.application.ports.expressions import Expressions
from cadenza.application.ports.run_search import LatestAnswers
from cadenza.application.rule_judging import describe_missing, judged, missing_in
from cadenza.application.rule_values import Values
from cadenza.domain.definition import JobDefinition
from cadenza.domain.rule import Rule
from cadenza.domain.run import Body

Answers = Mapping[str, Body]  # by endpoint


def misfits(
    rules: Sequence[Rule], answers: Answers, expressions: Expressions
) -> Iterator[tuple[int, str]]:
    """The index of a rule, and what does not fit; nothing where nothing was answered yet."""
    for index, rule in enumerate(rules):
        names = [name for name in answers if rule.endpoint in (None, name)]
        texts = [_misfit(rule, name, answers, expressions) for name in names]
        # A rule for every endpoint fits where it fits one of them.
        if texts and all(texts):
            yield index, f"the rule {rule.name!r}: {texts[0]}"


async def misfits_of_jobs(
    tenant_id: UUID, jobs: Sequence[JobDefinition], stored: LatestAnswers, expressions: Expressions
) -> list[tuple[str, str]]:
    """With the path of each expression in a file of these jobs."""
    ruled = [job.name for job in jobs if job.rules]
    if not ruled:
        return []
    answers = await stored.latest_answers(tenant_id, ruled)
    return [
        (f"jobs[{number}].rules[{index}].when", text)
        for number, job in enumerate(jobs)
        for index, text in misfits(job.rules, answers.get(job.name, {}), expressions)
    ]


def _misfit(rule: Rule, name: str, answers: Answers, expressions: Expressions) -> str | None:
    values: Values = {
        "response": answers[name],
        "siblings": {other: {"response": answers[other]} for other in answers if other != name},
    }
    missing = missing_in(rule.when, values, expressions)
    if missing is None:
        judgement = judged(rule, [values], expressions)
        why = f"it has no yes or no of what {name} last answered: {judgement.why}"
        return why if judgement.trouble else None
    if missing[0] == "siblings" and missing[2:3] == ("response",) and missing[1] in answers:
        name = missing[1]
    elif missing[0] != "response":
        return None  # of the endpoint, its health or the time nothing is known here
    return f"{describe_missing(missing, values)}, in what {name} last answered"
