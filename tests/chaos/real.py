"""A run with real programs: so many seconds of faults, a quiet end, and the verdict."""

import asyncio
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from time import time as wall_time  # noqa: TID251 - as its witnesses have it
from typing import Any

from cadenza.adapters.simulated.chance import SeededChance
from cadenza.application.waiting import end_all
from tests.chaos.checker import Verdict, check
from tests.chaos.clock_steps import time_at
from tests.chaos.faults import ALONE, FAULTS, Draw, inflict, steer
from tests.chaos.history import History
from tests.chaos.stage import BOUND, GRAPHS, PLANNER, SCHEDULERS, Role, Stage, Through, stage
from tests.chaos.workload import kinds_of

WARM = 3.0
QUIET = BOUND + 2
RECOVERS_WITHIN = 2 * BOUND
EACH_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to happen. One fault at a time, each after the last is over: so is seen how long it
    holds up anybody. More at once: a storm, in which nothing may be lost all the same."""

    seed: int
    length: float | None = None  # without one each fault comes once
    every_fault: bool = False  # also where that takes longer
    at_once: int = 1
    scale: int = 1
    kinds: Sequence[str] = tuple(FAULTS)
    roles: tuple[Role, ...] = (*SCHEDULERS, PLANNER, GRAPHS)
    mutant: str | None = None
    through: Through | None = None
    quiet: float = QUIET  # seconds at the end, after which nothing may be stuck


@dataclass(frozen=True, slots=True)
class Ran:
    plan: Plan
    history: History
    verdict: Verdict
    figures: dict[str, Any]
    troubles: list[str]  # what programs said on their way


async def run(plan: Plan) -> Ran:
    kinds = kinds_of(plan.scale)
    async with stage(plan.seed, kinds, plan.roles, plan.mutant, through=plan.through) as here:
        began = wall_time()
        await asyncio.sleep(WARM)
        steering = asyncio.create_task(_steer_forever(here, SeededChance(plan.seed)))
        if plan.length is None:
            await here.until_longest_ran()
        await harm(here, plan, None if plan.length is None else began + plan.length - plan.quiet)
        await asyncio.sleep(plan.quiet)
        await end_all([steering])
        ended_at = await here.database.fetchval("SELECT cadenza_now()")
        for member in here.members:
            member.send(signal.SIGTERM)
        ended = [await member.ended(30) for member in here.members]
        troubles = [trouble for member in here.members for trouble in member.troubles()]
        history = await here.history(began, ended_at)
    verdict = check(history)
    figures = {
        **verdict.figures,
        "recovery_after_kill_s": _after_kills(history),
        "recovery_after_database_s": _after_database(history),
        "stopped_in_time": all(ended),
        "graph_starts": len(history.graph_starts),
        "model_calls": len(history.model_calls),
        "charges": len(history.charges),
        "tracebacks": len(troubles),
        "stalled_s": sum(stall.late for stall in history.stalls),
    }
    return Ran(plan, history, verdict, figures, troubles)


async def harm(here: Stage, plan: "Plan", until: float | None) -> None:
    """Every kind before any again, until then, or once; in a storm in any order."""
    chance = SeededChance(plan.seed)
    order = list(plan.kinds)
    if plan.at_once > 1:
        order.sort(key=lambda kind: chance.between(0, 1, "order", kind))
    under_way: set[asyncio.Task[None]] = set()
    for number in count() if until is not None else range(len(order)):
        kind = order[number % len(order)]
        while under_way and (len(under_way) >= plan.at_once or kind in ALONE):
            await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            under_way = {task for task in under_way if not task.done()}
        owed = plan.every_fault and number < len(order)
        if until is not None and wall_time() >= until and not owed:
            break
        task = asyncio.create_task(inflict(here, kind, Draw(number, chance)))
        under_way.add(task)
        if kind in ALONE or plan.at_once == 1:
            await task
        if plan.at_once == 1:
            await here.until_all_ran(RECOVERS_WITHIN)
        await asyncio.sleep(chance.between(0.2, 1.5, "pause", number))
    await asyncio.gather(*under_way)


async def _steer_forever(here: Stage, chance: SeededChance) -> None:
    number = 0
    while True:
        number += 1
        await steer(here, Draw(number, chance))
        await asyncio.sleep(0.5)


def _after_kills(history: History) -> float:
    """Until another worker had taken over what a killed one held, at the longest."""
    longest = 0.0
    claimed = {run.id: run.claimed_at.timestamp() for run in history.runs}
    for fault in history.faults:
        if fault.kind != "kill":
            continue
        began = time_at(history.clock_steps, fault.began).timestamp()
        for lost in history.lost_attempts:
            noted = lost.noted_at.timestamp()
            if claimed.get(lost.run_id, noted) < began < noted < began + 2 * BOUND:
                longest = max(longest, noted - began)
    return longest


def _after_database(history: History) -> float:
    """From the moment the server was back until every endpoint of each second was heard of."""
    longest = 0.0
    for fault in history.faults:
        if fault.kind not in ALONE:
            continue
        for spec in history.plain:
            heard = (delivery.began for delivery in history.deliveries_of(spec.endpoint_id))
            after = min((began for began in heard if began > fault.ended), default=None)
            if after is not None and spec.every == EACH_SECOND:
                longest = max(longest, after - fault.ended)
    return longest
