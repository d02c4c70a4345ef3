"""Hunting mutants: lives, or a short run of real programs, until the checker has seen something."""

import asyncio
from collections import Counter

from tests.chaos.checker import check
from tests.chaos.life import drawn
from tests.chaos.mutants import IN_PROGRAMS, IN_SIMULATION, MUTANTS, STANDSTILL, installed
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
    """What it was to be seen as, after each fault that brings it out has struck once."""
    mutant = MUTANTS[name]
    assert mutant.faults is not None
    plan = Plan(1, kinds=mutant.faults, roles=SCHEDULERS[:2], mutant=name, quiet=3)
    ran = await run(plan)
    kinds = Counter(violation.name for violation in ran.verdict.violations)
    if ran.figures["longest_standstill_s"] > BOUND:
        kinds[STANDSTILL] += 1
    return Counter({kind: kinds[kind] for kind in mutant.seen_as if kinds[kind]})


def hunt() -> dict[str, Counter[str]]:
    """Every mutant, and what it was caught by."""
    caught = {name: caught_in_simulation(name) for name in IN_SIMULATION}
    caught |= {name: asyncio.run(caught_in_programs(name)) for name in IN_PROGRAMS}
    return caught
