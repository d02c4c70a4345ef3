"""The meter of a run: what it admits, what it charges, and why it says no."""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from cadenza.application.metering import Failure, RunMeter
from cadenza.application.ports.gateway import CallRefused
from cadenza.application.ports.store import Transaction
from cadenza.domain.billing import Basis, ModelApi, TokenUsage
from cadenza.domain.errors import InvalidInput, StoreUnavailable
from cadenza.domain.grant import Grant, GrantRefusal
from cadenza.domain.graph import ErrorCode, GraphLimits, GraphRequest
from tests.contracts.harness import NOON, Store
from tests.contracts.payers import (
    ACCOUNT,
    GRAPH,
    KEY,
    TENANT,
    caller_of,
    give_grant,
    give_key,
    ledger,
    open_account,
)

OPENAI, ANTHROPIC = ModelApi.OPENAI, ModelApi.ANTHROPIC
COUNTED, ESTIMATED = Basis.COUNTED, Basis.ESTIMATED


class OneCreditAToken:
    def credits(self, api: ModelApi, model: str, usage: TokenUsage) -> int:
        if model not in ("small", "large"):
            raise InvalidInput("model", model, "its price is not known")
        return usage.total * (10 if model == "large" else 1)


class LameStore:
    """It is away as long as it is told to be."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.is_away = False

    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        if self.is_away:
            raise StoreUnavailable("the store is gone")
        return self._store.transaction()


async def _furnish(store: Store, credits: int = 1000, **grant: Any) -> Grant:  # noqa: A002
    account = await open_account(store, credits)
    await give_key(store, account)
    return await give_grant(store, account, **grant)


def _meter(store: Store, grant: Grant, port: Any = None, **limits: int) -> RunMeter:
    limited = GraphLimits(**limits)  # type: ignore[arg-type]
    caller = caller_of(grant)
    request = GraphRequest(uuid4(), GRAPH, {}, caller, limited, schedule_id=uuid4())
    return RunMeter(port or store.port, store.means, OneCreditAToken(), request)


async def _refusal(meter: RunMeter, api: ModelApi = OPENAI, model: str = "small") -> CallRefused:
    with pytest.raises(CallRefused) as refused:
        await meter.admit(api, model)
    return refused.value


async def _balance(store: Store) -> int:
    return (await store.billing.get_account(TENANT, ACCOUNT)).balance


async def test_a_call_is_admitted_with_the_default_key_and_charged_when_it_is_settled(
    store: Store,
) -> None:
    meter = _meter(store, await _furnish(store))
    unit, provider = await meter.admit(OPENAI, "small")
    assert (unit, provider.base_url) == ("1", "https://openai.example/v1")
    assert provider.key.value == KEY
    assert KEY not in repr(provider)
    assert await _balance(store) == 1000
    await meter.settle(unit, "small", TokenUsage(30, 12), COUNTED)
    assert await _balance(store) == 958
    assert (meter.totals.calls, meter.totals.tokens, meter.totals.credits) == (1, 42, 42)
    assert (await store.billing.check_ledger(TENANT, ACCOUNT)).problems == ()


async def test_calls_are_numbered_and_the_same_one_told_twice_counts_once(store: Store) -> None:
    meter = _meter(store, await _furnish(store))
    units = [(await meter.admit(OPENAI, "small"))[0] for _ in range(3)]
    assert units == ["1", "2", "3"]
    for _ in range(3):
        await meter.settle("2", "small", TokenUsage(5, 5), ESTIMATED)
    assert await _balance(store) == 990
    assert meter.totals.credits == 10


async def test_a_grant_revoked_since_the_start_ends_the_run_before_its_first_call(
    store: Store,
) -> None:
    grant = await _furnish(store)
    meter = _meter(store, grant)
    async with store.transaction() as tx:
        await tx.save_grant(replace(grant, revoked_at=await tx.time()))
    refused = await _refusal(meter)
    assert (refused.code, "grant_revoked" in str(refused)) == (ErrorCode.ABORTED, True)
    assert meter.failure == Failure(ErrorCode.ABORTED, str(refused))
    assert len(await ledger(store)) == 1, "it is never billed"
    _, (logged,) = await store.grants.get_grant(TENANT, grant.id, 10)
    assert logged.use.refusal is GrantRefusal.REVOKED


async def test_a_grant_that_is_revoked_after_the_first_call_lets_the_run_end(store: Store) -> None:
    grant = await _furnish(store)
    meter = _meter(store, grant)
    await meter.admit(OPENAI, "small")
    async with store.transaction() as tx:
        await tx.save_grant(replace(grant, revoked_at=await tx.time()))
    assert (await meter.admit(OPENAI, "small"))[0] == "2"


async def test_expiry_and_scope_are_judged_too(store: Store) -> None:
    expires_at = NOON + timedelta(hours=1)
    grant = await _furnish(store, scopes=("graph:execute:python:other",), expires_at=expires_at)
    assert "grant_scope" in str(await _refusal(_meter(store, grant)))
    await store.clock.set(expires_at)
    assert "grant_expired" in str(await _refusal(_meter(store, grant)))
    gone = replace(grant, id=uuid4())
    assert "grant_missing" in str(await _refusal(_meter(store, gone)))


async def test_without_credits_no_call_is_made(store: Store) -> None:
    grant = await _furnish(store, credits=10)
    meter = _meter(store, grant)
    unit, _ = await meter.admit(OPENAI, "large")
    await meter.settle(unit, "large", TokenUsage(5, 5), COUNTED)
    assert await _balance(store) == -90
    refused = await _refusal(meter)
    assert refused.code is ErrorCode.INSUFFICIENT_CREDITS
    assert "-90" in str(refused)
    assert (await _refusal(_meter(store, grant))).code is ErrorCode.INSUFFICIENT_CREDITS


@pytest.mark.parametrize(
    ("limit", "value"), [("credits", 20), ("tokens", 20), ("calls", 2)], ids=str
)
async def test_a_limit_of_the_run_is_named_when_it_is_reached(
    store: Store, limit: str, value: int
) -> None:
    meter = _meter(store, await _furnish(store), **{limit: value})
    for _ in range(2):
        unit, _ = await meter.admit(OPENAI, "small")
        await meter.settle(unit, "small", TokenUsage(7, 3), COUNTED)
    refused = await _refusal(meter)
    assert refused.code is ErrorCode.ABORTED
    assert f"limits.{limit}" in str(refused)
    assert str(value) in str(refused)
    assert meter.totals.calls == 2


async def test_calls_under_way_count_towards_the_limit_of_calls(store: Store) -> None:
    meter = _meter(store, await _furnish(store), calls=3)
    asked = (meter.admit(OPENAI, "small") for _ in range(10))
    results = await asyncio.gather(*asked, return_exceptions=True)
    units = sorted(result[0] for result in results if isinstance(result, tuple))
    assert units == ["1", "2", "3"]
    refused = [result for result in results if isinstance(result, CallRefused)]
    assert len(refused) == 7
    assert {each.code for each in refused} == {ErrorCode.ABORTED}


async def test_a_model_without_a_price_is_never_free(store: Store) -> None:
    meter = _meter(store, await _furnish(store))
    refused = await _refusal(meter, model="unheard-of\x00" + "x" * 10_000)
    assert refused.code is ErrorCode.INVALID_REQUEST
    assert "CADENZA_PRICES" in str(refused)
    assert "unheard-of" in str(refused)
    assert len(str(refused)) < 300
    assert (await meter.admit(OPENAI, "small"))[0] == "1"


async def test_an_answer_of_another_model_costs_as_that_one_or_as_what_was_asked_for(
    store: Store,
) -> None:
    meter = _meter(store, await _furnish(store))
    for answered in ("large", "small-2026-03-01"):
        unit, _ = await meter.admit(OPENAI, "small")
        await meter.settle(unit, answered, TokenUsage(1, 1), COUNTED)
    assert [entry.credits for entry in await ledger(store)] == [1000, -20, -2]


async def test_an_account_without_a_key_for_the_api_says_how_to_give_it_one(store: Store) -> None:
    meter = _meter(store, await _furnish(store))
    refused = await _refusal(meter, ANTHROPIC)
    assert refused.code is ErrorCode.PROVIDER_UNAVAILABLE
    assert "cadenza accounts create-key" in str(refused)


async def test_the_first_failure_is_the_one_that_is_remembered(store: Store) -> None:
    meter = _meter(store, await _furnish(store))
    meter.failed(ErrorCode.RATE_LIMIT, "slow down")
    meter.failed(ErrorCode.INTERNAL, "it fell over")
    await _refusal(meter, model="unheard-of")
    assert meter.failure == Failure(ErrorCode.RATE_LIMIT, "slow down")


async def test_what_a_provider_claims_beyond_all_measure_is_stored_within_bounds(
    store: Store,
) -> None:
    meter = _meter(store, await _furnish(store))
    unit, _ = await meter.admit(OPENAI, "small")
    await meter.settle(unit, "small", TokenUsage(10**40, -(10**40)), COUNTED)
    assert await _balance(store) == 1000 - 10**12
    assert (await store.billing.check_ledger(TENANT, ACCOUNT)).problems == ()


async def test_a_charge_that_the_store_could_not_take_is_paid_later_and_once(store: Store) -> None:
    lame = LameStore(store)
    meter = _meter(store, await _furnish(store), lame)
    unit, _ = await meter.admit(OPENAI, "small")
    lame.is_away = True
    await meter.settle(unit, "small", TokenUsage(5, 5), COUNTED)
    assert meter.totals.credits == 10
    assert (await _refusal(meter)).code is ErrorCode.INTERNAL
    with pytest.raises(StoreUnavailable):
        await meter.pay()
    assert await _balance(store) == 1000
    lame.is_away = False
    await asyncio.gather(*(meter.pay() for _ in range(5)))
    await meter.pay()
    assert await _balance(store) == 990


async def test_fifty_calls_at_once_are_all_charged(store: Store) -> None:
    meter = _meter(store, await _furnish(store, 10_000))

    async def call(tokens: int) -> None:
        unit, _ = await meter.admit(OPENAI, "small")
        await meter.settle(unit, "small", TokenUsage(tokens), COUNTED)

    await asyncio.gather(*(call(tokens) for tokens in range(1, 51)))
    assert meter.totals.credits == sum(range(1, 51))
    assert await _balance(store) == 10_000 - sum(range(1, 51))
    assert (await store.billing.check_ledger(TENANT, ACCOUNT)).problems == ()
