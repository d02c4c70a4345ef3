"""The rules brain in the world in memory: real tools, real governor, and the sessions it leaves."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from math import inf
from typing import Any

from cadenza.adapters.brains.rules.brain import RulesBrain
from cadenza.adapters.brains.rules.pace import Pace
from cadenza.adapters.brains.rules.proposal import Proposal, Ruling
from cadenza.adapters.simulated.time import run_simulated
from cadenza.domain import steering
from cadenza.domain.analysis import AnalysisContext, Attention
from cadenza.domain.endpoint import CronLine, Every, OnDemand
from cadenza.domain.hint import Author
from cadenza.domain.plan import Source
from cadenza.domain.run import Claim, Outcome, RunStatus
from cadenza.domain.spending import Budget
from tests.application.bench import Bench, simulated
from tests.factories import CRON, FAILED, NOON, OK, interval_hint, make_endpoint, minutes

OPEN = Budget(factor=inf)
Answer = Callable[[float], Outcome]  # by the minutes since noon


async def lived(
    bench: Bench, answer: Answer, length: float, brain: RulesBrain | None = None
) -> None:
    """So many minutes of a scheduler and a planner that wakes after every run."""
    planner = bench.planner(brain or RulesBrain(CRON, budget=OPEN))

    async def reply(_: Claim) -> Outcome:
        return answer((bench.now - NOON) / minutes(1))

    looking = asyncio.create_task(planner.run())
    async with bench.worker(reply):
        await bench.sleep(60 * length)
    planner.stop()
    await looking


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
async def test_an_outage_starts_a_burst_that_decays_and_ends_in_the_baseline() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    await lived(bench, lambda at: FAILED if 195 <= at < 235 else OK, 400)
    assert max(gaps_between(bench, 110, 195)) > 10  # long stability had relaxed it
    assert max(gaps_between(bench, 200, 235)) < 6  # the end of the outage is looked for
    assert min(gaps_between(bench, 200, 235)) >= 0.83
    later = gaps_between(bench, 235, 300)
    assert later[0] < 2  # it is looked at once more, to be sure
    assert later == sorted(later)[: len(later)] or max(later[-3:]) > 9  # it decays
    assert gaps_between(bench, 350, 400)[-1] > 10
    assert "State change: it fails since" in reasonings(bench)
    assert "State change: it answers again since" in reasonings(bench)


@simulated
async def test_a_long_outage_does_not_eat_the_runs() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    await lived(bench, lambda at: OK if at < 120 else FAILED, 1440)
    during = [at for at in slots(bench) if at > 120]
    assert len(during) < (1440 - 120) / 10  # fewer than the baseline, yet it is watched
    assert max(gaps_between(bench, 130, 1440)) < 75


@simulated
async def test_a_queue_that_grows_past_what_it_can_hold_is_watched() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))

    def answer(at: float) -> Outcome:
        depth = 100 + (at % 20 > 10) if at < 240 else min(500, 100 + 5 * (at - 240))
        return body({"queue_depth": depth, "queue_max": 500})

    await lived(bench, answer, 360)
    assert "Trend: queue_depth rises" in reasonings(bench)
    assert "Threshold: queue_depth is" in reasonings(bench)
    assert min(gaps_between(bench, 330, 360)) <= 2.5


@simulated
async def test_stability_relaxes_within_max_and_writes_few_sessions() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)), max_interval=minutes(11))
    await lived(bench, lambda _: OK, 600)
    assert max(gaps_between(bench, 0, 600)) == 11
    assert len(bench.sessions) < len(bench.runs()) / 2
    assert bench.idle_looks > len(bench.runs()) / 2


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


@simulated
async def test_a_cooldown_in_the_answer_pauses_until_then_and_once() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    until = "2026-03-02T12:45:00Z"
    await lived(bench, lambda at: body({"cooldown_until": until} if at < 45 else {}), 70)
    assert [int(at) for at in slots(bench)[:3]] == [0, 45, 55]
    pauses = [c for s in bench.sessions for c in s.tool_calls if c.tool == "pause_until"]
    assert len(pauses) == 1


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

    def ruling(self, context: AnalysisContext) -> Ruling:
        return Ruling(self._proposals)

    def speak_for(self, context: AnalysisContext) -> bool:
        return False


@simulated
async def test_declared_rules_come_before_the_detectors_and_know_no_budget() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    wish = Proposal("propose_interval", {"interval_ms": 60_000, "reason": "mine"}, "the owner says")
    await lived(bench, lambda _: OK, 60, RulesBrain(CRON, Declared(wish), Budget(factor=0.0)))
    assert gaps_between(bench, 1, 60)[-1] == 1
    assert bench.endpoint().next_source is Source.AI_INTERVAL
    assert bench.sessions[0].reasoning == "the owner says"


@simulated
async def test_declared_rules_with_nothing_to_say_leave_it_to_the_detectors() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    await lived(bench, lambda _: OK, 200, RulesBrain(CRON, Declared(), OPEN))
    assert "Stability" in reasonings(bench)


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
