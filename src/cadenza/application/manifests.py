"""All that a tenant has declared: exported as one piece, and changed by a file in one transaction.

The difference is computed once: what is shown to the owner is what is written.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from cadenza.application.endpoints import new_endpoint, redefinition
from cadenza.application.ports.catalogue import StoredEndpoint, StoredJob
from cadenza.application.ports.store import Channel, EndpointChange, Store, Transaction
from cadenza.application.recording import record
from cadenza.application.schedule_manifests import ScheduleManifests
from cadenza.domain import steering
from cadenza.domain.access import Caller
from cadenza.domain.analysis import changes_its_state
from cadenza.domain.cron import Cron
from cadenza.domain.definition import EndpointDefinition, JobDefinition, declared, with_declared
from cadenza.domain.difference import Change, ChangeKind, difference
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.rule import with_ids
from cadenza.domain.schedule import DeclaredSchedule
from cadenza.domain.schedule_difference import ScheduleChange
from cadenza.domain.target import Target

AnyChange = Change | ScheduleChange


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a file declares."""

    jobs: Sequence[JobDefinition] = ()
    schedules: Sequence[DeclaredSchedule] = ()


@dataclass(frozen=True, slots=True)
class Declared:
    """What is there, by name: jobs, and endpoints by the name of their job and their own."""

    jobs: dict[str, StoredJob]
    endpoints: dict[tuple[str, str], StoredEndpoint]

    def definitions(self, *, with_secrets: bool) -> list[JobDefinition]:
        by_job: dict[str, list[EndpointDefinition]] = defaultdict(list)
        for (job_name, _), stored in self.endpoints.items():
            target = stored.opened_target if with_secrets else stored.target
            by_job[job_name].append(replace(stored.definition, target=target))
        return [
            replace(declared(stored.job), endpoints=tuple(by_job[name]))
            for name, stored in self.jobs.items()
        ]


