"""How many functions a second in one program, beside one worker of HTTP targets: all due at once.

The program is as a user has it, with its planner in the same process; turns alternate.
"""

from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import uvloop

from benchmarks.machine import load_now
from benchmarks.stage import DUE, Stage, arguments, connected, measured, report, stage, workers

LATER = "cadenza_now() + interval '1 hour'"
FUNCTION = """UPDATE endpoints SET host = 'function:bench:noop', runs_on = 'program:bench',
    target = '{"kind": "function", "function": "bench:noop", "timeout_ms": 600000}'"""
SPEED = """SELECT json_build_object(
    'seconds', extract(epoch FROM max(finished_at) - min(claimed_at)),
    'ok', count(*) FILTER (WHERE status = 'success'),
    'doubled', count(*) - count(DISTINCT (endpoint_id, slot_at)),
    'repeated', count(*) FILTER (WHERE attempt > 1))::text FROM runs"""


async def main(*, quick: bool) -> dict[str, Any]:
    count = 2_000 if quick else 20_000
    began = load_now()
    async with stage() as here:
        turns = [(kind, await _turn(here, count, kind)) for kind in ("http", "function") * 3]
    functions = [turn for kind, turn in turns if kind == "function"]
    calls = [turn for kind, turn in turns if kind == "http"]
    best, best_http = (max(turn["runs_per_s"] for turn in group) for group in (functions, calls))
    result = {
        "runs_per_s": round(best),
        "http_runs_per_s": round(best_http),
        "ratio": round(best / best_http, 2),
        "ratio_of_means": round(_mean(functions) / _mean(calls), 2),
        "lost": sum(turn["lost"] for turn in functions),
        "doubled": sum(turn["doubled"] for turn in functions),
        "repeated": sum(turn["repeated"] for turn in functions),
        "functions": count,
    }
    return measured(result, began)


def _mean(turns: list[dict[str, Any]]) -> float:
    return sum(turn["runs_per_s"] for turn in turns) / len(turns)


async def _turn(here: Stage, count: int, kind: str) -> dict[str, Any]:
    """Start the program on a quiet table, make everything due at once, and time the runs."""
    await here.empty()
    with _program(here.url, kind):
        await connected(here, 1)
        await here.execute("TRUNCATE tenants CASCADE")
        await here.add_endpoints(count, interval=timedelta(days=1), first_at=LATER)
        if kind == "function":
            await here.execute(FUNCTION)
        await here.execute(f"UPDATE endpoints SET next_run_at = {DUE}")
        await here.execute("VACUUM ANALYZE endpoints")
        await here.execute("SELECT pg_notify('cadenza_due', '')")
        await here.finished(count, within=180)
    ended = await here.json(SPEED)
    return {
        "runs_per_s": ended["ok"] / ended["seconds"],
        "lost": count - ended["ok"],
        "doubled": ended["doubled"],
        "repeated": ended["repeated"],
    }


def _program(url: str, kind: str) -> AbstractContextManager[Any]:
    if kind == "http":
        return workers(url, 1)
    return workers(url, 1, module="benchmarks.noop_program")


if __name__ == "__main__":
    options = arguments(__doc__ or "")
    report("functions", uvloop.run(main(quick=options.quick)), as_json=options.json)
