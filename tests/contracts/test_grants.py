"""Grants: every use is logged once, and an end that comes near is told of once."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from cadenza.application.grants import notify_of_expiring_grants
from cadenza.domain.errors import NotFound
from cadenza.domain.grant import Grant, GrantRefusal, GrantUse
from tests.contracts.harness import NOON, OTHER_TENANT, Store
from tests.contracts.payers import GRAPH, TENANT, USER, give_grant, open_account


async def _log(store: Store, *uses: GrantUse) -> None:
    async with store.transaction() as tx:
        await tx.log_grant_uses(uses)


async def _uses(store: Store, grant: Grant) -> list[tuple[object, GrantRefusal | None]]:
    _, uses = await store.grants.get_grant(TENANT, grant.id, 10)
    return [(logged.use.run_id, logged.use.refusal) for logged in uses]


async def test_every_use_of_a_grant_is_logged_the_newest_first(store: Store) -> None:
    grant = await give_grant(store, await open_account(store))
    first, second = uuid4(), uuid4()
    await _log(store, GrantUse(grant.id, first, GRAPH))
    await store.advance(timedelta(seconds=1))
    await _log(store, GrantUse(grant.id, second, GRAPH, GrantRefusal.SCOPE))
    assert await _uses(store, grant) == [(second, GrantRefusal.SCOPE), (first, None)]


async def test_many_uses_are_logged_in_one_go_and_a_grant_that_is_gone_has_no_log(
    store: Store,
) -> None:
    grant = await give_grant(store, await open_account(store))
    runs = [uuid4() for _ in range(5)]
    uses = [GrantUse(grant.id, run, GRAPH) for run in runs]
    await _log(store, *uses, uses[0], GrantUse(uuid4(), uuid4(), GRAPH, GrantRefusal.MISSING))
    assert {run for run, _ in await _uses(store, grant)} == set(runs)
    await _log(store)


async def test_a_refusal_of_a_run_stays_when_it_is_logged_again(store: Store) -> None:
    grant = await give_grant(store, await open_account(store))
    run = uuid4()
    for refusal in (None, GrantRefusal.REVOKED, None):
        await _log(store, GrantUse(grant.id, run, GRAPH, refusal))
    assert await _uses(store, grant) == [(run, GrantRefusal.REVOKED)]


async def test_a_grant_is_told_of_a_week_before_its_end_and_once(store: Store) -> None:
    account = await open_account(store)
    await give_grant(store, account, expires_at=NOON + timedelta(days=100))
    assert await notify_of_expiring_grants(store.port) == 0
    await store.advance(timedelta(days=93) - timedelta(seconds=1))
    assert await notify_of_expiring_grants(store.port) == 0
    await store.advance(timedelta(seconds=1))
    told = await asyncio.gather(*(notify_of_expiring_grants(store.port) for _ in range(5)))
    assert sorted(told) == [0, 0, 0, 0, 1]
    await store.advance(timedelta(days=30))
    assert await notify_of_expiring_grants(store.port) == 0


async def test_of_a_short_life_the_last_tenth_is_told(store: Store) -> None:
    await give_grant(store, await open_account(store), expires_at=NOON + timedelta(hours=10))
    await store.advance(timedelta(hours=9) - timedelta(seconds=1))
    assert await notify_of_expiring_grants(store.port) == 0
    await store.advance(timedelta(seconds=1))
    assert await notify_of_expiring_grants(store.port) == 1


async def test_nothing_is_told_of_what_is_revoked_or_has_no_end(store: Store) -> None:
    account = await open_account(store)
    await give_grant(store, account)
    ends = await give_grant(store, account, expires_at=NOON + timedelta(hours=1))
    async with store.transaction() as tx:
        await tx.save_grant(replace(ends, revoked_at=NOON))
    await store.advance(timedelta(days=1))
    assert await notify_of_expiring_grants(store.port) == 0


async def test_what_a_user_gave_is_revoked_with_them(store: Store) -> None:
    account = await open_account(store)
    grant = await give_grant(store, account)
    async with store.transaction() as tx:
        await tx.revoke_grants_of_user(OTHER_TENANT, USER)
        await tx.revoke_grants_of_user(TENANT, uuid4())
        assert (await tx.lock_grant(TENANT, grant.id))[0].revoked_at is None
        await tx.revoke_grants_of_user(TENANT, USER)
        assert (await tx.lock_grant(TENANT, grant.id))[0].revoked_at == NOON


async def test_a_grant_of_another_tenant_is_not_found(store: Store) -> None:
    grant = await give_grant(store, await open_account(store))
    with pytest.raises(NotFound):
        await store.grants.get_grant(OTHER_TENANT, grant.id, 1)
    async with store.transaction() as tx:
        with pytest.raises(NotFound):
            await tx.lock_grant(OTHER_TENANT, grant.id)
    assert await store.grants.list_grants(OTHER_TENANT, None, 10) == []


async def test_grants_are_listed_in_pages_the_newest_first(store: Store) -> None:
    account = await open_account(store)
    made: list[Grant] = []
    for _ in range(4):
        made.append(await give_grant(store, account))
        await store.advance(timedelta(seconds=1))
    made.reverse()
    page = await store.grants.list_grants(TENANT, None, 3)
    assert page == made[:3]
    last = page[-1]
    assert await store.grants.list_grants(TENANT, (last.created_at, last.id), 3) == made[3:]
