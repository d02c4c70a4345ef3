"""A program declares its functions at every start: what is new is made, what has changed is
changed, and what is gone is paused until it comes back."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from cadenza.application.accounts import TENANT, USER, Tenants
from cadenza.application.manifests import AnyChange, Manifests, Wanted
from cadenza.application.ports.accounts import TenantReads
from cadenza.application.ports.catalogue import StoredEndpoint
from cadenza.application.ports.store import Store, Transaction
from cadenza.application.recording import record
from cadenza.application.transitions import person, save_transitions
from cadenza.domain import steering
from cadenza.domain.access import Actor, Caller, Scope, Tenant, User
from cadenza.domain.cron import Cron
from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.difference import Change, ChangeKind
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import AlreadyThere, NotFound
from cadenza.domain.function_target import FunctionTarget
from cadenza.domain.hint import Author
from cadenza.domain.target import Target

GONE = "the program does not have this function any more"


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What a start has changed, by `job/endpoint`, and where each function is stored."""

    created: Sequence[str]
    changed: Sequence[str]
    taken_over: Sequence[str]  # of those, what was not a function of this program before
    paused: Sequence[str]  # gone from the program
    resumed: Sequence[str]  # back in it
    endpoint_ids: dict[str, UUID]  # by function


@dataclass(frozen=True, slots=True)
class Programs:
    store: Store
    manifests: Manifests
    tenants: Tenants
    reads: TenantReads
    cron: Cron

    async def caller(self, program: str, tenant: str | None) -> Caller:
        """The program as a user of its tenant; the first tenant is made where there is none."""
        owner = await self._tenant(tenant)
        name = f"program {program}"
        user = await self._user(owner, name)
        return Caller(owner.id, user.id, user.id, name, (Scope.ADMIN,))

    async def _tenant(self, name: str | None) -> Tenant:
        wanted = name or TENANT
        if name is None and not await self.reads.list_tenants(None, 1):
            actor = Actor("program", "program")
            try:
                tenant_id, _ = await self.tenants.create(TENANT, None, actor=actor)
                await self.tenants.create_user(tenant_id, USER, actor=actor)
            except AlreadyThere:
                pass  # another process was faster
        after: UUID | None = None
        while tenants := await self.reads.list_tenants(after, 200):
            for tenant in tenants:
                if tenant.name == wanted:
                    return tenant
            after = tenants[-1].id
        raise NotFound(f"there is no tenant {wanted!r}; name one that is there, with tenant=")

    async def _user(self, tenant: Tenant, name: str) -> User:
        for _ in range(2):
            users = await self.reads.list_users(tenant.id)
            for user in users:
                if user.name == name:
                    return user
            try:
                made, _ = await self.tenants.create_user(tenant.id, name)
            except AlreadyThere:
                continue  # another process was faster
            return made
        raise NotFound(f"there is no user {name!r}")

    async def reconcile(
        self, caller: Caller, program: str, jobs: Sequence[JobDefinition]
    ) -> Reconciled:
        names = {(job.name, endpoint.name) for job in jobs for endpoint in job.endpoints}
        changes = await self.manifests.apply(
            caller, Wanted(jobs), prune=False, completed=keeping_what_others_declared
        )
        async with self.store.transaction() as tx:
            stored = await tx.declared_endpoints(caller.tenant_id)
            ours = [one for one in stored if _is_of(program, one)]
            gone = [one for one in ours if (one.job_name, one.endpoint.name) not in names]
            present = [one for one in ours if (one.job_name, one.endpoint.name) in names]
            paused = await self._transition(tx, caller, gone, self._paused, "pause")
            resumed = await self._transition(tx, caller, present, self._resumed, "resume")
        return Reconciled(
            _named(changes, ChangeKind.CREATE),
            _named(changes, ChangeKind.UPDATE),
            _taken_over(program, changes),
            paused,
            resumed,
            {_function(one): one.endpoint.id for one in present},
        )

    async def _transition(
        self,
        tx: Transaction,
        caller: Caller,
        endpoints: Sequence[StoredEndpoint],
        transition: Callable[[Endpoint, datetime], Endpoint],
        action: str,
    ) -> list[str]:
        """Those that it changes."""
        affected = [
            one.endpoint.id
            for one in endpoints
            if transition(one.endpoint, one.read_at).person_pause != one.endpoint.person_pause
        ]
        locked = await tx.lock_endpoints(affected) if affected else ()
        pairs = [(one.endpoint, transition(one.endpoint, one.read_at)) for one in locked]
        reason = GONE if action == "pause" else ""
        await save_transitions(tx, pairs, person(caller, reason))
        data = {"reason": reason} if reason else None
        for _, after in pairs:
            actor, tenant_id = caller.actor, caller.tenant_id
            await record(tx, actor, tenant_id, f"endpoint.{action}", after, data)
        names = {one.endpoint.id: f"{one.job_name}/{one.endpoint.name}" for one in endpoints}
        return [names[after.id] for _, after in pairs]

    def _paused(self, endpoint: Endpoint, now: datetime) -> Endpoint:
        """Unless a person holds it already, whose pause is left as it is."""
        pause = endpoint.person_pause
        if pause is not None and pause.until_at > now:
            return endpoint
        return steering.pause(endpoint, None, Author.PERSON, GONE, now, self.cron)

    def _resumed(self, endpoint: Endpoint, now: datetime) -> Endpoint:
        """Only from our own pause: that of a person has its user."""
        pause = endpoint.person_pause
        if pause is None or pause.until_at <= now or pause.user_id is not None:
            return endpoint
        return steering.resume(endpoint, Author.PERSON, now, self.cron)


def keeping_what_others_declared(
    wanted: JobDefinition, stored: JobDefinition | None
) -> JobDefinition:
    """A job may have more than a program's functions: rules about others stay, and so do its
    description and policy where the program gives none."""
    if stored is None:
        return wanted
    own = {endpoint.name for endpoint in wanted.endpoints}
    names = {rule.name for rule in wanted.rules}
    others = [rule for rule in stored.rules if rule.endpoint not in own and rule.name not in names]
    return replace(
        wanted,
        description=wanted.description or stored.description,
        rules=(*others, *wanted.rules),
        planner=stored.planner if wanted.planner == JobDefinition("").planner else wanted.planner,
    )


def _is_of(program: str, stored: StoredEndpoint) -> bool:
    return _is_function_of(program, stored.target)


def _is_function_of(program: str, target: Target) -> bool:
    return isinstance(target, FunctionTarget) and target.program == program


def _taken_over(program: str, changes: Sequence[AnyChange]) -> list[str]:
    return [
        f"{change.job}/{change.endpoint}"
        for change in changes
        if isinstance(change, Change)
        and isinstance(change.before, EndpointDefinition)
        and not _is_function_of(program, change.before.target)
    ]


def _function(stored: StoredEndpoint) -> str:
    assert isinstance(stored.target, FunctionTarget)
    return stored.target.function


def _named(changes: Collection[object], kind: ChangeKind) -> list[str]:
    return [
        f"{change.job}/{change.endpoint}"
        for change in changes
        if isinstance(change, Change) and change.kind is kind and change.endpoint is not None
    ]