class Manifests:
    def __init__(
        self, store: Store, cron: Cron, schedules: ScheduleManifests, new_id: Callable[[], UUID]
    ) -> None:
        self._store = store
        self._cron = cron
        self._schedules = schedules
        self._new_id = new_id

    async def export(
        self, caller: Caller
    ) -> tuple[Sequence[JobDefinition], Sequence[DeclaredSchedule]]:
        """Everything that is not archived or deleted, by name; secrets are only named."""
        async with self._store.transaction() as tx:
            present = await _read(tx, caller.tenant_id)
            stored = await tx.declared_schedules(caller.tenant_id)
        return present.definitions(with_secrets=False), [row.declared for row in stored]

    async def compare(self, caller: Caller, wanted: Wanted, *, prune: bool) -> Sequence[AnyChange]:
        """What applying it would change."""
        schedules = await self._schedules.wanted(caller, wanted.schedules)
        async with self._store.transaction() as tx:
            present = await _read(tx, caller.tenant_id)
            stored, now = await tx.declared_schedules(caller.tenant_id), await tx.time()
        return (
            *difference(present.definitions(with_secrets=True), wanted.jobs, prune=prune),
            *self._schedules.difference(stored, schedules, now, prune=prune),
        )

    async def apply(self, caller: Caller, wanted: Wanted, *, prune: bool) -> Sequence[AnyChange]:
        """All of it or nothing, one at a time for a tenant; what was changed."""
        schedules = await self._schedules.wanted(caller, wanted.schedules)
        async with self._store.transaction() as tx:
            _, now = await tx.lock_tenant(caller.tenant_id)
            present = await _read(tx, caller.tenant_id)
            stored = await tx.declared_schedules(caller.tenant_id)
            changes = difference(present.definitions(with_secrets=True), wanted.jobs, prune=prune)
            others = self._schedules.difference(stored, schedules, now, prune=prune)
            await self._write(tx, caller.tenant_id, changes, present, now)
            await self._schedules.write(tx, caller, others, stored, schedules.accounts)
            data = {"jobs": len(wanted.jobs), "prune": prune}
            if wanted.schedules:
                data["schedules"] = len(wanted.schedules)
            await record(
                tx, caller.actor, caller.tenant_id, "manifest.apply", "manifest", data=data
            )
        return (*changes, *others)

    async def _write(
        self,
        tx: Transaction,
        tenant_id: UUID,
        changes: Sequence[Change],
        present: Declared,
        now: datetime,
    ) -> None:
        of_jobs = [change for change in changes if change.endpoint is None]
        of_endpoints = [change for change in changes if change.endpoint is not None]
        jobs = await self._write_jobs(tx, tenant_id, of_jobs, present, now)
        added = [
            self._added(jobs[change.job], change)
            for change in of_endpoints
            if change.kind is ChangeKind.CREATE
        ]
        changed = await self._changed(tx, of_endpoints, present)
        if changed:
            await tx.save_endpoints(changed)
        if added:
            await tx.insert_endpoints(added)
        if any(change.kind is not ChangeKind.UNCHANGED for change in changes):
            await tx.notify(Channel.DUE)

    async def _write_jobs(
        self,
        tx: Transaction,
        tenant_id: UUID,
        changes: Sequence[Change],
        present: Declared,
        now: datetime,
    ) -> dict[str, StoredJob]:
        """The jobs by name, as they are now."""
        jobs, new, saved = dict(present.jobs), list[StoredJob](), list[StoredJob]()
        for change in changes:
            if change.kind is ChangeKind.CREATE:
                job = Job(self._new_id(), tenant_id, change.job)
                stored = StoredJob(self._declared(job, change), now, now)
                new.append(stored)
            elif change.kind is ChangeKind.UPDATE:
                stored = jobs[change.job]
                stored = replace(stored, job=self._declared(stored.job, change))
                saved.append(stored)
            elif change.kind is ChangeKind.ARCHIVE:
                stored = jobs[change.job]
                stored = replace(stored, job=replace(stored.job, archived_at=now))
                saved.append(stored)
            else:
                continue
            jobs[change.job] = stored
        if saved:
            await tx.save_jobs(saved)
        if new:
            await tx.insert_jobs(new)
        return jobs

    def _declared(self, job: Job, change: Change) -> Job:
        assert isinstance(change.after, JobDefinition)
        rules = with_ids(change.after.rules, job.rules, self._new_id)
        return replace(with_declared(job, change.after), rules=rules)

    def _added(self, job: StoredJob, change: Change) -> tuple[Endpoint, Target]:
        assert isinstance(change.after, EndpointDefinition)
        endpoint = new_endpoint(self._new_id(), job, change.after)
        paused = replace(endpoint, job_paused_until=job.job.paused_until)
        return steering.begin(paused, job.read_at, self._cron), change.after.target

    async def _changed(
        self, tx: Transaction, changes: Sequence[Change], present: Declared
    ) -> list[EndpointChange]:
        """Redefined, or archived. Only these are locked: the tenant's other endpoints go on."""
        wanted = {
            present.endpoints[change.job, change.endpoint].endpoint.id: change.after
            for change in changes
            if change.endpoint is not None
            and change.kind in (ChangeKind.UPDATE, ChangeKind.ARCHIVE)
        }
        locked = await tx.lock_endpoints(list(wanted)) if wanted else ()
        return [self._change(stored, wanted[stored.endpoint.id]) for stored in locked]

    def _change(
        self, stored: StoredEndpoint, wanted: JobDefinition | EndpointDefinition | None
    ) -> EndpointChange:
        if isinstance(wanted, EndpointDefinition):
            return redefinition(stored, wanted, self._cron)
        endpoint = steering.archive(stored.endpoint, stored.read_at, self._cron)
        is_news = changes_its_state(stored.endpoint, endpoint)
        return EndpointChange(endpoint, is_news, raises_revision=True)


async def _read(tx: Transaction, tenant_id: UUID) -> Declared:
    jobs = await tx.declared_jobs(tenant_id)
    endpoints = await tx.declared_endpoints(tenant_id)
    return Declared(
        {stored.job.name: stored for stored in jobs},
        {(stored.job_name, stored.endpoint.name): stored for stored in endpoints},
    )
