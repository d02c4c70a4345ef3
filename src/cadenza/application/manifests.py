"""Everything that a tenant has declared: exported as a file, and changed by a file in one
transaction.

The difference is computed once: what is shown to the owner is what is written.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID
from weakref import WeakValueDictionary

from cadenza.application.endpoints import new_endpoint, redefinition
from cadenza.application.grants import revoke_grants_of_endpoints
from cadenza.application.graph_targets import GraphTargets
from cadenza.application.in_turns import in_turns
from cadenza.application.jobs import account_names
from cadenza.application.ports.catalogue import StoredEndpoint, StoredJob
from cadenza.application.ports.store import Channel, EndpointChange, Store, Transaction
from cadenza.application.recording import record
from cadenza.application.schedule_manifests import ScheduleManifests
from cadenza.domain import steering
from cadenza.domain.access import Caller
from cadenza.domain.analysis import changes_its_state
from cadenza.domain.billing import Account
from cadenza.domain.cron import Cron
from cadenza.domain.definition import EndpointDefinition, JobDefinition, declared, with_declared
from cadenza.domain.difference import Change, ChangeKind, Definition, differences
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.errors import InvalidFields, InvalidInput
from cadenza.domain.graph_target import GraphTarget
from cadenza.domain.planner_policy import account_errors
from cadenza.domain.schedule import DeclaredSchedule
from cadenza.domain.schedule_difference import ScheduleChange
from cadenza.domain.target import Target

AnyChange = Change | ScheduleChange
Completed = Callable[[JobDefinition, JobDefinition | None], JobDefinition]  # by what is stored


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a file declares."""

    jobs: Sequence[JobDefinition] = ()
    schedules: Sequence[DeclaredSchedule] = ()
    about: frozenset[str] | None = None  # the jobs that it is about, by name; None: everything


@dataclass(frozen=True, slots=True)
class Declared:
    """What is stored, by name: jobs, and endpoints by their job's name and their own."""

    jobs: dict[str, StoredJob]
    endpoints: dict[tuple[str, str], StoredEndpoint]

    async def definitions(self, *, with_secrets: bool) -> list[JobDefinition]:
        definitions = await in_turns(
            replace(
                stored.definition, target=stored.opened_target if with_secrets else stored.target
            )
            for stored in self.endpoints.values()
        )
        by_job: dict[str, list[EndpointDefinition]] = defaultdict(list)
        for (job_name, _), definition in zip(self.endpoints, definitions, strict=True):
            by_job[job_name].append(definition)
        return [
            replace(declared(stored.job), endpoints=tuple(by_job[name]))
            for name, stored in self.jobs.items()
        ]


