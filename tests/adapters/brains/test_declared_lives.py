"""Declared rules in the world in memory: real tools, real governor, real planner."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.adapters.simulated.time import run_simulated
from cadenza.domain.bounds import MAX_PAUSE, longest_ttl
from cadenza.domain.endpoint import Every, OnDemand
from cadenza.domain.rule import Rule, RuleAction, Then
from cadenza.domain.run import Claim, Outcome, RunStatus
from cadenza.roots.brain import rules_brain
from tests.adapters.brains.declaring import rule
from tests.adapters.brains.test_declared_rules import ACTS, BODIES, EXPRESSIONS
from tests.application.bench import Bench, simulated
from tests.factories import CRON, NOON, minutes, seconds

Answer = Callable[[str, float], Any]  # the body, by the endpoint and the minutes since noon


async def lived(bench: Bench, rules: Sequence[Rule], answer: Answer, length: float) -> None:
    await bench.endpoints.set_job_rules(bench.endpoint(), *rules)
    planner = bench.planner(rules_brain())

    async def reply(claim: Claim) -> Outcome:
        body = answer(claim.endpoint_name, (bench.now - NOON) / minutes(1))
        return Outcome(RunStatus.SUCCESS, body=body, status_code=200)

    looking = asyncio.create_task(planner.run())
    async with bench.worker(reply):
        await bench.sleep(60 * length)
    planner.stop()
    await looking


def gaps(bench: Bench, name: str = "probe") -> list[timedelta]:
    slots = [run.slot_at for run in bench.runs(name)]
    return [b - a for a, b in pairwise(slots)]


BUSY = rule("response.depth > 300", Then(RuleAction.INTERVAL, minutes(1)), "busy")
CALM = rule("response.depth < 100", Then(RuleAction.CLEAR), "calm")


@simulated
async def test_a_rule_tightens_while_it_holds_and_another_one_relaxes() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    await lived(bench, [BUSY, CALM], lambda _, at: {"depth": 400 if 15 < at < 65 else 5}, 120)
    assert set(gaps(bench)) == {minutes(10), minutes(1)}
    assert gaps(bench).count(minutes(1)) == 45
    assert gaps(bench)[-4:] == [minutes(10)] * 4


@simulated
async def test_a_rule_that_goes_on_holding_makes_no_noise() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    await lived(bench, [BUSY], lambda _, _at: {"depth": 400}, 180)
    assert len(bench.runs("probe")) > 150
    sessions = bench.sessions
    assert len(sessions) <= 7  # the first, and one for each half of an hour
    assert len(bench.endpoint().planner_changes) <= 1
    assert {session.reasoning for session in sessions} == {"Rule busy (it runs every 60 s for 1 h)"}


@simulated
async def test_detectors_leave_alone_what_a_rule_wrote() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    once = rule(
        "response.count == 15", Then(RuleAction.INTERVAL, minutes(1)), "once", ttl=minutes(30)
    )
    count = iter(range(1000))
    await lived(bench, [once], lambda _, _at: {"count": next(count)}, 260)
    assert gaps(bench).count(minutes(1)) >= 29
    assert "Rest" not in " ".join(session.reasoning for session in bench.sessions)


@simulated
async def test_a_pause_ends_though_siblings_go_on_running() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(5)))
    await bench.add("other", baseline=Every(minutes(1)))
    tired = rule("response.tired", Then(RuleAction.PAUSE, minutes(20)), "tired", endpoint="probe")
    await lived(bench, [tired], lambda _, at: {"tired": at < 10}, 60)
    assert gaps(bench)[0] >= minutes(20)
    assert len(bench.runs("probe")) > 6


@simulated
async def test_an_expression_without_yes_or_no_is_told_in_the_session() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    await lived(bench, [BUSY], lambda _, _at: {"depth": "many"}, 45)
    assert set(gaps(bench)) == {minutes(10)}
    warnings = {warning for session in bench.sessions for warning in session.warnings}
    assert len(warnings) == 1
    assert "the rule 'busy' has no yes or no" in warnings.pop()


@settings(deadline=None, max_examples=25)
@given(
    bodies=st.lists(BODIES, min_size=1, max_size=6),
    rules=st.lists(st.tuples(EXPRESSIONS | st.just("true"), ACTS), min_size=1, max_size=6),
)
def test_no_answer_leads_a_rule_out_of_the_bounds(
    bodies: list[Any], rules: list[tuple[str, Then]]
) -> None:
    declared = [rule(when, then, f"rule {n}") for n, (when, then) in enumerate(rules)]

    async def life() -> None:
        bench = Bench()
        await bench.add(min_interval=seconds(20), max_interval=minutes(5))
        await bench.add("other", baseline=OnDemand(), min_interval=minutes(2))
        answers = iter(bodies * 10_000)
        await lived(bench, declared, lambda *_: next(answers), 15)
        for name, least in (("probe", seconds(20)), ("other", minutes(2))):
            assert all(gap >= least for gap in gaps(bench, name))
            endpoint = bench.endpoint(name)
            for hint in (endpoint.interval_hint, endpoint.one_shot_hint):
                longest = bench.now + longest_ttl(endpoint, bench.now, CRON)
                assert hint is None or hint.expires_at <= longest
            pause = endpoint.planner_pause
            assert pause is None or pause.until_at <= bench.now + MAX_PAUSE
        assert all(session.end == "submitted" or session.warnings for session in bench.sessions)

    run_simulated(life())
