"""The grant under which a schedule or an endpoint runs its graph, and whether it can be paid."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from cadenza.application.grants import NewGrant, add_grant
from cadenza.application.ports.gateway import Prices
from cadenza.application.ports.store import Transaction
from cadenza.domain.access import Caller
from cadenza.domain.billing import Account, ModelApi, TokenUsage, check_credits
from cadenza.domain.errors import InvalidInput
from cadenza.domain.grant import EXECUTE, Grant, refusal

MOST_ACCOUNTS = 10_000


@dataclass(frozen=True, slots=True)
class GrantChoice:
    """An existing grant, or a new one for an account."""

    graph_id: str
    grant_id: UUID | None
    account_id: UUID | None
    field: str = "grant_id"  # as an error names it
    schedule_id: UUID | None = None
    endpoint_id: UUID | None = None


class GraphGrants:
    def __init__(self, prices: Prices, new_id: Callable[[], UUID]) -> None:
        self._prices = prices
        self._new_id = new_id

    def check_model(self, model: str | None) -> None:
        """Refuse a model without a known price now, not at its first call."""
        if model is None:
            return
        errors: list[InvalidInput] = []
        for api in ModelApi:
            try:
                self._prices.credits(api, model, TokenUsage())
            except InvalidInput as error:
                errors.append(error)
            else:
                return
        raise InvalidInput("input.model", model, errors[0].fix)

    async def take(self, tx: Transaction, caller: Caller, choice: GrantChoice) -> Grant:
        """InsufficientCredits where the account has none; NotFound for another tenant's."""
        grant = await self._grant(tx, caller, choice)
        check_credits(await tx.lock_account(caller.tenant_id, grant.account_id))
        return grant

    async def _grant(self, tx: Transaction, caller: Caller, choice: GrantChoice) -> Grant:
        graph_id = choice.graph_id
        if choice.grant_id is None:
            assert choice.account_id is not None
            await tx.lock_account(caller.tenant_id, choice.account_id)
            wanted = NewGrant(choice.account_id, (EXECUTE + graph_id,))
            owners = (choice.schedule_id, choice.endpoint_id)
            return await add_grant(tx, caller, self._new_id(), wanted, *owners)
        grant, now = await tx.lock_grant(caller.tenant_id, choice.grant_id)
        if grant.user_id != caller.user_id:
            raise InvalidInput(choice.field, str(grant.id), "a grant that you gave yourself")
        if (refused := refusal(grant, graph_id, now)) is not None:
            fix = f"a grant that is in force and allows {graph_id} (this one: {refused})"
            raise InvalidInput(choice.field, str(grant.id), fix)
        return grant


def chosen_account(
    accounts: Sequence[Account], wanted: str | None = None, field: str = "account"
) -> Account:
    """By the name or id in a file; the tenant's only account where none is named."""
    if wanted is None and len(accounts) == 1:
        return accounts[0]
    for account in accounts:
        if wanted in (account.name, str(account.id)):
            return account
    fix = "name the account that pays: `cadenza accounts list` shows those there are"
    if not accounts:
        fix = "there is none: create one with `cadenza accounts create`"
    raise InvalidInput(field, wanted, fix)
