"""Jobs between rows and values."""

from typing import Any

from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.rules import rules_json, rules_of
from cadenza.adapters.postgres.storable import to_text
from cadenza.application.ports.catalogue import StoredJob
from cadenza.domain.endpoint import Job
from cadenza.domain.rule import Mode


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


def stored_job(row: Row) -> StoredJob:
    return StoredJob(
        job_of(row), row["created_at"], row["now"], row["revision"], row["endpoint_count"]
    )


def job_values(job: Job) -> tuple[Any, ...]:
    """What may change of a job: the first parameters of insert_job and save_job."""
    return (
        job.id,
        to_text(job.name),
        to_text(job.description),
        rules_json(job.rules),
        job.planner_mode,
        job.probe_budget,
        job.paused_until,
        job.archived_at,
    )


def mode_of(text: str | None) -> Mode | None:
    return Mode(text) if text is not None else None
