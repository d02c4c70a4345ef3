"""The planner: who gets a look, what a session leaves behind, and what it may spend."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from cadenza.adapters.memory.analysis_queue import MemoryAnalysisQueue
from cadenza.adapters.memory.store import MemoryStore
from cadenza.application.discovery import Round
from cadenza.application.planner import PlannerOptions
from cadenza.application.ports.analysis_queue import AnalysisRequest
from cadenza.application.ports.brain import Tools, Usage
from cadenza.application.ports.store import Transaction
from cadenza.domain import steering
from cadenza.domain.analysis import AnalysisContext, AnalysisReason, Attention
from cadenza.domain.endpoint import Every, OnDemand
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.hint import Author
from cadenza.domain.session import SessionEnd
from tests.application.bench import Bench, Thinker, simulated, takes
from tests.factories import FAILED, NOON, OK, id_of, minutes, seconds

INTERVAL = {"interval_ms": 30_000, "reason": "load"}


async def _act(_: AnalysisContext, tools: Tools) -> None:
    await tools.call("propose_interval", INTERVAL)


async def _submit(_: AnalysisContext, tools: Tools) -> None:
    await tools.call("submit_analysis", {"reasoning": "all is well"})


async def _fail(_: AnalysisContext, __: Tools) -> None:
    raise ConnectionError("the provider\x00 is \u202eaway" + "!" * 1000)


# --- The record of a session ------------------------------------------------------------------


@simulated
async def test_a_session_that_acted_is_stored_with_everything_it_did() -> None:
    bench = Bench()
    await bench.add(baseline=OnDemand())
    await bench.ran()

    async def think(_: AnalysisContext, tools: Tools) -> None:
        await tools.call("get_latest_response", {})
        await bench.sleep(2)
        await tools.call("propose_interval", INTERVAL)
        await tools.call("propose_interval", {"interval_ms": "fast"})
        await tools.call(
            "submit_analysis",
            {"reasoning": "busy", "confidence": 0.7, "next_analysis_in_ms": 600_000},
        )

    began = bench.now
    brain = Thinker(think, usage=Usage(1234, 0.05))
    assert await bench.planner(brain).run_once() == Round(sessions=1, acted=1)
    (session,) = bench.sessions
    assert (session.brain, session.end) == ("thinker", SessionEnd.SUBMITTED)
    assert (session.started_at, session.duration) == (began, seconds(2))
    assert (session.tokens, session.cost, session.warnings) == (1234, 0.05, ())
    assert (session.reasoning, session.confidence) == ("busy", 0.7)
    assert session.next_analysis_at == bench.now + minutes(10)
    assert [(call.tool, call.took_effect) for call in session.tool_calls] == [
        ("get_latest_response", False),
        ("propose_interval", True),
        ("propose_interval", False),
        ("submit_analysis", False),
    ]
    assert session.tool_calls[1].arguments == INTERVAL
    assert session.tool_calls[1].result["source"] == "ai-interval"
    assert "expected a number" in session.tool_calls[2].result["error"]
    assert bench.idle_looks == 0


@simulated
@pytest.mark.parametrize("reads", [False, True], ids=["did nothing", "only read"])
async def test_a_look_with_nothing_to_do_is_counted_and_not_stored(reads: bool) -> None:
    bench = Bench()
    await bench.add()
    await bench.ran()

    async def think(_: AnalysisContext, tools: Tools) -> None:
        if reads:
            await tools.call("get_response_history", {})
            await tools.call("get_sibling_latest_responses", {})
            await tools.call("submit_analysis", {"reasoning": "all is well"})

    planner = bench.planner(Thinker(think))
    assert await planner.run_once() == Round(sessions=1)
    assert (bench.sessions, bench.idle_looks) == ([], 1)
    assert await planner.run_once() == Round()


@simulated
async def test_what_a_glance_settles_takes_no_session_and_counts_as_a_look() -> None:
    bench = Bench()
    for name in ("calm", "odd", "busy"):
        await bench.add(name)
        await bench.ran(name)

    def pre_check(context: AnalysisContext) -> Usage | None:
        odd = Usage(warnings=("a rule has no yes or no",))
        return {"calm": Usage(), "odd": odd}.get(context.endpoint.name)

    brain = Thinker(_act, at_pre_check=pre_check)
    planner = bench.planner(brain)
    assert await planner.run_once() == Round(sessions=3, acted=1)
    assert brain.looks == ["busy"]
    kept = {each.endpoint_id: each for each in bench.sessions}
    assert set(kept) == {id_of("odd"), id_of("busy")}
    assert kept[id_of("odd")].warnings == ("a rule has no yes or no",)
    assert bench.idle_looks == 1
    assert not any(look.leased_by for look in bench.tables.analyses.values())
    assert await planner.run_once() == Round()


@simulated
async def test_glances_that_take_long_outlast_no_lease_and_let_others_work() -> None:
    bench = Bench()
    names = [f"probe {number:02}" for number in range(40)]
    for name in names:
        await bench.add(name)
        await bench.ran(name)
    worked_at: list[int] = []

    def pre_check(_: AnalysisContext) -> Usage:
        checked.append("once")
        bench.clock.step(seconds(10))
        return Usage()

    async def others() -> None:
        while True:
            worked_at.append(len(checked))
            await asyncio.sleep(0)

    checked: list[str] = []
    planner = bench.planner(Thinker(at_pre_check=pre_check))
    beside = asyncio.create_task(others())
    found = await planner.run_once()
    beside.cancel()
    assert PlannerOptions().lease == minutes(5)
    assert found.sessions == 16  # by half of the lease; the rest is given back
    assert 10 in worked_at
    assert not any(look.leased_by for look in bench.tables.analyses.values())
    assert (await planner.run_once()).sessions == 16


@simulated
async def test_a_brain_that_cannot_even_glance_is_recorded_and_harms_no_other_look() -> None:
    bench = Bench()
    for name in ("first", "second"):
        await bench.add(name)
        await bench.ran(name)

    def pre_check(context: AnalysisContext) -> Usage:
        if context.endpoint.name == "first":
            raise RecursionError("out of its depth")
        return Usage()

    assert await bench.planner(Thinker(_fail, at_pre_check=pre_check)).run_once() == Round(
        sessions=2
    )
    (failed,) = bench.sessions
    assert (failed.endpoint_id, failed.end) == (id_of("first"), SessionEnd.FAILED)
    assert bench.idle_looks == 1


@simulated
async def test_a_look_that_cost_something_or_wanted_something_is_stored() -> None:
    bench = Bench()
    await bench.add()
    await bench.ran()
    await bench.planner(Thinker(usage=Usage(tokens=10))).run_once()
    await bench.ran()

    async def want(_: AnalysisContext, tools: Tools) -> None:
        await tools.call("pause_until", {"until_iso": "never"})

    await bench.planner(Thinker(want)).run_once()
    assert [session.tokens for session in bench.sessions] == [10, 0]
    assert [session.end for session in bench.sessions] == ["unfinished"] * 2


@simulated
async def test_a_brain_that_raises_is_recorded_with_what_it_did_before() -> None:
    bench = Bench()
    await bench.add("first")
    await bench.add("second")
    await bench.ran("first")
    await bench.ran("second")

    async def think(context: AnalysisContext, tools: Tools) -> None:
        await _act(context, tools)
        if context.endpoint.name == "first":
            await _fail(context, tools)

    assert (await bench.planner(Thinker(think)).run_once()).sessions == 2
    failed = next(each for each in bench.sessions if each.end is SessionEnd.FAILED)
    assert failed.endpoint_id == id_of("first")
    (warning,) = failed.warnings
    assert warning.startswith("the brain failed: ConnectionError: the provider is away!")
    assert len(warning) < 600
    json.dumps(warning).encode()
    assert [call.took_effect for call in failed.tool_calls] == [True]
    assert bench.endpoint("first").interval_hint is not None
    assert bench.endpoint("second").interval_hint is not None


@simulated
async def test_a_brain_that_fails_at_every_look_does_not_stop_the_planner_or_the_runs() -> None:
    bench = Bench()
    await bench.add(baseline=Every(seconds(30)))
    brain = Thinker(_fail)
    planner = bench.planner(brain)
    task = asyncio.create_task(planner.run())
    async with bench.worker(takes(bench, 1)):
        await bench.sleep(299)
        assert not task.done()
        planner.stop()
        await task
    assert len(brain.looks) == 10
    assert {session.end for session in bench.sessions} == {SessionEnd.FAILED}
    assert [run.slot_at - NOON for run in bench.runs()] == [seconds(30 * n) for n in range(10)]


@simulated
async def test_a_session_that_used_up_its_calls_ends_as_such() -> None:
    bench = Bench()
    await bench.add()
    await bench.ran()

    async def chatter(_: AnalysisContext, tools: Tools) -> None:
        for _ in range(40):
            await tools.call("get_latest_response", {})

    await bench.planner(Thinker(chatter)).run_once()
    (session,) = bench.sessions
    assert session.end is SessionEnd.OUT_OF_CALLS
    assert sum(call.result["ok"] for call in session.tool_calls) == 15


@simulated
async def test_each_act_that_took_effect_is_told() -> None:
    bench = Bench()
    await bench.add()
    await bench.add("sibling", baseline=OnDemand())
    await bench.ran()

    async def think(_: AnalysisContext, tools: Tools) -> None:
        await tools.call("propose_interval", INTERVAL)
        await tools.call("propose_interval", {"interval_ms": -1})
        await tools.call("propose_next_time", {"next_run_in_ms": 0, "endpoint": "sibling"})

    await bench.planner(Thinker(think)).run_once()
    told = [
        (event.data["tool"], event.data["result"]["endpoint"])
        for event in bench.events("planner.acted")
    ]
    assert told == [("propose_interval", "probe"), ("propose_next_time", "sibling")]


@simulated
async def test_a_brain_is_shown_health_siblings_and_the_last_analysis() -> None:
    bench = Bench()
    await bench.add()
    await bench.add("sibling", baseline=OnDemand())
    await bench.ran(outcome=FAILED)
    await bench.ran(outcome=OK)
    seen: list[AnalysisContext] = []

    async def think(context: AnalysisContext, tools: Tools) -> None:
        seen.append(context)
        await tools.call("submit_analysis", {"reasoning": "first thoughts"})

    planner = bench.planner(Thinker(think))
    await planner.run_once()
    first_at = bench.now
    await bench.ran(outcome=FAILED)
    await planner.run_once()
    first, second = seen
    assert first.last_analysis is None
    assert first.job.description == "Watch it all."
    assert first.sibling_names == ("sibling",)
    assert [(each.runs, each.successes) for each in first.health.windows] == [(2, 1)] * 3
    assert first.health.mean_duration == seconds(1)
    assert second.last_analysis is not None
    assert (second.last_analysis.at, second.last_analysis.reasoning) == (first_at, "first thoughts")
    assert second.health.failure_streak == 1


# --- Discovery --------------------------------------------------------------------------------


async def _looks(bench: Bench, brain: Thinker) -> list[str]:
    """The endpoints that one round looks at."""
    brain.looks.clear()
    await bench.planner(brain).run_once()
    await bench.sleep(1)
    return sorted(brain.looks)


async def _family(bench: Bench) -> None:
    for name in ("a", "b"):
        await bench.add(name, baseline=OnDemand())
    await bench.add("stranger", baseline=OnDemand(), job_id=id_of("another job"))


@simulated
async def test_a_brain_for_own_runs_looks_after_each_run_of_the_endpoint_itself() -> None:
    bench = Bench()
    await _family(bench)
    brain = Thinker()
    assert await _looks(bench, brain) == []
    await bench.ran("a", body=1)
    assert await _looks(bench, brain) == ["a"]
    assert await _looks(bench, brain) == []
    await bench.ran("a", body=1)
    await bench.ran("b", body=1)
    assert await _looks(bench, brain) == ["a", "b"]


@simulated
async def test_a_brain_for_every_run_looks_at_the_siblings_too_and_only_once() -> None:
    bench = Bench()
    await _family(bench)
    brain = Thinker(attention=Attention.EVERY_RUN)
    await bench.ran("a", body=1)
    assert await _looks(bench, brain) == ["a", "b"]
    assert await _looks(bench, brain) == []
    for _ in range(5):
        await bench.ran("a", body=1)
    assert await _looks(bench, brain) == ["a", "b"]
    assert await _looks(bench, brain) == []


@simulated
async def test_a_brain_for_changes_looks_when_something_happened() -> None:
    bench = Bench()
    await _family(bench)
    wanted: dict[str, Any] = {}

    async def think(_: AnalysisContext, tools: Tools) -> None:
        await tools.call("submit_analysis", wanted)

    brain = Thinker(think, attention=Attention.ON_CHANGE)
    assert await _looks(bench, brain) == []
    await bench.ran("stranger", body=1)
    assert await _looks(bench, brain) == ["stranger"]  # it was never analysed
    await bench.ran("stranger", body=1)
    assert await _looks(bench, brain) == []  # it ran, and nothing is new
    await bench.ran("stranger", body=2, outcome=FAILED)
    assert await _looks(bench, brain) == ["stranger"]  # a failure streak began
    await bench.ran("stranger", body=2, outcome=FAILED)
    assert await _looks(bench, brain) == []  # it goes on, and the last look was just now
    await bench.sleep(300)
    wanted["next_analysis_in_ms"] = 300_000
    assert await _looks(bench, brain) == ["stranger"]  # it failed since
    await bench.ran("stranger", body=3)
    assert await _looks(bench, brain) == ["stranger"]  # the streak ended
    await bench.ran("stranger", body=4)
    assert await _looks(bench, brain) == []  # what it asked for is not due yet
    await bench.sleep(300)
    assert await _looks(bench, brain) == ["stranger"]  # now it is, and it ran since
    await bench.sleep(301)
    assert await _looks(bench, brain) == []  # due again, but it has not run since
    assert {session.reason for session in bench.sessions} <= set(AnalysisReason)


@simulated
async def test_a_failure_is_seen_by_its_time_though_the_count_is_the_same() -> None:
    bench = Bench()
    await bench.add(baseline=OnDemand())
    brain = Thinker(_submit, attention=Attention.ON_CHANGE)
    await bench.ran(outcome=FAILED)
    assert await _looks(bench, brain) == ["probe"]
    await bench.ran(outcome=OK)
    await bench.ran(outcome=FAILED)
    assert bench.endpoint().failure_count == 1
    assert await _looks(bench, brain) == ["probe"]


@simulated
async def test_a_brain_for_changes_looks_when_a_siblings_failure_state_or_pause_changed() -> None:
    bench = Bench()
    await _family(bench)
    brain = Thinker(_submit, attention=Attention.ON_CHANGE)
    await bench.ran("a", body=1)
    await bench.ran("b", body=1)
    await _looks(bench, brain)
    assert await _looks(bench, brain) == []
    await bench.sleep(300)
    await bench.ran("b", body=2)
    assert await _looks(bench, brain) == []  # another answer is no news for a
    await bench.ran("b", body=2, outcome=FAILED)
    assert await _looks(bench, brain) == ["a", "b"]
    await bench.sleep(300)
    await bench.act(
        "b", lambda ep, now, cron: steering.pause(ep, None, Author.PERSON, "", now, cron)
    )
    assert await _looks(bench, brain) == ["a"]
    assert await _looks(bench, brain) == []


@simulated
async def test_being_analysed_is_no_reason_to_look_at_a_sibling() -> None:
    bench = Bench()
    for name in ("a", "b", "c"):
        await bench.add(name, baseline=OnDemand())
        await bench.ran(name, body=1)
    for attention in Attention:
        brain = Thinker(attention=attention)
        for name in ("a", "b", "c"):
            await bench.ran(name, body=1)
        rounds = [len(await _looks(bench, brain)) for _ in range(5)]
        assert rounds[1:] == [0, 0, 0, 0]


@simulated
@pytest.mark.parametrize("attention", list(Attention))
async def test_a_person_can_ask_for_an_analysis_at_any_time(attention: Attention) -> None:
    bench = Bench()
    await bench.add(baseline=OnDemand())
    brain = Thinker(attention=attention)
    await bench.endpoints.ask_for_analysis(bench.endpoint())
    assert await _looks(bench, brain) == ["probe"]
    assert await _looks(bench, brain) == []
    await bench.endpoints.ask_for_analysis(bench.endpoint())
    assert await _looks(bench, brain) == ["probe"]


@simulated
@pytest.mark.parametrize("attention", list(Attention))
async def test_nobody_looks_at_what_is_archived(attention: Attention) -> None:
    bench = Bench()
    await bench.add()
    await bench.ran()
    await bench.act("probe", steering.archive)
    assert await _looks(bench, Thinker(attention=attention)) == []


@simulated
async def test_those_whose_state_changed_come_first() -> None:
    bench = Bench()
    for name in ("a", "b", "c"):
        await bench.add(name, baseline=OnDemand())
        await bench.ran(name, body=1)
    brain = Thinker()
    await _looks(bench, brain)
    for name, body in (("a", 1), ("b", 1), ("c", 2)):
        await bench.ran(name, body=body)
    brain.looks.clear()
    await bench.planner(brain, sessions_at_once=1).run_once()
    assert brain.looks == ["c", "a", "b"]


# --- Its life -----------------------------------------------------------------------------------


@simulated
async def test_an_incident_is_looked_at_as_soon_as_its_run_has_finished() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(1)))
    looked: list[Any] = []

    async def think(_: AnalysisContext, __: Tools) -> None:
        looked.append(bench.now - NOON)

    planner = bench.planner(Thinker(think))
    task = asyncio.create_task(planner.run())
    async with bench.worker(takes(bench, 2)):
        await bench.sleep(150)
        planner.stop()
        await task
    assert looked == [seconds(2), seconds(62), seconds(122)]


@simulated
async def test_runs_that_finish_during_a_long_session_lead_to_one_more_look() -> None:
    bench = Bench()
    await bench.add(baseline=Every(seconds(10)))

    async def think(_: AnalysisContext, __: Tools) -> None:
        await bench.sleep(55)

    brain = Thinker(think)
    planner = bench.planner(brain)
    task = asyncio.create_task(planner.run())
    async with bench.worker():
        await bench.sleep(100)
    planner.stop()
    await task
    assert len(brain.looks) == 2


@simulated
async def test_no_more_sessions_are_held_at_once_than_allowed() -> None:
    bench = Bench()
    for number in range(20):
        await bench.add(f"probe {number}", baseline=OnDemand())
        await bench.ran(f"probe {number}")
    at_once, most = 0, 0

    async def think(_: AnalysisContext, __: Tools) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await bench.sleep(1)
        at_once -= 1

    assert (await bench.planner(Thinker(think), sessions_at_once=6).run_once()).sessions == 20
    assert most == 6


@simulated
async def test_a_stopped_planner_lets_its_sessions_end() -> None:
    bench = Bench()
    await bench.add()
    await bench.ran()

    async def think(context: AnalysisContext, tools: Tools) -> None:
        await bench.sleep(20)
        await _act(context, tools)

    planner = bench.planner(Thinker(think))
    task = asyncio.create_task(planner.run())
    await bench.sleep(5)
    planner.stop()
    await task
    assert len(bench.sessions) == 1


class FragileQueue(MemoryAnalysisQueue):
    down = False

    async def claim_for_analysis(self, request: AnalysisRequest) -> Mapping[UUID, AnalysisReason]:
        if self.down:
            raise StoreUnavailable("the database does not answer")
        return await super().claim_for_analysis(request)


class FragileStore(MemoryStore):
    down = False

    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        if self.down:
            raise StoreUnavailable("the database does not answer")
        return super().transaction()


@dataclass(slots=True)
class Database:
    """Away at times, with all that is asked of it."""

    queue: FragileQueue
    store: FragileStore

    @classmethod
    def under(cls, bench: Bench) -> "Database":
        bench.analysis_queue = queue = FragileQueue(bench.tables)
        bench.store = store = FragileStore(bench.tables)
        return cls(queue, store)

    def set_down(self, down: bool) -> None:
        self.queue.down = self.store.down = down


@simulated
async def test_a_planner_outlives_a_store_that_is_away_for_a_while() -> None:
    bench = Bench()
    database = Database.under(bench)
    await bench.add()
    brain = Thinker(_act)
    planner = bench.planner(brain)
    database.set_down(True)
    task = asyncio.create_task(planner.run())
    await bench.ran()
    await bench.sleep(30)
    assert not task.done()
    database.set_down(False)
    await bench.sleep(2)
    assert brain.looks == ["probe"]
    planner.stop()
    await task


@simulated
async def test_a_session_that_meets_a_store_away_leaves_no_other_session_unwatched() -> None:
    bench = Bench()
    database = Database.under(bench)
    for name in ("quick", "slow"):
        await bench.add(name, baseline=OnDemand())
        await bench.ran(name)
    under_way: set[str] = set()

    async def think(context: AnalysisContext, _: Tools) -> None:
        assert context.endpoint.name not in under_way, "two sessions about one endpoint"
        under_way.add(context.endpoint.name)
        await bench.sleep(60 if context.endpoint.name == "slow" else 1)
        under_way.discard(context.endpoint.name)

    brain = Thinker(think, usage=Usage(tokens=1))
    planner = bench.planner(brain)
    task = asyncio.create_task(planner.run())
    await bench.sleep(0.5)
    database.set_down(True)
    await bench.sleep(2)
    database.set_down(False)
    await bench.sleep(200)
    planner.stop()
    await task
    assert sorted(brain.looks) == ["quick", "slow"]
    assert len(bench.sessions) == 2  # what could not be put on record then, was later


# --- Quota --------------------------------------------------------------------------------------


@simulated
async def test_parallel_sessions_cannot_spend_more_than_the_quota() -> None:
    bench = Bench(tokens_per_month=1000)
    for number in range(10):
        await bench.add(f"probe {number}", baseline=OnDemand())
        await bench.ran(f"probe {number}")

    async def think(_: AnalysisContext, __: Tools) -> None:
        await bench.sleep(10)

    brain = Thinker(think, reserved_tokens=300, usage=Usage(tokens=300))
    planner = bench.planner(brain, sessions_at_once=10)
    assert await planner.run_once() == Round(sessions=3, over_quota=7)
    assert len(brain.looks) == 3
    assert sum(session.tokens for session in bench.sessions) == 900
    assert len(bench.events("session.over_quota")) == 7
    assert (bench.month.used, bench.month.reserved) == (900, 0)


@simulated
async def test_what_a_session_did_not_use_is_given_back() -> None:
    bench = Bench(tokens_per_month=1000)
    brain = Thinker(reserved_tokens=900, usage=Usage(tokens=50))
    await bench.add()
    for _ in range(3):
        await bench.ran()
        assert (await bench.planner(brain).run_once()).over_quota == 0
    month = bench.month
    assert (month.used, month.reserved, month.left) == (150, 0, 850)
    await bench.ran()
    assert await bench.planner(brain).run_once() == Round(over_quota=1)


@simulated
async def test_a_brain_that_raises_keeps_no_reservation() -> None:
    bench = Bench(tokens_per_month=1000)
    await bench.add()
    await bench.ran()
    await bench.planner(Thinker(_fail, reserved_tokens=600)).run_once()
    assert bench.month.reserved == 0


@simulated
async def test_one_tenant_over_its_quota_does_not_stop_another() -> None:
    bench = Bench(tokens_per_month=100)
    await bench.add("rich", baseline=OnDemand(), tenant_id=id_of("rich"))
    await bench.add("poor", baseline=OnDemand(), tenant_id=id_of("poor"))
    brain = Thinker(reserved_tokens=60, usage=Usage(tokens=60))
    await bench.ran("poor")
    await bench.planner(brain).run_once()
    await bench.ran("poor")
    await bench.ran("rich")
    assert await bench.planner(brain).run_once() == Round(sessions=1, over_quota=1)
    assert brain.looks == ["poor", "rich"]


@simulated
async def test_over_quota_the_baseline_goes_on_and_the_next_month_begins_anew() -> None:
    bench = Bench(tokens_per_month=100)
    await bench.add(baseline=Every(minutes(10)))
    brain = Thinker(_act, reserved_tokens=60, usage=Usage(tokens=60))
    planner = bench.planner(brain)
    task = asyncio.create_task(planner.run())
    async with bench.worker():
        await bench.sleep(3 * 3600)
        assert brain.looks == ["probe"]
        runs = bench.runs()
        assert len(runs) > 100  # the only hint lives an hour, then the baseline returns
        assert runs[-1].source == "baseline-interval"
        bench.clock.step(minutes(60 * 24 * 30))
        await bench.sleep(3600)
        assert len(brain.looks) == 2
    planner.stop()
    await task


@simulated
async def test_a_brain_that_costs_nothing_asks_for_no_quota() -> None:
    bench = Bench(tokens_per_month=0)
    await bench.add()
    await bench.ran()
    assert await bench.planner(Thinker(_act)).run_once() == Round(sessions=1, acted=1)
    assert bench.tables.allowances == {}
