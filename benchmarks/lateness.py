"""How late a run starts: 500 runs a second, steady, over 5,000 interval endpoints."""

import asyncio
from datetime import timedelta
from typing import Any

import uvloop

from benchmarks.bare import bare_runs_per_s
from benchmarks.machine import load_now
from benchmarks.stage import (
    DUE,
    Stage,
    arguments,
    connected,
    lost_and_duplicates,
    measured,
    report,
    stage,
    workers,
)

ENDPOINTS = 5_000
INTERVAL = timedelta(seconds=10)
WARM_UP = 5
LATENESS = """
SELECT json_build_object(
    'runs', count(*),
    'p50_ms', percentile_cont(0.5) WITHIN GROUP (ORDER BY late),
    'p99_ms', percentile_cont(0.99) WITHIN GROUP (ORDER BY late),
    'max_ms', max(late),
    'early', count(*) FILTER (WHERE late < 0),
    'claims', count(DISTINCT claimed_at),
    'finishes', count(DISTINCT finished_at)
)::text
FROM (
    SELECT claimed_at, finished_at, extract(epoch FROM started_at - slot_at) * 1000 AS late
    FROM runs
    WHERE slot_at BETWEEN $1::timestamptz AND $2::timestamptz
) AS started
"""


async def main(*, quick: bool) -> dict[str, Any]:
    seconds = 5 if quick else 30
    began = load_now()
    async with stage() as here:
        await here.empty()
        await here.add_endpoints(ENDPOINTS, interval=timedelta(days=1), first_at=DUE)
        bare = await bare_runs_per_s(here, ENDPOINTS)
        steady = await _steady(here, seconds)
    result = {
        "runs_per_s": round(steady["runs"] / seconds),
        "bare_runs_per_s": round(bare),
        "ratio": round(steady["runs"] / seconds / bare, 2),
        "duplicates": steady["duplicates"],
        "lost": steady["lost"],
        **{key: round(steady[key], 2) for key in ("p50_ms", "p99_ms", "max_ms")},
        "early": steady["early"],
        "claims_per_s": round(steady["claims"] / seconds),
        "finishes_per_s": round(steady["finishes"] / seconds),
    }
    return measured(result, began)


async def _steady(here: Stage, seconds: int) -> dict[str, Any]:
    await here.empty()
    spread = INTERVAL.total_seconds() / ENDPOINTS
    first_at = f"cadenza_now() + interval '8 seconds' + n * interval '{spread} seconds'"
    await here.add_endpoints(ENDPOINTS, interval=INTERVAL, first_at=first_at)
    with workers(here.url, 1):
        await connected(here, 1)
        begins = await here.value("SELECT min(next_run_at) FROM endpoints")
        begins += timedelta(seconds=WARM_UP)
        ends = begins + timedelta(seconds=seconds)
        now = await here.value("SELECT cadenza_now()")
        await asyncio.sleep((ends - now).total_seconds() + 2)
    late = await here.json(LATENESS, begins, ends)
    return {**late, **await lost_and_duplicates(here)}


if __name__ == "__main__":
    options = arguments(__doc__ or "")
    report("lateness", uvloop.run(main(quick=options.quick)), as_json=options.json)
