"""An account pays for sessions: each answer of a model is a charge in the ledger of graph runs."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from cadenza.application.ports.billing import UsageGroup, UsageSearch
from cadenza.application.ports.brain import AskedModel, ModelCall
from cadenza.application.session_metering import Payer, Payers, SessionMeter, Unpaid
from cadenza.domain.billing import Account, Basis, ModelApi, TokenUsage
from cadenza.domain.planner_policy import PlannerPolicy
from cadenza.domain.session import SessionEnd
from tests.adapters.brains.llm.provider import Answer, Model, Stream, script
from tests.adapters.brains.llm.support import (
    FASTER,
    MODELS,
    SUBMITS,
    Kind,
    Scene,
    both_modes,
    every_kind,
    scene,
)
from tests.adapters.brains.llm.test_streams import events_of, up_to_its_end
from tests.application.bench import FlatPrices
from tests.factories import id_of, seconds

ACCOUNT = id_of("account")
PRICE = 3  # credits a token


@asynccontextmanager
async def paying_scene(
    model: Model, kind: Kind = Kind.OPENAI, credit: int = 100_000, **options: object
) -> AsyncGenerator[Scene]:
    """The tenant of the factories has an account for planning."""
    async with scene(model, kind, **options) as at:  # pyright: ignore
        bench, tenant_id = at.bench, id_of("tenant")
        account = Account(ACCOUNT, tenant_id, "research", 0, bench.now)
        async with bench.store.transaction() as tx:
            await tx.insert_account(account)
            if credit:
                await tx.add_entry(account, credit, "top-up", "first")
            tenant, _ = await tx.lock_tenant(tenant_id)
            await tx.save_tenant(replace(tenant, planner_account_id=ACCOUNT))
        memory = bench.memory
        # The provider names its model "test", of which nobody knows the price.
        prices = FlatPrices(PRICE, unknown=frozenset({"test"}))
        bench.payers = Payers(memory.billing, memory.accounts, prices)
        yield replace(at, planner=bench.planner(at.brain))


def balance(at: Scene) -> int:
    return at.bench.tables.accounts[ACCOUNT].balance


@every_kind
@both_modes
async def test_each_answer_is_charged_to_the_token(kind: Kind, stream: bool) -> None:
    model = script(Answer([FASTER], tokens=(1200, 40)), Answer(SUBMITS.calls, tokens=(1300, 60)))
    async with paying_scene(model, kind, stream=stream) as at:
        session = await at.session()
        charges = [row.charge for row in at.bench.tables.charges.values()]
        assert [charge.reference for charge in charges] == [
            f"{session.id}/1/1",
            f"{session.id}/1/2",
        ]
        assert [charge.usage for charge in charges] == [TokenUsage(1200, 40), TokenUsage(1300, 60)]
        assert {(charge.model, charge.basis) for charge in charges} == {
            (MODELS[kind], Basis.COUNTED)
        }
        assert (session.tokens, session.usage) == (2600, TokenUsage(2500, 100))
        assert session.account_id == ACCOUNT
        assert session.cost == pytest.approx(2600 * PRICE / 1_000_000)
        assert balance(at) == 100_000 - 2600 * PRICE
        billing, tenant_id = at.bench.memory.billing, id_of("tenant")
        assert (await billing.check_ledger(tenant_id, ACCOUNT)).problems == ()
        for group, name in ((UsageGroup.JOB, "job"), (UsageGroup.ENDPOINT, "probe")):
            (used,) = await billing.usage_of_account(tenant_id, ACCOUNT, UsageSearch(group))
            assert (used.group, used.calls, used.credits) == (str(id_of(name)), 2, 2600 * PRICE)


async def test_without_credits_the_session_is_skipped_and_that_is_recorded_once() -> None:
    async with paying_scene(script(SUBMITS), credit=0) as at:
        for _ in range(3):
            ended = await at.planner.run_once()
            assert (ended.sessions, ended.unpaid) == (0, 1)
            at.bench.clock.step(seconds(301))
        (session,) = at.bench.sessions
        assert (session.end, session.tokens) == (SessionEnd.SKIPPED, 0)
        assert session.trouble == "the account 'research' has no credits; top it up"
        assert at.provider.asked == []
        kinds = [event.kind for event in at.bench.tables.events[id_of("tenant")]]
        assert kinds.count("session.skipped") == 1
        account = at.bench.tables.accounts[ACCOUNT]
        async with at.bench.store.transaction() as tx:
            await tx.add_entry(account, 50_000, "top-up", "second")
        assert (await at.planner.run_once()).sessions == 1
        assert at.bench.sessions[-1].end is SessionEnd.SUBMITTED


async def test_a_session_that_spends_the_last_credits_ends_and_is_the_last() -> None:
    async with paying_scene(script(SUBMITS), credit=10) as at:
        assert (await at.session()).end is SessionEnd.SUBMITTED
        assert balance(at) == 10 - 1050 * PRICE  # shown as it is
        at.bench.clock.step(seconds(3600))
        await at.bench.ran()
        assert (await at.planner.run_once()).unpaid == 1


async def test_a_price_that_is_not_known_is_an_error_where_an_account_pays() -> None:
    async with paying_scene(script(SUBMITS)) as at:
        memory = at.bench.memory
        unknown = FlatPrices(PRICE, unknown=frozenset({"test", "gpt-4o-mini"}))
        at.bench.payers = Payers(memory.billing, memory.accounts, unknown)
        planner = at.bench.planner(at.brain)
        assert (await planner.run_once()).unpaid == 1
        (session,) = at.bench.sessions
        assert "CADENZA_PRICES" in session.trouble
        assert (at.provider.asked, balance(at)) == ([], 100_000)
        async with at.bench.store.transaction() as tx:
            tenant, _ = await tx.lock_tenant(id_of("tenant"))
            await tx.save_tenant(replace(tenant, planner_account_id=None))
        assert (await at.bench.planner(at.brain).run_once()).sessions == 1
        assert (at.bench.sessions[-1].tokens, at.bench.sessions[-1].cost) == (1050, 0.0)
        assert balance(at) == 100_000  # the installation's key paid


async def test_a_jobs_own_account_comes_before_the_tenants_and_must_exist() -> None:
    async with paying_scene(script(SUBMITS), credit=0) as at:
        tables, tenant_id = at.bench.tables, id_of("tenant")
        other = Account(id_of("other"), tenant_id, "other", 0, at.bench.now)
        async with at.bench.store.transaction() as tx:
            await tx.insert_account(other)
            await tx.add_entry(other, 50_000, "top-up", "first")
        row = tables.jobs[id_of("job")]
        assert at.bench.payers is not None
        asked = AskedModel(ModelApi.OPENAI, "gpt-4o-mini")
        named = replace(row.job, planner=PlannerPolicy(account="other"))
        payer = await at.bench.payers.payer_of(named, asked, 100)
        assert payer.account is not None
        assert payer.account.id == other.id
        nobody = replace(row.job, planner=PlannerPolicy(account="nobody"))
        with pytest.raises(Unpaid, match="'nobody' is no account"):
            await at.bench.payers.payer_of(nobody, asked, 100)


async def test_a_stream_that_broke_off_is_charged_as_an_estimate() -> None:
    broken = Stream(events_of(Kind.OPENAI)[: up_to_its_end(Kind.OPENAI)], "cut")
    async with paying_scene(script(Answer([FASTER]), broken), stream=True) as at:
        assert (await at.session()).end is SessionEnd.FAILED
        counted, estimated = (row.charge for row in at.bench.tables.charges.values())
        assert (counted.basis, estimated.basis) == (Basis.COUNTED, Basis.ESTIMATED)
        assert estimated.usage.input_tokens > 1000
        assert balance(at) == 100_000 - counted.credits - estimated.credits


async def test_what_is_owed_is_paid_when_the_store_is_back_and_only_once() -> None:
    async with paying_scene(script(SUBMITS)) as at:
        (context,) = await at.bench.analysis_queue.contexts_for([id_of("probe")], "llm")
        prices, account = FlatPrices(PRICE), at.bench.tables.accounts[ACCOUNT]
        of_session = (at.bench.store, prices, context, id_of("session"), Payer(account))
        for _ in range(2):  # told again after a crash, with the same references
            meter = SessionMeter(*of_session)
            meter.spent(ModelCall(AskedModel(ModelApi.OPENAI, "m"), "m", TokenUsage(100, 10)))
            await meter.pay()
            await meter.pay()
        assert balance(at) == 100_000 - 110 * PRICE
