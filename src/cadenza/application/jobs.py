"""Use cases of jobs. Pausing or archiving a job does the same to its endpoints."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol, TypeVar
from uuid import UUID

from cadenza.application.grants import revoke_grants_of_endpoints
from cadenza.application.graph_grants import MOST_ACCOUNTS
from cadenza.application.ports.billing import BillingReads
from cadenza.application.ports.catalogue import StoredJob
from cadenza.application.ports.store import Store, Transaction
from cadenza.application.recording import check_revision, created_before, record
from cadenza.application.transitions import person, save_transitions
from cadenza.domain import steering
from cadenza.domain.access import Caller
from cadenza.domain.audit import IdempotencyRecord
from cadenza.domain.cron import Cron
from cadenza.domain.definition import (
    JobDefinition,
    ValidationPolicy,
    check_job,
    declared,
    model_errors,
    rule_errors,
    with_declared,
)
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.errors import InvalidFields, Refused
from cadenza.domain.instants import FOREVER
from cadenza.domain.planner_policy import account_errors

Definition = TypeVar("Definition")
Revisions = frozenset[int] | None  # those that the caller has seen; None: whichever it is


class Patch(Protocol[Definition]):
    def applied_to(self, definition: Definition) -> Definition: ...

    @property
    def fields(self) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Jobs:
    store: Store
    cron: Cron
    policy: ValidationPolicy
    new_id: Callable[[], UUID]
    billing: BillingReads

    async def create(
        self, caller: Caller, definition: JobDefinition, sent: IdempotencyRecord | None = None
    ) -> tuple[StoredJob, bool]:
        """Returns the job, and whether an earlier identical request had created it."""
        self._check(definition, await account_names(self.billing, caller.tenant_id, [definition]))
        job_id, tenant_id = self.new_id(), caller.tenant_id
        async with self.store.transaction() as tx:
            if (existing := await created_before(tx, tenant_id, sent, job_id)) is not None:
                return await tx.get_job(tenant_id, existing), True
            job = Job(job_id, tenant_id, definition.name)
            now = await tx.time()
            stored = StoredJob(with_declared(job, definition, self.new_id), now, now)
            await tx.insert_jobs([stored])
            await record(tx, caller.actor, tenant_id, "job.create", job, {"name": job.name})
        return stored, False

    async def change(
        self, caller: Caller, job_id: UUID, patch: Patch[JobDefinition], expected: Revisions = None
    ) -> StoredJob:
        accounts: Collection[str] | None = None  # who pays is not among what is changed
        if "planner" in patch.fields:
            accounts = await account_names(self.billing, caller.tenant_id)

        def changed(job: Job, _now: datetime) -> Job:
            if job.archived_at is not None:
                raise Refused("the job is archived, and can no longer be changed")
            definition = patch.applied_to(declared(job))
            self._check(definition, accounts)
            return with_declared(job, definition, self.new_id)

        data = {"fields": patch.fields}
        return await self._change(caller, job_id, "change", changed, data, expected)

    async def pause(
        self, caller: Caller, job_id: UUID, until_at: datetime | None, reason: str
    ) -> StoredJob:
        """Pause until an instant, or until it is resumed; an instant in the past resumes."""

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
        async with self.store.transaction() as tx:
            stored = await tx.lock_job(caller.tenant_id, job_id)
            check_revision(stored.revision, expected)
            job = change(stored.job, stored.read_at)
            if job == stored.job:
                return stored
            reason = str((data or {}).get("reason", ""))
            await self._carry_over(tx, caller, stored.job, job, reason)
            is_over = job.archived_at is not None  # and its endpoints with it
            changed = job_after(stored, job, 0 if is_over else stored.endpoint_count)
            await tx.save_jobs([changed])
            await record(tx, caller.actor, job.tenant_id, f"job.{action}", job, data)
        return changed

    async def _carry_over(
        self, tx: Transaction, caller: Caller, before: Job, after: Job, reason: str
    ) -> None:
        """Apply the job's pause or end to its endpoints."""
        is_ended = after.archived_at != before.archived_at
        if not is_ended and after.paused_until == before.paused_until:
            return

        def carried_over(endpoint: Endpoint, now: datetime) -> Endpoint:
            if is_ended:
                return steering.archive(endpoint, now, self.cron)
            return steering.set_job_pause(endpoint, after.paused_until, now, self.cron)

        locked = await tx.lock_endpoints_of_job(after.tenant_id, after.id)
        pairs = [(row.endpoint, carried_over(row.endpoint, row.read_at)) for row in locked]
        await save_transitions(tx, pairs, person(caller, reason))
        if is_ended:
            await revoke_grants_of_endpoints(tx, caller, [row.endpoint.id for row in locked])

    def _check(self, definition: JobDefinition, accounts: Collection[str] | None) -> None:
        check_job(definition)
        problems = [
            *rule_errors(definition.rules, self.policy),
            *model_errors(definition.planner, self.policy),
            *(account_errors(definition.planner, accounts) if accounts is not None else ()),
        ]
        if problems:
            raise InvalidFields(problems)


async def account_names(
    billing: BillingReads, tenant_id: UUID, jobs: Sequence[JobDefinition] | None = None
) -> Collection[str]:
    """The accounts that a planner policy may name; not read where no job names one."""
    if jobs is not None and all(job.planner.account is None for job in jobs):
        return ()
    accounts = await billing.list_accounts(tenant_id, None, None, MOST_ACCOUNTS)
    return [account.name for account in accounts]


def job_after(stored: StoredJob, job: Job, endpoint_count: int) -> StoredJob:
    """The job as it is once this change is stored."""
    return replace(stored, job=job, revision=stored.revision + 1, endpoint_count=endpoint_count)


def _check_not_archived(job: Job) -> None:
    if job.archived_at is not None:
        raise Refused("the job is archived")
