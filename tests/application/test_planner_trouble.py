"""What a planner does about brains that hang, providers that fail, and quotas that run out."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from cadenza.application.planner import Round
from cadenza.application.ports.brain import AskedModel, ModelCall, Tools, Usage
from cadenza.application.session_metering import Payers
from cadenza.domain.analysis import AnalysisContext, Attention
from cadenza.domain.billing import ModelApi, TokenUsage
from cadenza.domain.endpoint import Every, OnDemand
from cadenza.domain.errors import BrainFailed, ProviderFailed
from cadenza.domain.planner_policy import PlannerPolicy
from cadenza.domain.session import SessionEnd
from tests.application.bench import Bench, FlatPrices, Thinker, simulated
from tests.factories import id_of, minutes, seconds


async def _probes(bench: Bench, count: int) -> None:
    for number in range(count):
        await bench.add(f"probe {number}", baseline=OnDemand())
        await bench.ran(f"probe {number}")


class Provider:
    """A brain whose provider fails as long as the test says so."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.error: Exception | None = None
        self.usage = Usage(tokens=7, cost=0.5, prompt_version="1-abc")
        self.brain = Thinker(self.think, Attention.ON_CHANGE, 100, usage=self.usage)

    async def think(self, _: AnalysisContext, tools: Tools) -> None:
        tools.report_usage(self.usage)
        await self.bench.sleep(1)
        if self.error is not None:
            raise self.error
        await tools.call("submit_analysis", {"reasoning": "fine"})


# --- Time -----------------------------------------------------------------------------------------


@simulated
async def test_a_brain_that_hangs_is_cut_off_and_charged_what_it_reported() -> None:
    bench = Bench(tokens_per_month=1000)
    await bench.add()
    await bench.ran()

    async def hang(_: AnalysisContext, tools: Tools) -> None:
        tools.report_usage(Usage(tokens=40, cost=0.25, prompt_version="1-abc"))
        await asyncio.Event().wait()

    brain = Thinker(hang, reserved_tokens=500)
    assert await bench.planner(brain, session_limit=seconds(30)).run_once() == Round(sessions=1)
    (session,) = bench.sessions
    assert (session.end, session.duration) == (SessionEnd.FAILED, seconds(30))
    assert (session.tokens, session.cost, session.prompt_version) == (40, 0.25, "1-abc")
    assert session.warnings == ("the brain failed: the session took longer than 30 s",)
    month = bench.month
    assert (month.used, month.reserved, month.cost_used) == (40, 0, 0.25)


@simulated
async def test_a_session_has_two_minutes_unless_told_otherwise() -> None:
    bench = Bench()
    await bench.add()
    await bench.ran()

    async def hang(_: AnalysisContext, __: Tools) -> None:
        await asyncio.Event().wait()

    await bench.planner(Thinker(hang)).run_once()
    assert bench.sessions[0].duration == minutes(2)


@simulated
async def test_a_timeout_of_the_brains_own_is_told_as_such() -> None:
    bench = Bench()
    await bench.add()
    await bench.ran()

    async def think(_: AnalysisContext, __: Tools) -> None:
        raise TimeoutError("the disk was slow")

    await bench.planner(Thinker(think)).run_once()
    assert bench.sessions[0].warnings == ("the brain failed: TimeoutError: the disk was slow",)


@simulated
async def test_a_planner_that_is_ended_in_a_session_still_settles_what_was_used() -> None:
    bench = Bench(tokens_per_month=1000)
    await bench.add()
    await bench.ran()

    async def hang(_: AnalysisContext, tools: Tools) -> None:
        tools.report_usage(Usage(tokens=40))
        await asyncio.Event().wait()

    task = asyncio.create_task(bench.planner(Thinker(hang, reserved_tokens=500)).run_once())
    await bench.sleep(5)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert (bench.month.used, bench.month.reserved) == (40, 0)


@simulated
async def test_what_a_brain_warns_of_is_stored_and_is_no_failure() -> None:
    bench = Bench()
    await bench.add()
    await bench.ran()
    await bench.planner(Thinker(usage=Usage(3, warnings=("it refused",)))).run_once()
    (session,) = bench.sessions
    assert (session.end, session.warnings) == (SessionEnd.UNFINISHED, ("it refused",))


# --- A provider that fails ----------------------------------------------------------------------


@simulated
async def test_while_a_provider_fails_sessions_are_put_off_and_one_tries_it_again() -> None:
    bench = Bench()
    await _probes(bench, 5)
    provider = Provider(bench)
    provider.error = ProviderFailed("HTTP 503")
    planner = bench.planner(provider.brain, sessions_at_once=2)
    assert await planner.run_once() == Round(sessions=2)
    assert planner.refusal is not None
    assert planner.refusal.startswith("HTTP 503; it is tried again at 2026-03-02T")
    assert len(bench.events("provider.away")) == 1
    assert await planner.run_once() == Round()
    assert len(provider.brain.looks) == 2
    await bench.sleep(5)
    assert await planner.run_once() == Round(sessions=1, put_off=1)
    assert [event.data["reason"] for event in bench.events("session.put_off")] == [
        "HTTP 503; one session is trying it now"
    ]
    assert len(bench.events("provider.away")) == 2
    provider.error = None
    await bench.sleep(10)
    assert await planner.run_once() == Round(sessions=1, put_off=1)
    assert len(bench.events("provider.back")) == 1
    kinds = [event.kind for event in bench.tables.events[id_of("tenant")]]
    assert [kind for kind in kinds if kind.startswith("provider.")] == [
        *("provider.away", "provider.away", "provider.back")
    ]


