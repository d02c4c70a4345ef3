"""Graphs as targets of endpoints: what is checked before one is stored."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from cadenza.application.grants import revoke_grants_of_endpoints
from cadenza.application.graph_grants import (
    MOST_ACCOUNTS,
    GrantChoice,
    GraphGrants,
    chosen_account,
)
from cadenza.application.ports.billing import BillingReads
from cadenza.application.ports.store import Transaction
from cadenza.domain.access import Caller
from cadenza.domain.billing import Account
from cadenza.domain.definition import JobDefinition
from cadenza.domain.errors import InvalidFields, InvalidInput
from cadenza.domain.graph_target import GraphTarget, Mandate
from cadenza.domain.target import Target, keeping_stored

CHOOSES_GRANT = frozenset(("graph", "grant", "account"))  # fields of an endpoint's document


@dataclass(frozen=True, slots=True)
class GraphTargets:
    grants: GraphGrants
    billing: BillingReads

    async def accounts(self, caller: Caller, fields: Iterable[str]) -> Sequence[Account]:
        """The accounts that a document may name; empty where none of its fields concerns
        payment."""
        if CHOOSES_GRANT.isdisjoint(fields):
            return ()
        return await self.billing.list_accounts(caller.tenant_id, None, None, MOST_ACCOUNTS)

    def checked(self, wanted: Target, stored: Target | None, accounts: Sequence[Account]) -> Target:
        """The target to write. A graph's account must exist by its name, and its model must have a
        price."""
        named = self._named(keeping_stored(wanted, stored), accounts)
        return keeping_stored(named, stored)

    def _named(self, target: Target, accounts: Sequence[Account]) -> Target:
        if not isinstance(target, GraphTarget):
            return target
        self.grants.check_model(target.model)
        if target.account is None or target.mandate is not None:  # then it is known
            return target
        return replace(target, account=chosen_account(accounts, target.account).name)

    def checked_jobs(
        self, jobs: Sequence[JobDefinition], accounts: Sequence[Account]
    ) -> Sequence[JobDefinition]:
        """Raises InvalidFields with every problem and its path in the file."""
        errors: list[InvalidInput] = []
        checked: list[JobDefinition] = []
        for job_index, job in enumerate(jobs):
            endpoints = list(job.endpoints)
            for index, endpoint in enumerate(endpoints):
                try:
                    target = self._named(endpoint.target, accounts)
                    endpoints[index] = replace(endpoint, target=target)
                except InvalidInput as error:
                    path = f"jobs[{job_index}].endpoints[{index}].{error.field}"
                    errors.append(InvalidInput(path, error.value, error.fix))
            checked.append(replace(job, endpoints=tuple(endpoints)))
        if errors:
            raise InvalidFields(errors)
        return checked

    async def authorised(
        self,
        tx: Transaction,
        caller: Caller,
        endpoint_id: UUID,
        target: Target,
        accounts: Sequence[Account],
    ) -> Target:
        """The target with its grant; one that has its mandate keeps it."""
        if not isinstance(target, GraphTarget) or target.mandate is not None:
            return target
        account = None
        if target.grant_id is None:
            account = chosen_account(accounts, target.account)
        grant = await self.grants.take(
            tx,
            caller,
            GrantChoice(
                target.graph_id,
                target.grant_id,
                account.id if account else None,
                field="grant",
                endpoint_id=endpoint_id,
            ),
        )
        mandate = Mandate(grant.id, grant.user_id, grant.account_id)
        return replace(target, account=account.name if account else None, mandate=mandate)

    async def replaced(
        self,
        tx: Transaction,
        caller: Caller,
        endpoint_id: UUID,
        targets: tuple[Target, Target],
        accounts: Sequence[Account],
    ) -> Target:
        """The new target in place of a stored one; a grant that was made for the old one is
        revoked."""
        stored, wanted = targets
        keeps_mandate = isinstance(wanted, GraphTarget) and wanted.mandate is not None
        if isinstance(stored, GraphTarget) and not keeps_mandate:
            await revoke_grants_of_endpoints(tx, caller, [endpoint_id])
        return await self.authorised(tx, caller, endpoint_id, wanted, accounts)