@dataclass(frozen=True, slots=True)
class Manifests:
    store: Store
    cron: Cron
    schedules: ScheduleManifests
    graphs: GraphTargets
    new_id: Callable[[], UUID]
    _turns: WeakValueDictionary[UUID, asyncio.Lock] = field(
        default_factory=WeakValueDictionary[UUID, asyncio.Lock], init=False, repr=False
    )

    def _turn(self, tenant_id: UUID) -> asyncio.Lock:
        """One file of a tenant at a time: those that wait keep no transaction open."""
        return self._turns.setdefault(tenant_id, asyncio.Lock())

    async def export(
        self, caller: Caller
    ) -> tuple[Sequence[JobDefinition], Sequence[DeclaredSchedule]]:
        """Everything that is not archived or deleted, by name. Secrets appear by name only."""
        async with self._turn(caller.tenant_id), self.store.transaction() as tx:
            present = await _read(tx, caller.tenant_id)
            stored = await tx.declared_schedules(caller.tenant_id)
        return await present.definitions(with_secrets=False), [row.declared for row in stored]

    async def compare(self, caller: Caller, wanted: Wanted, *, prune: bool) -> Sequence[AnyChange]:
        """What applying the file would change."""
        schedules = await self.schedules.wanted(caller, wanted.schedules)
        jobs, _ = await self._checked(caller, wanted.jobs)
        async with self._turn(caller.tenant_id), self.store.transaction() as tx:
            present = await _read(tx, caller.tenant_id, wanted.about)
            stored, now = await tx.declared_schedules(caller.tenant_id), await tx.time()
        prune_schedules = prune and wanted.about is None
        before = await present.definitions(with_secrets=True)
        return (
            *await in_turns(differences(before, jobs, prune=prune)),
            *self.schedules.difference(stored, schedules, now, prune=prune_schedules),
        )

    async def apply(
        self,
        caller: Caller,
        wanted: Wanted,
        *,
        prune: bool,
        completed: Completed = lambda wanted, _: wanted,
    ) -> Sequence[AnyChange]:
        """Apply all changes or none, one apply at a time per tenant; returns what changed."""
        schedules = await self.schedules.wanted(caller, wanted.schedules)
        jobs, accounts = await self._checked(caller, wanted.jobs)
        async with self._turn(caller.tenant_id), self.store.transaction() as tx:
            _, now = await tx.lock_tenant(caller.tenant_id)
            await tx.lock_jobs(caller.tenant_id)
            present = await _read(tx, caller.tenant_id, wanted.about)
            stored = await tx.declared_schedules(caller.tenant_id)
            before = await present.definitions(with_secrets=True)
            by_name = {job.name: job for job in before}
            jobs = [completed(job, by_name.get(job.name)) for job in jobs]
            changes = await in_turns(differences(before, jobs, prune=prune))
            prune_schedules = prune and wanted.about is None
            others = self.schedules.difference(stored, schedules, now, prune=prune_schedules)
            await self._write(tx, caller, changes, present, accounts, now)
            await self.schedules.write(tx, caller, others, stored, schedules.accounts)
            data = {"jobs": len(wanted.jobs), "prune": prune}
            if wanted.schedules:
                data["schedules"] = len(wanted.schedules)
            await record(tx, caller.actor, caller.tenant_id, "manifest.apply", "manifest", data)
        return (*changes, *others)

    async def _checked(
        self, caller: Caller, jobs: Sequence[JobDefinition]
    ) -> tuple[Sequence[JobDefinition], Sequence[Account]]:
        """With the accounts that its graphs may name."""
        targets = [endpoint.target for job in jobs for endpoint in job.endpoints]
        has_graph = any(isinstance(target, GraphTarget) for target in targets)
        await self._check_payers(caller, jobs)
        accounts = await self.graphs.accounts(caller, ["graph"] if has_graph else ())
        return self.graphs.checked_jobs(jobs, accounts), accounts

    async def _check_payers(self, caller: Caller, jobs: Sequence[JobDefinition]) -> None:
        known = await account_names(self.graphs.billing, caller.tenant_id, jobs)
        errors = [
            InvalidInput(f"jobs[{index}].{error.field}", error.value, error.fix)
            for index, job in enumerate(jobs)
            for error in account_errors(job.planner, known)
        ]
        if errors:
            raise InvalidFields(errors)

    async def _write(
        self,
        tx: Transaction,
        caller: Caller,
        changes: Sequence[Change],
        present: Declared,
        accounts: Sequence[Account],
        now: datetime,
    ) -> None:
        changes = [change for change in changes if change.kind is not ChangeKind.UNCHANGED]
        of_endpoints = [change for change in changes if change.endpoint is not None]
        jobs = dict(present.jobs)
        jobs |= {
            change.job: self._job(change, caller.tenant_id, jobs.get(change.job), now)
            for change in changes
            if change.endpoint is None
        }
        new = [job for name, job in jobs.items() if name not in present.jobs]
        saved = [job for name, job in jobs.items() if present.jobs.get(name, job) is not job]
        created = [change for change in of_endpoints if change.kind is ChangeKind.CREATE]
        begun = await in_turns(self._begun(jobs[change.job], change.after) for change in created)
        added = [
            (endpoint, await self.graphs.authorised(tx, caller, endpoint.id, target, accounts))
            for endpoint, target in begun
        ]
        if saved:
            await tx.save_jobs(saved)
        if new:
            await tx.insert_jobs(new)
        changed = await self._changed(tx, caller, of_endpoints, present, accounts)
        if changed:
            await tx.save_endpoints(changed)
        if added:
            await tx.insert_endpoints(added)
        if changes:
            await tx.notify(Channel.DUE)

    def _job(
        self, change: Change, tenant_id: UUID, stored: StoredJob | None, now: datetime
    ) -> StoredJob:
        """As it is once the change is written: created, redefined, or archived."""
        if stored is None:
            stored = StoredJob(Job(self.new_id(), tenant_id, change.job), now, now)
        if change.after is None:
            return replace(stored, job=replace(stored.job, archived_at=now))
        assert isinstance(change.after, JobDefinition)
        return replace(stored, job=with_declared(stored.job, change.after, self.new_id))

    def _begun(self, job: StoredJob, definition: Definition | None) -> tuple[Endpoint, Target]:
        assert isinstance(definition, EndpointDefinition)
        endpoint = new_endpoint(self.new_id(), job, definition)
        return steering.begin(endpoint, job.read_at, self.cron), definition.target

    async def _changed(
        self,
        tx: Transaction,
        caller: Caller,
        changes: Sequence[Change],
        present: Declared,
        accounts: Sequence[Account],
    ) -> list[EndpointChange]:
        """Redefined, or archived. Only these are locked: the tenant's other endpoints go on."""
        wanted = {
            present.endpoints[change.job, change.endpoint].endpoint.id: change.after
            for change in changes
            if change.endpoint is not None and change.kind is not ChangeKind.CREATE
        }
        locked = await tx.lock_endpoints(list(wanted)) if wanted else ()
        for stored in locked:
            endpoint_id, definition = stored.endpoint.id, wanted[stored.endpoint.id]
            if isinstance(definition, EndpointDefinition):
                pair = (stored.target, definition.target)
                target = await self.graphs.replaced(tx, caller, endpoint_id, pair, accounts)
                wanted[endpoint_id] = replace(definition, target=target)
        archived = [endpoint_id for endpoint_id, wish in wanted.items() if wish is None]
        if archived:
            await revoke_grants_of_endpoints(tx, caller, archived)
        return await in_turns(self._change(stored, wanted[stored.endpoint.id]) for stored in locked)

    def _change(self, stored: StoredEndpoint, wanted: Definition | None) -> EndpointChange:
        if isinstance(wanted, EndpointDefinition):
            return redefinition(stored, wanted, self.cron)
        endpoint = steering.archive(stored.endpoint, stored.read_at, self.cron)
        is_news = changes_its_state(stored.endpoint, endpoint)
        return EndpointChange(endpoint, is_news, raises_revision=True)


async def _read(tx: Transaction, tenant_id: UUID, about: frozenset[str] | None = None) -> Declared:
    def is_meant(job_name: str) -> bool:
        return about is None or job_name in about

    jobs = await tx.declared_jobs(tenant_id)
    endpoints = await tx.declared_endpoints(tenant_id)
    return Declared(
        {stored.job.name: stored for stored in jobs if is_meant(stored.job.name)},
        {
            (stored.job_name, stored.endpoint.name): stored
            for stored in endpoints
            if is_meant(stored.job_name)
        },
    )