@simulated
async def test_a_provider_that_is_back_gets_everybody_who_waited_at_once() -> None:
    bench = Bench()
    await _probes(bench, 6)
    provider = Provider(bench)
    provider.error = ProviderFailed("HTTP 429", retry_after=timedelta(seconds=90))
    planner = bench.planner(provider.brain, sessions_at_once=1)
    task = asyncio.create_task(planner.run())
    await bench.sleep(60)
    assert len(provider.brain.looks) == 1
    provider.error = None
    await bench.sleep(30)
    assert len(provider.brain.looks) == 1
    await bench.sleep(10)
    assert len(provider.brain.looks) == 6
    planner.stop()
    await task


@simulated
async def test_a_failed_session_is_stored_with_what_it_used_and_looked_at_again() -> None:
    bench = Bench(tokens_per_month=1000)
    await bench.add(baseline=Every(minutes(1)))
    provider = Provider(bench)
    provider.error = ProviderFailed("HTTP 500")
    planner = bench.planner(provider.brain)
    task = asyncio.create_task(planner.run())
    async with bench.worker():
        await bench.sleep(30)
        (session,) = bench.sessions
        assert (session.end, session.tokens) == (SessionEnd.FAILED, 7)
        assert session.warnings == ("the brain failed: HTTP 500",)
        assert [each.used for each in bench.tables.allowances.values()] == [7, 7]
        provider.error = None
        await bench.sleep(600)
    planner.stop()
    await task
    assert [each.end for each in bench.sessions] == ["failed", "submitted"]
    assert len(bench.runs()) == 11


@simulated
@pytest.mark.parametrize("error", [BrainFailed("it made no sense"), ValueError("odd")])
async def test_a_brain_that_fails_by_itself_puts_nobody_off(error: Exception) -> None:
    bench = Bench()
    await _probes(bench, 5)
    provider = Provider(bench)
    provider.error = error
    planner = bench.planner(provider.brain, sessions_at_once=1)
    for _ in range(5):
        assert await planner.run_once() == Round(sessions=1)
    assert planner.refusal is None


@simulated
async def test_a_trial_that_was_over_quota_leaves_its_place_to_another_tenant() -> None:
    bench = Bench(tokens_per_month=100)
    await bench.add("a", baseline=OnDemand())
    await bench.ran("a")
    provider = Provider(bench)
    provider.error = ProviderFailed("HTTP 500")
    planner = bench.planner(provider.brain)
    await planner.run_once()
    await bench.sleep(301)
    await bench.ran("a")
    assert await planner.run_once() == Round(over_quota=1)
    assert planner.refusal is None


# --- Quota --------------------------------------------------------------------------------------


@simulated
async def test_money_runs_out_like_tokens() -> None:
    """A session may cost 0.4 dollars by the prices, and its call does."""
    bench = Bench(money=1.0)
    bench.payers = Payers(bench.memory.billing, bench.memory.accounts, FlatPrices(4))
    await bench.add()
    model = AskedModel(ModelApi.OPENAI, "test")

    async def think(_: AnalysisContext, tools: Tools) -> None:
        tools.report_call(ModelCall(model, "test", TokenUsage(80_000, 20_000)))

    brain = Thinker(think, reserved_tokens=100_000, usage=Usage(tokens=100_000), model=model)
    ends: list[Any] = []
    for _ in range(4):
        await bench.ran()
        ends.append(await bench.planner(brain).run_once())
    assert ends == [Round(sessions=1)] * 2 + [Round(over_quota=1)] * 2


@simulated
async def test_a_tenant_is_warned_at_eighty_and_a_hundred_percent_once_each() -> None:
    bench = Bench(tokens_per_month=1000)
    await bench.add()
    brain = Thinker(reserved_tokens=100, usage=Usage(tokens=100))
    for _ in range(12):
        await bench.ran()
        await bench.planner(brain).run_once()
    told = [event.data for event in bench.events("quota.warning")]
    limit = {"limit_name": "tokens_per_month", "limit": 1000, "period": "2026-03", "job_id": None}
    assert told == [
        {**limit, "percent": 80, "used": 800},
        {**limit, "percent": 100, "used": 1000},
    ]
    stored = [event.kind for event in bench.tables.events[id_of("tenant")]]
    assert stored.count("quota.warning") == stored.count("quota.reached") == 1
    assert stored.count("quota.refused") == 1  # although two sessions were


@simulated
async def test_a_job_is_warned_of_its_own_limit_too() -> None:
    bench = Bench(tokens_per_month=1_000_000)
    await bench.add()
    await bench.endpoints.set_policy(bench.endpoint(), PlannerPolicy(tokens_per_day=1000))
    brain = Thinker(reserved_tokens=100, usage=Usage(tokens=100))
    for _ in range(12):
        await bench.ran()
        await bench.planner(brain).run_once()
    stored = [event for event in bench.tables.events[id_of("tenant")] if "quota" in event.kind]
    told = [(event.kind, event.job_id, event.data["limit_name"]) for event in stored]
    limit = (id_of("job"), "tokens_per_day")
    kinds = ("quota.warning", "quota.reached", "quota.refused")
    assert told == [(kind, *limit) for kind in kinds]
