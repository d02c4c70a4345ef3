"""Keys of accounts in a real database: bound to their row, and moved to a new master key."""

from uuid import UUID, uuid4

import pytest

from cadenza.adapters.postgres.billing import PostgresBilling
from cadenza.adapters.postgres.secrets import SealedValues
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.secrets.box import AesGcmBox
from cadenza.domain.billing import Account, ModelApi, VirtualKey
from cadenza.domain.errors import SecretUnreadable
from cadenza.domain.graph import GraphCaller
from cadenza.domain.target import Secret
from tests.adapters.postgres.support import World
from tests.adapters.postgres.test_secrets import ID_OF_ONE, ID_OF_TWO, ONE, TWO, box_of
from tests.factories import NOON

OPENAI, ANTHROPIC = ModelApi.OPENAI, ModelApi.ANTHROPIC


async def _add(world: World, box: AesGcmBox, tenant_id: UUID) -> Account:
    """An account with a key for each api, and one that was revoked."""
    account = Account(uuid4(), tenant_id, f"account {uuid4()}", 0, NOON)
    async with PostgresStore(world.database, box).transaction() as tx:
        await tx.insert_account(account)
        for api in ModelApi:
            key = VirtualKey(
                uuid4(), account.id, str(api), api, "https://api.example", "", True, NOON
            )
            await tx.insert_virtual_key(account, key, Secret(f"sk-{api}"))
        gone = VirtualKey(uuid4(), account.id, "old", OPENAI, "https://x.example", "", False, NOON)
        await tx.insert_virtual_key(account, gone, Secret("sk-old"))
        revoked = (gone.id, gone.account_id, gone.name, gone.api, gone.base_url, "", False, NOON)
        await tx.save_virtual_key(VirtualKey(*revoked, revoked_at=NOON))
    return account


async def _opened(world: World, box: AesGcmBox, account: Account, api: ModelApi) -> str | None:
    caller = GraphCaller(account.tenant_id, uuid4(), uuid4(), account.id)
    means = await PostgresBilling(world.database, box).means_of(caller, api)
    return None if means.provider is None else means.provider.key.value


async def test_a_rotation_takes_the_keys_of_accounts_along(world: World) -> None:
    tenant_id = (await world.add()).tenant_id
    account = await _add(world, box_of(ONE), tenant_id)
    values = SealedValues(world.database, box_of(TWO, ONE))
    assert await values.count_by_key() == {ID_OF_ONE: 2}
    done = await values.reseal()
    assert (done.values, done.held, done.unreadable) == (2, 0, [])
    assert await values.count_by_key() == {ID_OF_TWO: 2}
    for api in ModelApi:
        assert await _opened(world, box_of(TWO), account, api) == f"sk-{api}"
    assert (await values.reseal()).values == 0


async def test_a_key_without_its_master_key_stays_and_is_reported(world: World) -> None:
    tenant_id = (await world.add()).tenant_id
    account = await _add(world, box_of(ONE), tenant_id)
    done = await SealedValues(world.database, box_of(TWO)).reseal()
    assert {each.column for each in done.unreadable} == {"virtual_keys.sealed"}
    with pytest.raises(SecretUnreadable):
        await _opened(world, box_of(TWO), account, OPENAI)
    assert await _opened(world, box_of(ONE), account, OPENAI) == "sk-openai"


async def test_a_sealed_key_opens_nowhere_but_in_its_own_row(world: World) -> None:
    tenant_id, box = (await world.add()).tenant_id, box_of(ONE)
    account = await _add(world, box, tenant_id)
    await world.execute(
        "UPDATE virtual_keys SET sealed = (SELECT sealed FROM virtual_keys WHERE api = 'openai'"
        " AND sealed IS NOT NULL) WHERE api = 'anthropic'"
    )
    assert await _opened(world, box, account, OPENAI) == "sk-openai"
    with pytest.raises(SecretUnreadable):
        await _opened(world, box, account, ANTHROPIC)
