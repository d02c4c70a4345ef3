"""`python -m tests.chaos`: faults of every kind, and a verdict over three witnesses.

A fixed seed with one fault at a time, a random one with a storm of them; lives in simulation; and
every mutant of our own code. Exits 1 where a promise was broken.
"""

import asyncio
import json
import secrets
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any

from tests.chaos.hunting import hunt
from tests.chaos.lives import Lived, live_many, trace
from tests.chaos.real import Plan, Ran, run
from tests.chaos.report import is_well, programs_figures, simulation_figures, table

FIXED = 20_251_029


def main() -> int:
    asked = _arguments()
    if asked.life is not None:
        wrong = trace(asked.life)
        print(wrong or f"seed {asked.life}: nothing goes wrong")
        return 1 if wrong else 0
    seed = asked.seed if asked.seed is not None else secrets.randbelow(10**9)
    began = monotonic()
    figures: dict[str, Any] = {"seeds": [FIXED, seed], "command": " ".join(sys.argv[1:])}
    with ThreadPoolExecutor(1) as beside:
        lives = beside.submit(live_many, seed, asked.slots, asked.simulation_seconds)
        if asked.seconds:
            ran = [asyncio.run(run(plan)) for plan in _plans(asked, seed)]
            figures["programs"] = programs_figures(ran)
            figures["fenced_writes"] = figures["programs"]["fenced_writes"]
            _tell_programs(ran)
        if asked.mutants:
            figures["mutants"] = _mutants(hunt())
        lived = lives.result()
    figures["simulation"] = simulation_figures(lived)
    _tell_lives(lived)
    figures["took_s"] = round(monotonic() - began, 1)
    print(json.dumps(figures) if asked.json else table(figures))
    return 0 if is_well(figures) else 1


def _arguments() -> Namespace:
    parser = ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120, help="of real programs, both seeds")
    parser.add_argument(
        "--every-fault", action="store_true", help="each kind for both seeds, if it takes longer"
    )
    parser.add_argument("--seed", type=int, help="the second seed; a random one by default")
    parser.add_argument("--slots", type=int, default=1_000_000, help="due in simulation")
    parser.add_argument("--simulation-seconds", type=float, default=600, help="at most")
    parser.add_argument("--mutants", action="store_true", help="hunt the mutants, too")
    parser.add_argument("--life", type=int, help="live one seed again, and tell what went wrong")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


def _plans(asked: Namespace, seed: int) -> list[Plan]:
    length, every_fault = asked.seconds / 2, asked.every_fault
    return [
        Plan(FIXED, length, every_fault=every_fault),
        Plan(seed, length, every_fault=every_fault, at_once=2),
    ]


def _mutants(caught: dict[str, Counter[str]]) -> dict[str, Any]:
    killed = sum(bool(kinds) for kinds in caught.values())
    by = {name: dict(kinds) for name, kinds in caught.items()}
    return {"killed": killed, "of": len(caught), "by": by}


def _tell_lives(lived: Lived) -> None:
    for seed in lived.bad_seeds[:3]:
        print(trace(seed), file=sys.stderr)


def _tell_programs(ran: list[Ran]) -> None:
    for each in ran:
        for violation in each.verdict.violations[:10]:
            print(f"seed {each.plan.seed}: {violation}", file=sys.stderr)
        for trouble in each.troubles[:3]:
            print(trouble, file=sys.stderr)
        if each.verdict.violations:
            again = f"--seed {each.plan.seed} --seconds {each.plan.length * 2} --slots 0"
            print(f"python -m tests.chaos {again}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
