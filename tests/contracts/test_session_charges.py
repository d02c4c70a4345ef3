"""A session that an account pays for, on every store: charges, balance, ledger and usage."""

from dataclasses import replace
from uuid import uuid4

import pytest

from cadenza.application.ports.billing import UsageGroup, UsageSearch
from cadenza.application.ports.brain import AskedModel, ModelCall
from cadenza.application.session_metering import Payer, Payers, SessionMeter, Unpaid
from cadenza.domain.access import Tenant
from cadenza.domain.analysis import AnalysisReason, AnalysisState
from cadenza.domain.billing import Basis, ModelApi, TokenUsage
from cadenza.domain.endpoint import Job
from cadenza.domain.errors import NotFound
from cadenza.domain.planner_policy import PlannerPolicy
from cadenza.domain.session import Session, SessionEnd
from tests.application.bench import FlatPrices
from tests.contracts.harness import Store
from tests.contracts.payers import ACCOUNT, TENANT, ledger, open_account
from tests.factories import NOON, id_of, minutes, seconds

MODEL = AskedModel(ModelApi.OPENAI, "small")
PRICES = FlatPrices(2, unknown=frozenset({"small-2026"}))


class StoredTenants:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def get_tenant(self, tenant_id: object) -> Tenant:
        assert tenant_id == TENANT
        async with self._store.transaction() as tx:
            return (await tx.lock_tenant(TENANT))[0]


def payers(store: Store, prices: FlatPrices = PRICES) -> Payers:
    return Payers(store.billing, StoredTenants(store), prices)  # pyright: ignore


async def test_each_call_of_a_session_is_charged_once_and_usage_says_what_for(
    store: Store,
) -> None:
    endpoint = await store.add()
    account = await open_account(store, credits=1000)
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "llm")
    session_id = uuid4()
    for _ in range(2):  # told again, after an answer that was lost
        meter = SessionMeter(store.port, PRICES, context, session_id, Payer(account))
        meter.spent(ModelCall(MODEL, "small-2026", TokenUsage(100, 10, 60)))
        await meter.pay()
        meter.spent(ModelCall(MODEL, "", TokenUsage(50, 5), Basis.ESTIMATED))
        await meter.pay()
    entries = await ledger(store)
    assert [(entry.credits, entry.balance, entry.reference) for entry in entries[1:]] == [
        (-220, 780, f"{session_id}/1/1"),
        (-110, 670, f"{session_id}/1/2"),
    ]
    assert (await store.billing.check_ledger(TENANT, ACCOUNT)).problems == ()
    for group, label in (
        (UsageGroup.JOB, str(endpoint.job_id)),
        (UsageGroup.ENDPOINT, str(endpoint.id)),
        (UsageGroup.DAY, "2026-03-02"),
    ):
        (used,) = await store.billing.usage_of_account(TENANT, ACCOUNT, UsageSearch(group))
        assert (used.group, used.calls, used.estimated_calls) == (label, 2, 1)
        assert (used.usage, used.credits) == (TokenUsage(150, 15, 60), 330)


async def test_the_jobs_account_pays_else_the_tenants_else_the_installation(store: Store) -> None:
    await store.add()
    job = Job(id_of("job"), TENANT, "job")
    own = replace(job, planner=PlannerPolicy(account="own"))
    assert (await payers(store).payer_of(job, MODEL, 1000)).account is None
    await open_account(store, credits=5)
    await open_account(store, credits=5, name="own")
    async with store.transaction() as tx:
        tenant, _ = await tx.lock_tenant(TENANT)
        await tx.save_tenant(replace(tenant, planner_account_id=ACCOUNT))
    payer = await payers(store).payer_of(job, MODEL, 1000)
    assert payer.account is not None
    assert (payer.account.name, payer.highest_cost) == ("research", 0.002)
    payer = await payers(store).payer_of(own, MODEL, 1000)
    assert payer.account is not None
    assert payer.account.name == "own"
    unknown = FlatPrices(2, unknown=frozenset({"small"}))
    with pytest.raises(Unpaid, match="no price is known for the model 'small'"):
        await payers(store, unknown).payer_of(own, MODEL, 1000)


async def test_what_a_session_was_held_for_and_used_is_read_back(store: Store) -> None:
    endpoint = await store.add()
    assert list(await store.records.analyses_of(endpoint.tenant_id, endpoint.id)) == []
    with pytest.raises(NotFound):
        await store.records.analyses_of(endpoint.tenant_id, id_of("nothing"))
    session = Session(
        uuid4(),
        endpoint.tenant_id,
        endpoint.job_id,
        endpoint.id,
        "llm openai small",
        NOON,
        seconds(2),
        SessionEnd.FAILED,
        tokens=1100,
        cost=0.5,
        usage=TokenUsage(1000, 100, 400),
        reason=AnalysisReason.RETRY,
        account_id=ACCOUNT,
        failed_looks=3,
        trouble="it made no sense",
        next_analysis_at=NOON + minutes(20),
        prompt_version="2-abc",
    )
    await store.record(session)
    stored = await store.records.get_session(endpoint.tenant_id, session.id)
    # how often it failed in a row belongs to the endpoint
    assert replace(stored, failed_looks=3, trouble=session.trouble) == session
    states = await store.records.analyses_of(endpoint.tenant_id, endpoint.id)
    assert list(states) == [
        AnalysisState("llm", NOON, NOON + minutes(20), 3, "it made no sense"),
    ]
