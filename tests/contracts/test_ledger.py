"""Charges: once for each reference, none lost, and a ledger that comes to the balance."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from cadenza.application.billing import charge
from cadenza.application.ports.billing import UsageGroup, UsageSearch
from cadenza.domain.billing import Basis, Charge
from cadenza.domain.errors import NotFound
from tests.contracts.harness import NOON, Store
from tests.contracts.payers import (
    ACCOUNT,
    GRAPH,
    TENANT,
    ledger,
    make_charge,
    open_account,
)
from tests.factories import id_of


async def _charge(store: Store, wanted: Charge) -> bool:
    async with store.transaction() as tx:
        return await charge(tx, wanted)


async def _balance(store: Store) -> int:
    return (await store.billing.get_account(TENANT, ACCOUNT)).balance


async def test_a_charge_moves_the_balance_and_is_in_the_ledger(store: Store) -> None:
    await open_account(store, 100)
    assert await _charge(store, make_charge(cost=30))
    entries = [(each.credits, each.balance, each.reason) for each in await ledger(store)]
    assert entries == [(100, 100, "top-up"), (-30, 70, "charge")]
    assert await _balance(store) == 70
    assert (await store.billing.check_ledger(TENANT, ACCOUNT)).problems == ()


async def test_a_charge_that_is_told_again_counts_once(store: Store) -> None:
    await open_account(store, 100)
    assert await _charge(store, make_charge(cost=30))
    assert not await _charge(store, make_charge(cost=30))
    assert not await _charge(store, make_charge(cost=99))  # the first one told counts
    assert await _balance(store) == 70
    assert len(await ledger(store)) == 2


async def test_fifty_charges_at_once_lose_nothing(store: Store) -> None:
    await open_account(store, 1000)
    costs = range(1, 51)
    charged = await asyncio.gather(
        *(_charge(store, make_charge(str(cost), cost)) for cost in costs)
    )
    assert charged == [True] * 50
    assert await _balance(store) == 1000 - sum(costs)
    entries = await ledger(store)
    assert entries[-1].balance == await _balance(store)
    assert sorted(-entry.credits for entry in entries[1:]) == list(costs)
    check = await store.billing.check_ledger(TENANT, ACCOUNT)
    assert (check.problems, check.entries) == ((), 51)


async def test_of_fifty_times_the_same_charge_at_once_one_counts(store: Store) -> None:
    await open_account(store, 1000)
    charged = await asyncio.gather(*(_charge(store, make_charge(cost=7)) for _ in range(50)))
    assert sorted(charged) == [False] * 49 + [True]
    assert await _balance(store) == 993


async def test_charges_and_top_ups_at_once_keep_every_balance_right(store: Store) -> None:
    account = await open_account(store, 10)

    async def top_up(number: int) -> None:
        async with store.transaction() as tx:
            locked = await tx.lock_account(TENANT, account.id)
            await tx.add_entry(locked, 5, "top-up", f"payment-{number}")

    both = ((top_up(n), _charge(store, make_charge(str(n), 3))) for n in range(20))
    await asyncio.gather(*(each for pair in both for each in pair))
    assert await _balance(store) == 10 + 20 * 5 - 20 * 3
    assert (await store.billing.check_ledger(TENANT, ACCOUNT)).problems == ()


async def test_a_balance_may_go_below_zero_and_shows_it(store: Store) -> None:
    await open_account(store, 10)
    await _charge(store, make_charge(cost=25))
    assert await _balance(store) == -15
    assert (await store.billing.check_ledger(TENANT, ACCOUNT)).problems == ()


async def test_a_charge_that_is_taken_back_with_its_transaction_leaves_nothing(
    store: Store,
) -> None:
    await open_account(store, 100)

    async def charge_and_break_off() -> None:
        async with store.transaction() as tx:
            await charge(tx, make_charge(cost=30))
            await tx.lock_account(TENANT, uuid4())

    with pytest.raises(NotFound):
        await charge_and_break_off()
    assert await _balance(store) == 100
    assert await _charge(store, make_charge(cost=30))


async def test_nobody_is_charged_for_an_account_that_is_not_theirs(store: Store) -> None:
    await open_account(store, 100)
    for wrong in (
        replace(make_charge(), account_id=uuid4()),
        replace(make_charge(), tenant_id=uuid4()),
    ):
        with pytest.raises(NotFound):
            await _charge(store, wrong)
    assert await _balance(store) == 100
    assert len(await ledger(store)) == 1


async def test_usage_is_grouped_by_day_schedule_graph_model_and_account(store: Store) -> None:
    await open_account(store, 1000)
    nightly = id_of("nightly")
    first = replace(make_charge("1", 10), schedule_id=nightly)
    second = replace(make_charge("2", 20), model="large", basis=Basis.ESTIMATED)
    third = replace(make_charge("3", 5), graph_id=None)
    await _charge(store, first)
    await _charge(store, second)
    await store.advance(timedelta(days=1))
    await _charge(store, third)

    async def grouped(group_by: UsageGroup, **span: object) -> list[tuple[str | None, int, int]]:
        search = UsageSearch(group_by, **span)  # type: ignore[arg-type]
        rows = await store.billing.usage_of_account(TENANT, ACCOUNT, search)
        return [(row.group, row.calls, row.credits) for row in rows]

    today, tomorrow = f"{NOON:%Y-%m-%d}", f"{NOON + timedelta(days=1):%Y-%m-%d}"
    assert await grouped(UsageGroup.DAY) == [(today, 2, 30), (tomorrow, 1, 5)]
    assert await grouped(UsageGroup.SCHEDULE) == [(None, 2, 25), (str(nightly), 1, 10)]
    assert await grouped(UsageGroup.GRAPH) == [(GRAPH, 2, 30), (None, 1, 5)]
    assert await grouped(UsageGroup.MODEL) == [("large", 1, 20), ("small", 2, 15)]
    assert await grouped(UsageGroup.ACCOUNT) == [(str(ACCOUNT), 3, 35)]
    later = NOON + timedelta(hours=1)
    assert await grouped(UsageGroup.DAY, from_at=later) == [(tomorrow, 1, 5)]
    assert await grouped(UsageGroup.DAY, to_at=later) == [(today, 2, 30)]
    (total,) = await store.billing.usage_of_account(
        TENANT, ACCOUNT, UsageSearch(UsageGroup.ACCOUNT)
    )
    assert total.estimated_calls == 1
    assert (total.usage.input_tokens, total.usage.cache_write_tokens) == (30, 3)


async def test_the_ledger_is_read_in_pages_from_the_newest(store: Store) -> None:
    await open_account(store, 100)
    for number in range(5):
        await _charge(store, make_charge(str(number), number))
    newest = await store.billing.read_ledger(TENANT, ACCOUNT, None, 3)
    older = await store.billing.read_ledger(TENANT, ACCOUNT, newest[-1].id, 10)
    assert [-entry.credits for entry in newest] == [4, 3, 2]
    assert [entry.credits for entry in older] == [-1, 0, 100]
