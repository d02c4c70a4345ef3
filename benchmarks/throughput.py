"""How many full runs a second: 20,000 due endpoints, real HTTP, everything on."""

from datetime import timedelta
from statistics import median
from typing import Any

import uvloop

from benchmarks.bare import bare_runs_per_s
from benchmarks.machine import load_now
from benchmarks.stage import DUE, Stage, arguments, connected, measured, report, stage, workers
from benchmarks.turns import LATER, Turn, take_turn


async def main(*, quick: bool) -> dict[str, Any]:
    count = 2_000 if quick else 20_000
    began = load_now()
    async with stage() as here:
        await prepare(here, count, DUE)
        bare = await bare_runs_per_s(here, count)
        # With and without the guard in turn, and mean against mean: one run differs from the next
        # by as much as the guard costs.
        turns = [
            (guarded, await _with_workers(here, count, 1, guarded=guarded))
            for guarded in (True, False, True, False, True)
        ]
        with_guard = [turn for guarded, (turn, _) in turns if guarded]
        without = [turn for guarded, (turn, _) in turns if not guarded]
        best = max(turn.runs_per_s for turn in with_guard)
        two, two_twice = await _with_workers(here, count, 2)
        await prepare(here, count, DUE)
        bare = max(bare, await bare_runs_per_s(here, count))
    result = {
        "runs_per_s": round(best),
        "bare_runs_per_s": round(bare),
        "ratio": round(best / bare, 2),
        "worker_us": round(median(turn.worker_us for turn in with_guard)),
        "database_us": round(median(turn.database_us for turn in with_guard)),
        "duplicates": sum(twice for guarded, (_, twice) in turns if guarded) + two_twice,
        "lost": sum(turn.lost for turn in (*with_guard, two)),
        "two_workers_runs_per_s": round(two.runs_per_s),
        "guarded_mean": round(_mean(with_guard)),
        "unguarded_mean": round(_mean(without)),
        "guard_cost": round(1 - _mean(with_guard) / _mean(without), 2),
        "endpoints": count,
    }
    return measured(result, began)


def _mean(turns: list[Turn]) -> float:
    return sum(turn.runs_per_s for turn in turns) / len(turns)


async def prepare(here: Stage, count: int, first_at: str) -> None:
    await here.empty()
    await here.add_endpoints(count, interval=timedelta(days=1), first_at=first_at)


async def _with_workers(
    here: Stage, count: int, number: int, *, guarded: bool = True
) -> tuple[Turn, int]:
    """Start the workers on a quiet table, make everything due at once, and time the runs; with how
    many requests came twice. Processor time is that of the first worker."""
    await prepare(here, count, LATER)
    with workers(here.url, number, guarded=guarded) as started:
        await connected(here, number)
        turn = await take_turn(here, count, started[0].pid)
    return turn, here.target.duplicates


if __name__ == "__main__":
    options = arguments(__doc__ or "")
    report("throughput", uvloop.run(main(quick=options.quick)), as_json=options.json)
