"""The rules brain in the world in memory: real tools, real governor, and the sessions it leaves."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from cadenza.adapters.brains.rules.brain import RulesBrain
from cadenza.adapters.brains.rules.proposal import Proposal, Ruling
from cadenza.adapters.simulated.time import run_simulated
from cadenza.domain import steering
from cadenza.domain.analysis import AnalysisContext, Attention
from cadenza.domain.detectors.memory import memory_of
from cadenza.domain.endpoint import CronLine, Every, OnDemand
from cadenza.domain.hint import Author
from cadenza.domain.pace import Pace
from cadenza.domain.plan import Source
from cadenza.domain.planner_policy import PlannerPolicy
from cadenza.domain.run import Claim, Outcome, RunStatus
from tests.application.bench import Bench, simulated
from tests.factories import CRON, FAILED, NOON, OK, id_of, interval_hint, make_endpoint, minutes

Answer = Callable[[float], Outcome]  # by the minutes since noon


async def lived(
    bench: Bench, answer: Answer, length: float, brain: RulesBrain | None = None
) -> None:
    """So many minutes of a scheduler and a planner that wakes after every run."""
    planner = bench.planner(brain or RulesBrain(CRON))

    async def reply(_: Claim) -> Outcome:
        return answer((bench.now - NOON) / minutes(1))

    looking = asyncio.create_task(planner.run())
    async with bench.worker(reply):
        await bench.sleep(60 * length)
    planner.stop()
    await looking


def allow(bench: Bench, **policy: Any) -> None:
    (stored,) = bench.tables.jobs.values()
    job = replace(stored.job, planner=PlannerPolicy(**policy))
    bench.tables.jobs[job.id] = replace(stored, job=job)


def body(outcome: Any) -> Outcome:
    return Outcome(RunStatus.SUCCESS, body=outcome, status_code=200)


def slots(bench: Bench, name: str = "probe") -> list[float]:
    return [(run.slot_at - NOON) / minutes(1) for run in bench.runs(name)]


def gaps_between(bench: Bench, begin: float, end: float) -> list[float]:
    inside = [at for at in slots(bench) if begin <= at <= end]
    return [b - a for a, b in pairwise(inside)]


def reasonings(bench: Bench) -> str:
    return " ".join(session.reasoning for session in bench.sessions)


@simulated
async def test_an_outage_is_watched_for_its_end_and_for_the_next_one() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    await lived(bench, lambda at: FAILED if 195 <= at < 235 else OK, 400)
    assert set(gaps_between(bench, 0, 195)) == {10}  # the baseline is a promise
    assert max(gaps_between(bench, 200, 235)) < 6  # the end of the outage is looked for
    assert min(gaps_between(bench, 200, 235)) >= 0.83
    later = gaps_between(bench, 236, 400)
    assert later[0] < 4  # what failed just now may fail again
    assert max(later) <= 10
    assert "Outages: down since 2026-03-02T15:20:00" in reasonings(bench)
    assert "Outages: failed once since yesterday: looked at every" in reasonings(bench)


@simulated
async def test_a_long_outage_is_looked_at_no_less_often_than_the_baseline() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    await lived(bench, lambda at: OK if at < 120 else FAILED, 3000)
    assert max(gaps_between(bench, 120, 3000)) == 10  # not its backoff of 320 minutes
    during = [at for at in slots(bench) if at > 120]
    assert len(during) < 1.25 * 288 + 0.25 * 288 + 5  # two days, and what was there before


@simulated
async def test_what_does_something_keeps_its_backoff_while_it_is_down() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)), method="POST")
    await lived(bench, lambda at: FAILED if 115 <= at < 300 else OK, 600)
    assert gaps_between(bench, 119, 300)[:3] == [20, 40, 80]
    assert set(gaps_between(bench, 420, 600)) == {10}
    assert all(run.source is Source.BASELINE_INTERVAL for run in bench.runs())


@simulated
async def test_when_one_fails_its_siblings_are_looked_at_once() -> None:
    bench = Bench()
    await bench.add("shop", baseline=Every(minutes(10)))
    await bench.add("search", baseline=Every(minutes(10)), created_at=NOON + minutes(4))
    await bench.add(
        "order", baseline=Every(minutes(10)), created_at=NOON + minutes(4), method="POST"
    )
    planner = bench.planner(RulesBrain(CRON))

    async def reply(claim: Claim) -> Outcome:
        at = (bench.now - NOON) / minutes(1)
        return FAILED if claim.endpoint_name == "shop" and at >= 195 else OK

    looking = asyncio.create_task(planner.run())
    async with bench.worker(reply):
        await bench.sleep(60 * 230)
    planner.stop()
    await looking
    late = [round(at, 1) for at in slots(bench, "search") if at > 190]
    assert late[:4] == [194, 200, 210, 220]  # once, as soon as it failed, and then as before
    assert [at for at in slots(bench, "order") if at > 190][:3] == [194, 204, 214]
    assert "Sibling: shop failed at" in reasonings(bench)


@simulated
async def test_a_cron_is_looked_at_beside_its_grid_and_keeps_it() -> None:
    bench = Bench()
    await bench.add(baseline=CronLine("*/10 * * * *"))
    await lived(bench, lambda at: FAILED if 195 <= at < 215 else OK, 300)
    at = slots(bench)
    assert {10.0 * n for n in range(1, 30)} <= set(at)
    assert len([each for each in at if each > 195 and each % 10]) >= 3


@simulated
async def test_the_purse_ends_a_burst_and_the_baseline_goes_on() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    flaps: Answer = lambda at: FAILED if at > 120 and int(at / 25) % 2 else OK  # noqa: E731
    await lived(bench, flaps, 4 * 1440)
    runs = len(slots(bench))
    assert max(gaps_between(bench, 0, 4 * 1440)) < 10.01
    assert 1.2 * 576 < runs < 576 * 1.25 + 0.25 * 288 + 5


@simulated
async def test_a_queue_that_grows_past_what_it_can_hold_is_said_and_nothing_is_done() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))

    def answer(at: float) -> Outcome:
        depth = 100 + (at % 20 > 10) if at < 240 else min(500, 100 + 5 * (at - 240))
        return body({"queue_depth": depth, "queue_max": 500})

    await lived(bench, answer, 360)
    reasoning = bench.tables.analyses[id_of("probe"), "rules"].reasoning
    assert "Threshold: queue_depth is 500 and has reached queue_max" in reasoning
    assert set(gaps_between(bench, 0, 360)) == {10}
    assert bench.sessions == []


@simulated
async def test_a_calm_endpoint_is_relaxed_only_where_its_owner_allows_it_and_within_max() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)), max_interval=minutes(11))
    allow(bench, relax=1.5)
    await lived(bench, lambda _: OK, 600)
    assert max(gaps_between(bench, 0, 600)) == 11
    assert bench.endpoint().next_source is Source.AI_INTERVAL  # it shows as such
    assert len(bench.sessions) < len(bench.runs()) / 2
    assert "Calm: has never failed: looked at every 11 min" in reasonings(bench)
    allow(bench, relax=1.0)
    await lived(bench, lambda _: OK, 300)
    assert set(gaps_between(bench, 620, 900)) == {10}


@simulated
async def test_with_nothing_to_do_no_session_is_written() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)), max_interval=minutes(10))
    await lived(bench, lambda _: OK, 300)
    assert bench.sessions == []
    assert bench.idle_looks >= 30


@simulated
async def test_a_single_anomaly_is_said_but_changes_nothing() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)), max_interval=minutes(10))
    await lived(bench, lambda at: body({"load": 900 if at == 150 else 100}), 155)
    analysis = bench.tables.analyses[bench.endpoint().id, "rules"]
    assert analysis.reasoning == "Single anomaly: load is 900; once is no reason to act"
    assert bench.sessions == []
    assert bench.endpoint().interval_hint is None


@pytest.mark.parametrize(("relax", "expected"), [(1.0, [0, 10, 20]), (1.5, [0, 45, 55])])
@simulated
async def test_a_cooldown_in_the_answer_is_kept_only_where_the_owner_lets_it_be_relaxed(
    relax: float, expected: list[int]
) -> None:
    until = "2026-03-02T12:45:00Z"
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    allow(bench, relax=relax)
    await lived(bench, lambda at: body({"cooldown_until": until} if at < 45 else {}), 70)
    assert [int(at) for at in slots(bench)[:3]] == expected
    pauses = [c for s in bench.sessions for c in s.tool_calls if c.tool == "pause_until"]
    assert len(pauses) == (relax > 1)


@simulated
async def test_a_sibling_that_is_ready_starts_the_one_that_waits_once_for_each_answer() -> None:
    bench = Bench()
    await bench.add("fetcher", baseline=Every(minutes(10)))
    await bench.add("processor", baseline=OnDemand())

    def answer(at: float) -> Outcome:
        return body({"ready_for_processing": 15 <= at < 35})

    await lived(bench, answer, 60)
    assert [round(at) for at in slots(bench, "processor")] == [20, 30]


@simulated
async def test_a_hint_of_a_person_is_left_alone() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    theirs = interval_hint(minutes(5), NOON + minutes(1000), Author.PERSON)
    await bench.act("probe", lambda ep, now, cron: steering.suggest_interval(ep, theirs, now, cron))
    await lived(bench, lambda at: FAILED if at > 100 else OK, 200)
    assert bench.endpoint().interval_hint == theirs
    (session,) = bench.sessions
    assert session.reasoning.startswith("left alone: a person's hint until 2026-03-03T04:40:00Z")
    assert session.repeats > 1


@simulated
@pytest.mark.parametrize("author", [Author.PERSON, Author.PLANNER], ids=["person", "model"])
async def test_runs_that_a_person_or_a_model_asked_for_are_in_no_account(author: Author) -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    theirs = replace(interval_hint(minutes(1), NOON + minutes(600), author), brain="llm")
    await bench.act("probe", lambda ep, now, cron: steering.suggest_interval(ep, theirs, now, cron))
    await lived(bench, lambda at: FAILED if 300 < at < 330 else OK, 590)
    assert len(slots(bench)) > 500  # nine times the baseline's
    memory = bench.tables.analyses[id_of("probe"), "rules"].memory
    assert memory is not None
    assert memory_of(memory, 0.0).account.used(bench.now.timestamp()) == 0


def test_a_brain_that_is_started_anew_decides_like_the_one_before() -> None:
    def life(brains: int) -> list[float]:
        async def live() -> list[float]:
            bench = Bench()
            await bench.add(baseline=Every(minutes(10)))
            for number in range(brains):
                length = 300 / brains - (1 if number else 0)
                await lived(bench, lambda at: FAILED if 141 <= at < 170 else OK, length)
            return slots(bench)

        return run_simulated(live())

    assert life(1)[:40] == life(2)[:40]


# --- Declared rules -----------------------------------------------------------------------------


class Declared:
    def __init__(self, *proposals: Proposal) -> None:
        self._proposals = proposals

    async def ruling(self, context: AnalysisContext) -> Ruling:
        return Ruling(self._proposals)

    async def speak_for(self, context: AnalysisContext) -> bool:
        return False


@simulated
async def test_declared_rules_come_before_the_detectors_and_know_no_budget() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    wish = Proposal("propose_interval", {"interval_ms": 60_000, "reason": "mine"}, "the owner says")
    await lived(bench, lambda _: OK, 60, RulesBrain(CRON, Declared(wish)))
    assert gaps_between(bench, 1, 60)[-1] == 1
    assert bench.endpoint().next_source is Source.AI_INTERVAL
    assert bench.sessions[0].reasoning == "the owner says"


@simulated
async def test_declared_rules_with_nothing_to_say_leave_it_to_the_detectors() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    await lived(bench, lambda at: FAILED if at > 150 else OK, 200, RulesBrain(CRON, Declared()))
    assert "Outages" in reasonings(bench)


# --- Small things -------------------------------------------------------------------------------


def test_it_is_free_and_looks_after_every_run() -> None:
    brain = RulesBrain(CRON)
    assert (brain.name, brain.attention, brain.reserved_tokens) == (
        "rules",
        Attention.EVERY_RUN,
        0,
    )


def test_the_pace_of_a_cron_is_what_it_comes_to_over_a_day() -> None:
    pace = Pace(CRON)

    def of(baseline: Any) -> timedelta | None:
        return pace.of(make_endpoint(baseline=baseline), NOON)

    assert of(Every(minutes(7))) == minutes(7)
    assert of(CronLine("*/15 * * * *")) == minutes(15)
    assert of(CronLine("0 9,17 * * *")) == timedelta(hours=12)
    assert of(CronLine("0 9 1 1 *")) is None
    assert of(CronLine("never")) is None
    assert of(OnDemand()) is None
