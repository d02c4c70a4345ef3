"""A run with real programs: so many seconds of faults, a quiet end, and the verdict."""

import asyncio
import signal
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import time as wall_time  # noqa: TID251 - as its witnesses have it
from typing import Any

from cadenza.adapters.simulated.chance import SeededChance
from tests.chaos.checker import Verdict, check
from tests.chaos.faults import ALONE, FAULTS, Draw, inflict, steer
from tests.chaos.history import History
from tests.chaos.stage import BOUND, PLANNER, SCHEDULERS, Role, Stage, stage

WARM = 3.0
QUIET = BOUND + 2
AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Ran:
    history: History
    verdict: Verdict
    figures: dict[str, Any]


async def run(
    seed: int,
    length: float,
    *,
    scale: int = 1,
    kinds: Sequence[str] | None = None,
    roles: tuple[Role, ...] = (*SCHEDULERS, PLANNER),
    mutant: str | None = None,
) -> Ran:
    chance = SeededChance(seed)
    async with stage(seed, scale, roles, mutant) as here:
        began = wall_time()
        await asyncio.sleep(WARM)
        steering = asyncio.create_task(_steer_forever(here, chance))
        await _harm(here, chance, began + length - QUIET, kinds or list(FAULTS))
        await asyncio.sleep(QUIET)
        steering.cancel()
        await asyncio.gather(steering, return_exceptions=True)
        for member in here.members:
            member.send(signal.SIGTERM)
        ended = [await member.ended(30) for member in here.members]
        logs = [member.log.read_text() for member in here.members]
        history = await here.history(began)
    verdict = check(history)
    figures = {
        **verdict.figures,
        "recovery_after_kill_s": _after_kills(history),
        "recovery_after_database_s": _after_database(history),
        "stopped_in_time": all(ended),
        "tracebacks": sum(log.count("Traceback") for log in logs),
        "stalled_s": history.stalled,
    }
    return Ran(history, verdict, figures)


async def _harm(here: Stage, chance: SeededChance, until: float, kinds: Sequence[str]) -> None:
    """Faults after each other, two at once where they bear it; every kind before any again."""
    under_way: set[asyncio.Task[None]] = set()
    order = _order(chance, kinds)
    number = 0
    while wall_time() < until:
        kind = order[number % len(order)]
        if kind in ALONE and under_way:
            await asyncio.wait(under_way)
        while len(under_way) >= AT_ONCE:
            await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            under_way = {task for task in under_way if not task.done()}
        if wall_time() >= until:
            break
        task = asyncio.create_task(inflict(here, kind, Draw(number, chance)))
        under_way.add(task)
        if kind in ALONE:
            await task
        await asyncio.sleep(chance.between(0.2, 1.5, "pause", number))
        number += 1
    await asyncio.gather(*under_way)


def _order(chance: SeededChance, kinds: Sequence[str]) -> list[str]:
    return sorted(kinds, key=lambda kind: chance.between(0, 1, "order", kind))


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
        for lost in history.lost_attempts:
            noted = lost.noted_at.timestamp()
            if claimed.get(lost.run_id, noted) < fault.began < noted < fault.began + 2 * BOUND:
                longest = max(longest, noted - fault.began)
    return longest


def _after_database(history: History) -> float:
    """From the moment the server was back until every plain endpoint was heard of, beyond its
    interval."""
    longest = 0.0
    for fault in history.faults:
        if fault.kind not in ALONE:
            continue
        for spec in history.plain:
            heard = (delivery.began for delivery in history.deliveries_of(spec.endpoint_id))
            after = min((began for began in heard if began > fault.ended), default=None)
            if after is not None and spec.every is not None:
                longest = max(longest, after - fault.ended - spec.every.total_seconds())
    return longest


def counted(ran: Sequence[Ran]) -> Counter[str]:
    return sum((each.figures["faults"] for each in ran), Counter[str]())
