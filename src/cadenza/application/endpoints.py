"""Use cases of an endpoint's definition: create, redefine, archive, test."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from cadenza.application.grants import revoke_grants_of_endpoints
from cadenza.application.graph_targets import GraphTargets
from cadenza.application.jobs import Patch, Revisions
from cadenza.application.ports.catalogue import EndpointReads, StoredEndpoint, StoredJob
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.application.ports.store import Channel, EndpointChange, Store, Transaction
from cadenza.application.recording import check_revision, created_before, record
from cadenza.application.transitions import moves_plan, person, save_transitions
from cadenza.domain import steering
from cadenza.domain.access import Caller
from cadenza.domain.analysis import changes_its_state
from cadenza.domain.audit import IdempotencyRecord
from cadenza.domain.cron import Cron
from cadenza.domain.definition import EndpointDefinition, ValidationPolicy, check_endpoint
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import InvalidInput, Refused
from cadenza.domain.function_target import FunctionTarget
from cadenza.domain.graph_target import GraphTarget
from cadenza.domain.plan import Source
from cadenza.domain.rule import Rule, can_be_quoted, naming, siblings_in, with_renamed
from cadenza.domain.run import Claim, Outcome
from cadenza.domain.target import ANYWHERE, Target, dropped_secrets, masking_secrets

EndpointPatch = Patch[EndpointDefinition]
_NO_TEST: dict[type[Target], str] = {
    GraphTarget: "a graph runs on a graph worker, and not as a test: `cadenza run` does it, under "
    "the same grant and limits",
    FunctionTarget: "a function runs in its own program, and not as a test: `cadenza run` does it",
}


@dataclass(frozen=True, slots=True)
class Endpoints:
    store: Store
    cron: Cron
    policy: ValidationPolicy
    clock: Clock
    new_id: Callable[[], UUID]
    graphs: GraphTargets

    async def create(
        self,
        caller: Caller,
        job_id: UUID,
        definition: EndpointDefinition,
        sent: IdempotencyRecord | None = None,
    ) -> tuple[StoredEndpoint, bool]:
        """Returns the endpoint, and whether an earlier identical request had created it."""
        check_endpoint(definition, self.policy, self.clock.now(), self.cron)
        endpoint_id, tenant_id = self.new_id(), caller.tenant_id
        is_graph = isinstance(definition.target, GraphTarget)
        accounts = await self.graphs.accounts(caller, ["graph"] if is_graph else ())
        target = self.graphs.checked(definition.target, None, accounts)
        async with self.store.transaction() as tx:
            if (existing := await created_before(tx, tenant_id, sent, endpoint_id)) is not None:
                return await tx.get_endpoint(tenant_id, existing), True
            job = await tx.share_job(tenant_id, job_id)
            endpoint = new_endpoint(endpoint_id, job, definition)
            target = await self.graphs.authorised(tx, caller, endpoint_id, target, accounts)
            stored = await add_endpoint(tx, job, endpoint, target, self.cron)
            data = {"name": endpoint.name}
            await record(tx, caller.actor, tenant_id, "endpoint.create", endpoint, data)
        return stored, False

    async def redefine(
        self, caller: Caller, endpoint_id: UUID, patch: EndpointPatch, expected: Revisions = None
    ) -> tuple[StoredEndpoint, list[str]]:
        """Returns the changed endpoint, and warnings for its owner."""
        accounts = await self.graphs.accounts(caller, patch.fields)
        async with self.store.transaction() as tx:
            job = await self._job_of_renamed(tx, caller, endpoint_id, patch)
            stored = await tx.lock_endpoint(caller.tenant_id, endpoint_id, with_secrets=True)
            check_revision(stored.revision, expected)
            if stored.endpoint.archived_at is not None:
                raise Refused("it is archived, and can no longer be changed")
            wanted = patch.applied_to(stored.definition)
            check_endpoint(wanted, self.policy, stored.read_at, self.cron)
            target = self.graphs.checked(wanted.target, stored.opened_target, accounts)
            if replace(wanted, target=target) == stored.definition:
                return stored, []
            dropped = dropped_secrets(target, stored.target)
            pair = (stored.target, target)
            target = await self.graphs.replaced(tx, caller, endpoint_id, pair, accounts)
            definition = replace(wanted, target=target)
            change = redefinition(stored, definition, self.cron)
            endpoint, data = change.endpoint, {"fields": patch.fields}
            await tx.save_endpoints([change])
            if job is not None and (rules := naming(job.job.rules, stored.endpoint.name)):
                await _rename_in_rules(tx, job, stored.endpoint.name, endpoint.name)
                data["renamed_in_rules"] = [rule.name for rule in rules]
            if moves_plan(stored.endpoint, endpoint):
                await tx.notify(Channel.DUE)
            await record(tx, caller.actor, caller.tenant_id, "endpoint.change", endpoint, data)
        changed = replace(stored.after(endpoint, target), revision=stored.revision + 1)
        return changed, [dropped] if dropped else []

    async def _job_of_renamed(
        self, tx: Transaction, caller: Caller, endpoint_id: UUID, patch: EndpointPatch
    ) -> StoredJob | None:
        """The job is locked before the endpoint, as everywhere, because its rules may name the
        endpoint."""
        if "name" not in patch.fields:
            return None
        stored = await tx.get_endpoint(caller.tenant_id, endpoint_id)
        return await tx.lock_job(caller.tenant_id, stored.endpoint.job_id)

    async def archive(self, caller: Caller, endpoint_id: UUID) -> StoredEndpoint:
        async with self.store.transaction() as tx:
            stored = await tx.lock_endpoint(caller.tenant_id, endpoint_id)
            archived = steering.archive(stored.endpoint, stored.read_at, self.cron)
            if archived == stored.endpoint:
                return stored
            await save_transitions(tx, [(stored.endpoint, archived)], person(caller))
            await revoke_grants_of_endpoints(tx, caller, [endpoint_id])
            await record(tx, caller.actor, caller.tenant_id, "endpoint.archive", archived)
        return replace(stored.after(archived), revision=stored.revision + 1)


async def _rename_in_rules(tx: Transaction, stored: StoredJob, before: str, after: str) -> None:
    """Rules follow a renamed endpoint; refused where an expression could not quote the new name."""
    rules = tuple(with_renamed(rule, before, after) for rule in stored.job.rules)
    if not can_be_quoted(after):
        stuck = [rule.name for rule in stored.job.rules if before in _named_in_expressions(rule)]
        if stuck:
            fix = f"no quotes and no backslash: these rules name it: {', '.join(stuck)}"
            raise InvalidInput("name", after, fix)
    await tx.save_jobs([replace(stored, job=replace(stored.job, rules=rules))])


def _named_in_expressions(rule: Rule) -> list[str]:
    return [*siblings_in(rule.when), *siblings_in(rule.then.at or "")]


def new_endpoint(endpoint_id: UUID, job: StoredJob, definition: EndpointDefinition) -> Endpoint:
    return Endpoint(
        id=endpoint_id,
        tenant_id=job.job.tenant_id,
        job_id=job.job.id,
        name=definition.name,
        baseline=definition.baseline,
        created_at=job.read_at,
        min_interval=definition.min_interval,
        max_interval=definition.max_interval,
        backs_off=definition.backs_off,
        job_paused_until=job.job.paused_until,
    )


async def add_endpoint(
    tx: Transaction, job: StoredJob, endpoint: Endpoint, target: Target, cron: Cron
) -> StoredEndpoint:
    """Plan and insert an endpoint of a job that is locked."""
    if job.job.archived_at is not None:
        raise Refused("the job is archived")
    planned = steering.begin(endpoint, job.read_at, cron)
    await tx.insert_endpoints([(planned, target)])
    await tx.notify(Channel.DUE)
    next_run = (planned.next_run_at, planned.next_source)
    return StoredEndpoint(planned, masking_secrets(target), job.job.name, job.read_at, *next_run)


def redefinition(
    stored: StoredEndpoint, definition: EndpointDefinition, cron: Cron
) -> EndpointChange:
    """The change of a locked endpoint; `definition.target` holds the secrets to store."""
    endpoint = steering.edit(
        replace(stored.endpoint, name=definition.name),
        baseline=definition.baseline,
        min_interval=definition.min_interval,
        max_interval=definition.max_interval,
        backs_off=definition.backs_off,
        now=stored.read_at,
        cron=cron,
    )
    is_news = changes_its_state(stored.endpoint, endpoint)
    return EndpointChange(endpoint, is_news, definition.target, raises_revision=True)


@dataclass(frozen=True, slots=True)
class EndpointTest:
    """Calls a target once. A test is not a run and counts for nothing."""

    endpoints: EndpointReads
    dispatcher: Dispatcher
    clock: Clock
    new_id: Callable[[], UUID]

    async def call(self, caller: Caller, endpoint_id: UUID) -> tuple[Outcome, timedelta]:
        """The outcome, and how long it took."""
        stored = await self.endpoints.get_endpoint(caller.tenant_id, endpoint_id, with_secrets=True)
        if stored.target.runs_on != ANYWHERE:
            raise Refused(_NO_TEST[type(stored.target)])
        endpoint, started_at = stored.endpoint, self.clock.now()
        claim = Claim(
            run_id=self.new_id(),
            endpoint_id=endpoint.id,
            tenant_id=endpoint.tenant_id,
            job_id=endpoint.job_id,
            endpoint_name=endpoint.name,
            target=stored.opened_target,
            slot_at=started_at,
            source=Source.MANUAL,
            epoch=1,
            first_claimed_at=started_at,
            host=stored.target.host,
            is_manual=True,
        )
        outcome = await self.dispatcher.dispatch(claim)
        return outcome, self.clock.now() - started_at
