"""What owners do to jobs. A job's pause, and its end, are those of its endpoints."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from cadenza.application.ports.catalogue import StoredEndpoint, StoredJob
from cadenza.application.ports.store import Store, Transaction
from cadenza.application.recording import check_revision, created_before, record
from cadenza.application.transitions import save_transitions
from cadenza.domain import steering
from cadenza.domain.access import Caller
from cadenza.domain.audit import IdempotencyRecord
from cadenza.domain.cron import Cron
from cadenza.domain.definition import (
    JobDefinition,
    ValidationPolicy,
    check_job,
    declared,
    rule_errors,
    with_declared,
)
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.errors import InvalidFields, Refused
from cadenza.domain.instants import FOREVER
from cadenza.domain.rule import with_ids

Revisions = frozenset[int] | None  # those that the caller has seen; None: whichever it is


class JobPatch(Protocol):
    def applied_to(self, definition: JobDefinition) -> JobDefinition: ...

    @property
    def fields(self) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class CreatedJob:
    stored: StoredJob
    replayed: bool = False  # it was created when the same request was first sent


class Jobs:
    def __init__(
        self, store: Store, cron: Cron, policy: ValidationPolicy, new_id: Callable[[], UUID]
    ) -> None:
        self._store = store
        self._cron = cron
        self._policy = policy
        self._new_id = new_id

    async def create(
        self, caller: Caller, definition: JobDefinition, sent: IdempotencyRecord | None = None
    ) -> CreatedJob:
        self._check(definition)
        job_id, tenant_id = self._new_id(), caller.tenant_id
        async with self._store.transaction() as tx:
            if (existing := await created_before(tx, tenant_id, sent, job_id)) is not None:
                return CreatedJob(await tx.get_job(tenant_id, existing), replayed=True)
            job = with_declared(Job(job_id, tenant_id, definition.name), definition)
            now = await tx.time()
            rules = with_ids(job.rules, (), self._new_id)
            stored = StoredJob(replace(job, rules=rules), now, now)
            await tx.insert_jobs([stored])
            data = {"name": job.name}
            await record(tx, caller.actor, tenant_id, "job.create", job, data)
        return CreatedJob(stored)

    async def change(
        self, caller: Caller, job_id: UUID, patch: JobPatch, expected: Revisions = None
    ) -> StoredJob:
        def changed(job: Job, _now: datetime) -> Job:
            if job.archived_at is not None:
                raise Refused("the job is archived, and can no longer be changed")
            definition = patch.applied_to(declared(job))
            self._check(definition)
            rules = with_ids(definition.rules, job.rules, self._new_id)
            return replace(with_declared(job, definition), rules=rules)

        data = {"fields": patch.fields}
        return await self._change(caller, job_id, "change", changed, data, expected)

    async def pause(
        self, caller: Caller, job_id: UUID, until_at: datetime | None, reason: str
    ) -> StoredJob:
        """Until an instant, or until it is resumed; an instant that is past resumes."""

        def paused(job: Job, now: datetime) -> Job:
            _check_not_archived(job)
            end_at = until_at or FOREVER
            return replace(job, paused_until=end_at if end_at > now else None)

        data = {"until": str(until_at), "reason": reason}
        return await self._change(caller, job_id, "pause", paused, data)

    async def resume(self, caller: Caller, job_id: UUID) -> StoredJob:
        def resumed(job: Job, _now: datetime) -> Job:
            _check_not_archived(job)
            return replace(job, paused_until=None)

        return await self._change(caller, job_id, "resume", resumed)

    async def archive(self, caller: Caller, job_id: UUID, expected: Revisions = None) -> StoredJob:
        def archived(job: Job, now: datetime) -> Job:
            return job if job.archived_at is not None else replace(job, archived_at=now)

        return await self._change(caller, job_id, "archive", archived, expected=expected)

    async def _change(
        self,
        caller: Caller,
        job_id: UUID,
        action: str,
        change: Callable[[Job, datetime], Job],
        data: dict[str, Any] | None = None,
        expected: Revisions = None,
    ) -> StoredJob:
        async with self._store.transaction() as tx:
            stored = await tx.lock_job(caller.tenant_id, job_id)
            check_revision(stored.revision, expected)
            job = change(stored.job, stored.read_at)
            if job == stored.job:
                return stored
            count = await self._carry_over(tx, stored.job, job)
            changed = replace(
                stored,
                job=job,
                revision=stored.revision + 1,
                endpoint_count=stored.endpoint_count if count is None else count,
            )
            await tx.save_jobs([changed])
            await record(tx, caller.actor, job.tenant_id, f"job.{action}", job, data)
        return changed

    async def _carry_over(self, tx: Transaction, before: Job, after: Job) -> int | None:
        """What happens to the job happens to its endpoints; their number, where that changed."""
        is_ended = after.archived_at != before.archived_at
        if not is_ended and after.paused_until == before.paused_until:
            return None
        locked = await tx.lock_endpoints_of_job(after.tenant_id, after.id)

        def carried_over(stored: StoredEndpoint) -> Endpoint:
            if is_ended:
                return steering.archive(stored.endpoint, stored.read_at, self._cron)
            return steering.set_job_pause(
                stored.endpoint, after.paused_until, stored.read_at, self._cron
            )

        transitions = [(stored.endpoint, carried_over(stored)) for stored in locked]
        await save_transitions(tx, transitions)
        return 0 if is_ended else None

    def _check(self, definition: JobDefinition) -> None:
        check_job(definition)
        if problems := list(rule_errors(definition.rules, self._policy)):
            raise InvalidFields(problems)


def _check_not_archived(job: Job) -> None:
    if job.archived_at is not None:
        raise Refused("the job is archived")
