"""How many functions a second in one program, beside one worker of HTTP targets: all due at once.

The program is as a user has it, with its planner in the same process; the worker of HTTP targets is
`cadenza scheduler` with its guard, and what it calls answers from a process of its own. Both take
turns, first the one and then the other, and the medians are compared.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from statistics import median
from typing import Any

import uvloop

from benchmarks.machine import load_now
from benchmarks.stage import Stage, arguments, connected, measured, report, stage, workers
from benchmarks.turns import LATER, Turn, take_turn

# Long enough that the planner beside the functions has its looks: it is part of the program.
RUNS_A_TURN = 10_000
TURNS = ("http", "function", "function", "http") * 3
FUNCTION = """UPDATE endpoints SET host = 'function:bench:noop', runs_on = 'program:bench',
    target = '{"kind": "function", "function": "bench:noop", "timeout_ms": 600000}'"""


async def main(*, quick: bool) -> dict[str, Any]:
    count = 2_000 if quick else RUNS_A_TURN
    began = load_now()
    async with stage() as here:
        turns = [(kind, await _turn(here, count, kind)) for kind in TURNS[: 4 if quick else None]]
    functions = [turn for kind, turn in turns if kind == "function"]
    calls = [turn for kind, turn in turns if kind == "http"]
    result = {
        **_compared("runs_per_s", functions, calls, lambda turn: turn.runs_per_s),
        **_compared("worker_us", functions, calls, lambda turn: turn.worker_us),
        **_compared("database_us", functions, calls, lambda turn: turn.database_us),
        "lost": sum(turn.lost for _, turn in turns),
        "doubled": sum(turn.doubled for _, turn in turns),
        "repeated": sum(turn.repeated for _, turn in turns),
        "turns": [round(turn.runs_per_s) for _, turn in turns],
        "functions": count * len(functions),
    }
    return measured(result, began)


def _compared(
    name: str, functions: Sequence[Turn], calls: Sequence[Turn], value: Callable[[Turn], float]
) -> dict[str, float]:
    ours, theirs = (median(map(value, turns)) for turns in (functions, calls))
    ratio = "ratio" if name == "runs_per_s" else f"{name}_ratio"
    return {name: round(ours), f"http_{name}": round(theirs), ratio: round(ours / theirs, 2)}


async def _turn(here: Stage, count: int, kind: str) -> Turn:
    """Start the program on a quiet table, then make everything due at once."""
    await here.empty()
    with _program(here.url, kind) as (program,):
        await connected(here, 1)
        await here.execute("TRUNCATE tenants CASCADE")
        await here.add_endpoints(count, interval=timedelta(days=1), first_at=LATER)
        if kind == "function":
            await here.execute(FUNCTION)
            await here.execute("VACUUM ANALYZE endpoints")
        return await take_turn(here, count, program.pid)


def _program(url: str, kind: str) -> AbstractContextManager[Any]:
    if kind == "http":
        return workers(url, 1)
    return workers(url, 1, module="benchmarks.noop_program")


if __name__ == "__main__":
    options = arguments(__doc__ or "")
    report("functions", uvloop.run(main(quick=options.quick)), as_json=options.json)
