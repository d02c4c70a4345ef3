"""Jobs between rows and values; rules are stored as the documents that people write."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter

from cadenza.adapters.postgres.rows import Row, to_json, to_text
from cadenza.domain.definition import JobDefinition
from cadenza.domain.endpoint import Job
from cadenza.domain.rule import Mode, Rule
from cadenza.manifest.models import RuleDocument
from cadenza.manifest.rules import read_rules, rule_document

_RULES = TypeAdapter(list[RuleDocument])


def job_of(row: Row) -> Job:
    return Job(
        row["id"],
        row["tenant_id"],
        row["name"],
        row["description"],
        row["paused_until"],
        row["archived_at"],
        rules_of(row["rules"]),
        mode_of(row["planner_mode"]),
        row["probe_budget"],
    )


def declared_values(job: Job | JobDefinition) -> tuple[Any, ...]:
    """Description, rules, mode and budget, as the statements take them."""
    mode = job.planner_mode
    rules = to_json([rule_document(each) for each in job.rules])
    return to_text(job.description), rules, mode, job.probe_budget


@lru_cache(maxsize=10_000)
def rules_of(text: str) -> tuple[Rule, ...]:
    return read_rules(_RULES.validate_python(json.loads(text))) if text != "[]" else ()


def mode_of(text: str | None) -> Mode | None:
    return Mode(text) if text is not None else None


def definition_of(row: Row, endpoints: Sequence[Any] = ()) -> JobDefinition:
    job = job_of(row)
    return JobDefinition(
        job.name,
        job.description,
        tuple(endpoints),
        job.rules,
        job.planner_mode,
        job.probe_budget,
    )
