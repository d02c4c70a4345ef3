"""Jobs in a transaction, and between rows and values."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.policy_rows import policy_of, stored_policy
from cadenza.adapters.postgres.queries import one_row, query
from cadenza.adapters.postgres.record_rows import translated_unique_violations
from cadenza.adapters.postgres.rows import MILLISECOND, Row, duration_of, ms
from cadenza.adapters.postgres.storable import to_json, to_text
from cadenza.application.ports.catalogue import StoredJob
from cadenza.domain.endpoint import Job
from cadenza.domain.rule import Rule, RuleAction, Then


class PostgresJobRows:
    connection: Connection

    async def insert_jobs(self, jobs: Sequence[StoredJob]) -> None:
        values = [
            (*_values(stored.job), stored.job.tenant_id, stored.created_at) for stored in jobs
        ]
        async with translated_unique_violations(*(stored.job.name for stored in jobs)):
            await self.connection.executemany(query("insert_job"), values)

    async def get_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        return stored_job(await one_row(self.connection, "get_job", "job", tenant_id, job_id))

    async def lock_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        return stored_job(await one_row(self.connection, "lock_job", "job", tenant_id, job_id))

    async def share_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        return stored_job(await one_row(self.connection, "share_job", "job", tenant_id, job_id))

    async def save_jobs(self, jobs: Sequence[StoredJob]) -> None:
        async with translated_unique_violations(*(stored.job.name for stored in jobs)):
            await self.connection.executemany(
                query("save_job"), [_values(stored.job) for stored in jobs]
            )

    async def lock_jobs(self, tenant_id: UUID) -> None:
        await self.connection.execute(query("lock_jobs"), tenant_id)

    async def declared_jobs(self, tenant_id: UUID) -> Sequence[StoredJob]:
        everything = (None,) * 5  # of whatever name, and without a limit
        rows = await self.connection.fetch(query("list_jobs"), tenant_id, False, *everything, None)
        return [stored_job(row) for row in rows]


def stored_job(row: Row) -> StoredJob:
    job = Job(
        row["id"],
        row["tenant_id"],
        row["name"],
        row["description"],
        row["paused_until"],
        row["archived_at"],
        rules_of(row["rules"]),
        policy_of(row["planner"]),
    )
    return StoredJob(job, row["created_at"], row["now"], row["revision"], row["endpoint_count"])


def _values(job: Job) -> tuple[Any, ...]:
    """What may change of a job: the first parameters of insert_job and save_job."""
    return (
        job.id,
        to_text(job.name),
        to_text(job.description),
        to_json([_stored(rule) for rule in job.rules]),
        to_json(stored_policy(job.planner)),
        job.paused_until,
        job.archived_at,
    )


# --- Declared rules, in a form of their own, whatever documents become ------------------------


@lru_cache(maxsize=10_000)
def rules_of(text: str) -> tuple[Rule, ...]:
    return tuple(_rule(stored) for stored in json.loads(text)) if text != "[]" else ()


def _stored(rule: Rule) -> dict[str, Any]:
    then = rule.then
    return {
        "id": str(rule.id),
        "name": rule.name,
        "endpoint": rule.endpoint,
        "when": rule.when,
        "runs": rule.runs,
        "then": {
            "action": then.action,
            "duration_ms": ms(then.duration),
            "at": then.at,
            "endpoint": then.endpoint,
        },
        "ttl_ms": ms(rule.ttl),
        "cooldown_ms": ms(rule.cooldown),
        "reason": rule.reason,
    }


def _rule(stored: dict[str, Any]) -> Rule:
    then = stored["then"]
    duration = duration_of(then["duration_ms"])
    return Rule(
        name=stored["name"],
        when=stored["when"],
        then=Then(RuleAction(then["action"]), duration, then["at"], then["endpoint"]),
        endpoint=stored["endpoint"],
        runs=stored["runs"],
        ttl=stored["ttl_ms"] * MILLISECOND,
        cooldown=stored["cooldown_ms"] * MILLISECOND,
        reason=stored["reason"],
        id=UUID(stored["id"]),
    )
