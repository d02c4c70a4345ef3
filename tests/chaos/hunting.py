"""Hunting mutants: lives, or a short run of real programs, until the checker has seen something."""

import asyncio
from collections import Counter

from tests.chaos.checker import check
from tests.chaos.life import drawn
from tests.chaos.mutants import IN_PROGRAMS, IN_SIMULATION, MUTANTS, installed
from tests.chaos.real import Plan, run
from tests.chaos.simulation import live
from tests.chaos.stage import BOUND, SCHEDULERS

MOST_LIVES = 60


def caught_in_simulation(name: str) -> Counter[str]:
    """The kinds of violation in the first life that has any."""
    with installed(name):
        for seed in range(1, MOST_LIVES + 1):
            history, _ = live(drawn(seed))
            if violations := check(history).violations:
                return Counter(violation.name for violation in violations)
    return Counter()


async def caught_in_programs(name: str) -> Counter[str]:
    mutant = MUTANTS[name]
    assert mutant.fault is not None
    plan = Plan(1, mutant.seconds, kinds=[mutant.fault], roles=SCHEDULERS[:2], mutant=name, quiet=3)
    ran = await run(plan)
    kinds = Counter(violation.name for violation in ran.verdict.violations)
    if ran.figures["longest_standstill_s"] > BOUND + ran.figures["stalled_s"]:
        kinds["standstill"] += 1
    return kinds


def hunt() -> dict[str, Counter[str]]:
    """Every mutant, and what it was caught by."""
    caught = {name: caught_in_simulation(name) for name in IN_SIMULATION}
    caught |= {name: asyncio.run(caught_in_programs(name)) for name in IN_PROGRAMS}
    return caught
