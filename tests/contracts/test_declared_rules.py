"""Declared rules over several looks: what they remember is in the store, not in a planner."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from cadenza.adapters.simulated.log import EventLog
from cadenza.application.planner import Planner
from cadenza.domain.endpoint import Every, OnDemand
from cadenza.domain.rule import Rule, RuleAction, Then
from cadenza.domain.run import Outcome, RunStatus
from cadenza.roots.brain import rules_brain
from tests.adapters.brains.declaring import rule
from tests.contracts.harness import Store
from tests.factories import CRON, minutes, seconds

WAKE = Then(RuleAction.RUN_NOW, endpoint="worker")


class Since:
    """The Clock port at one instant of the store's."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    async def sleep(self, duration: timedelta) -> None:
        raise AssertionError("one round does not sleep")


async def looks(store: Store, name: str) -> None:
    """By a planner that has just started, with a brain of its own."""
    clock = Since(await store.clock.now())
    planner = Planner(
        rules_brain(),
        store.port,
        store.analysis_queue,
        store.quota,
        clock,
        CRON,
        EventLog(),
        uuid4,
        name=name,
    )
    await planner.run_once()


async def runs_of_worker(
    store: Store, declared: Sequence[Rule], depths: Sequence[int | None]
) -> list[int]:
    """The minutes in which the rules had the worker run; another planner looks in each minute.

    A queue answers with these depths, one each minute; nothing where it is None.
    """
    queue = await store.add("queue", baseline=Every(minutes(1)))
    worker = await store.add("worker", baseline=OnDemand())
    await store.set_job_rules(queue, *declared)
    began, ran = queue.created_at + minutes(1), list[int]()
    for minute, depth in enumerate(depths):
        await store.clock.set(began + minutes(minute))
        claim = await store.claim_one()
        assert claim.endpoint_id == queue.id
        body: dict[str, Any] = {} if depth is None else {"depth": depth}
        await store.finish(claim, Outcome(RunStatus.SUCCESS, body=body), takes=seconds(1))
        await looks(store, f"planner {minute}")
        for woken in (await store.claim()).claims:
            assert woken.endpoint_id == worker.id
            await store.finish(woken, takes=seconds(1))
            ran.append(minute)
        await looks(store, f"planner {minute}, again")  # which the worker's run leads to
    return ran


@pytest.mark.parametrize(
    ("cooldown", "expected"), [(0, list(range(9))), (1, list(range(9))), (4, [0, 4, 8])]
)
async def test_a_rule_rests_for_its_cooldown_whoever_looks(
    store: Store, cooldown: float, expected: list[int]
) -> None:
    busy = rule("response.depth > 300", WAKE, endpoint="queue", cooldown=minutes(cooldown))
    assert await runs_of_worker(store, [busy], [400] * 9) == expected


async def test_a_rule_that_rested_does_not_catch_up(store: Store) -> None:
    busy = rule("response.depth > 300", WAKE, endpoint="queue", cooldown=minutes(4))
    depths = [400, 400, 400, 5, 5, 5, 400, 400]
    assert await runs_of_worker(store, [busy], depths) == [0, 6]


async def test_each_rule_rests_by_itself(store: Store) -> None:
    busy = rule("response.depth > 300", WAKE, "busy", endpoint="queue", cooldown=minutes(10))
    idle = rule("response.depth < 10", WAKE, "idle", endpoint="queue", cooldown=minutes(3))
    depths = [400, 5, 400, 5, 5, 400, 5, 5]
    assert await runs_of_worker(store, [busy, idle], depths) == [0, 1, 4, 7]


@pytest.mark.parametrize(("runs", "expected"), [(1, [0, 1, 3, 4, 5, 7]), (3, [5])])
async def test_a_rule_waits_until_it_has_held_for_so_many_runs(
    store: Store, runs: int, expected: list[int]
) -> None:
    """One answer without it, or one that does not say, and the count begins anew."""
    busy = rule("response.depth > 300", WAKE, endpoint="queue", runs=runs)
    depths = [400, 400, 5, 400, 400, 400, None, 400]
    assert await runs_of_worker(store, [busy], depths) == expected


async def test_so_many_runs_and_a_cooldown_hold_together(store: Store) -> None:
    busy = rule("response.depth > 300", WAKE, endpoint="queue", runs=3, cooldown=minutes(5))
    assert await runs_of_worker(store, [busy], [400] * 9) == [2, 7]
