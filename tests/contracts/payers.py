"""An account with credits, a key and a grant, put into a store by hand."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

from cadenza.domain.billing import Account, Charge, LedgerEntry, ModelApi, TokenUsage, VirtualKey
from cadenza.domain.grant import Grant
from cadenza.domain.graph import GraphCaller
from cadenza.domain.target import Secret
from tests.contracts.harness import Store
from tests.factories import id_of

TENANT, USER, ACCOUNT = id_of("tenant"), id_of("user"), id_of("account")
GRAPH = "python:shop.jobs:digest"
KEY = "sk-of-the-tests-0123456789"


async def open_account(store: Store, credits: int = 0, name: str = "research") -> Account:  # noqa: A002
    await store.endpoints.add_tenant(TENANT)
    account_id = ACCOUNT if name == "research" else id_of(name)
    async with store.transaction() as tx:
        account = Account(account_id, TENANT, name, 0, await tx.time())
        await tx.insert_account(account)
        if credits:
            await tx.add_entry(account, credits, "top-up", "first")
    return await store.billing.get_account(TENANT, account_id)


async def give_key(store: Store, account: Account, api: ModelApi = ModelApi.OPENAI) -> VirtualKey:
    key = VirtualKey(
        uuid4(),
        account.id,
        f"key {api}",
        api,
        f"https://{api}.example/v1",
        KEY[-4:],
        is_default=True,
        created_at=await store.clock.now(),
    )
    async with store.transaction() as tx:
        await tx.insert_virtual_key(account, key, Secret(KEY))
    return key


async def give_grant(
    store: Store,
    account: Account,
    scopes: Sequence[str] = ("graph:execute:*",),
    expires_at: datetime | None = None,
) -> Grant:
    now = await store.clock.now()
    grant = Grant(uuid4(), TENANT, USER, account.id, tuple(scopes), now, expires_at)
    async with store.transaction() as tx:
        await tx.insert_grant(grant)
    return grant


def caller_of(grant: Grant) -> GraphCaller:
    return GraphCaller(grant.tenant_id, grant.user_id, grant.id, grant.account_id)


def make_charge(unit: str = "1", cost: int = 15, run_id: UUID | None = None) -> Charge:
    usage = TokenUsage(10, 5, 4, 1)
    run_id = run_id or id_of("run")
    return Charge(ACCOUNT, TENANT, run_id, 1, unit, "small", usage, cost, graph_id=GRAPH)


async def ledger(store: Store) -> Sequence[LedgerEntry]:
    """The oldest first."""
    return [*reversed(await store.billing.read_ledger(TENANT, ACCOUNT, None, 1000))]
