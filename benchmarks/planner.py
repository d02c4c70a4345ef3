"""The planner: how many endpoints a second it looks at, and what that costs a busy scheduler.

First a real `cadenza planner` goes through endpoints with two days of history each. Then a real
`cadenza scheduler` runs at a steady rate: alone, beside a planner, alone again.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import uvloop

from benchmarks.machine import load_now
from benchmarks.stage import Stage, arguments, connected, measured, report, stage, until, workers

OF_A_JOB = 5
RUNS_OF_EACH = 96  # two days of half hours; the brain is shown the last 48
HALF_HOUR = timedelta(minutes=30)
EVERY = timedelta(seconds=5)
WARM_UP, WATCHED = 4.0, 15.0


async def main(*, quick: bool) -> dict[str, Any]:
    count, rate = (500, 200) if quick else (5_000, 1_000)
    began = load_now()
    async with stage() as here:
        looks = await _looks(here, count)
        before = await _runs_per_s(here, rate, with_planners=0)
        beside = await _runs_per_s(here, rate, with_planners=1)
        after = await _runs_per_s(here, rate, with_planners=0)
    alone = (before["runs_per_s"] + after["runs_per_s"]) / 2
    result = {
        **looks,
        "wanted_runs_per_s": rate,
        "alone_runs_per_s": round(alone),
        "beside_runs_per_s": round(beside["runs_per_s"]),
        "slowed_by": round(1 - beside["runs_per_s"] / alone, 3),
        "alone_late_p50_ms": [before["late_p50_ms"], after["late_p50_ms"]],
        "beside_late_p50_ms": beside["late_p50_ms"],
        "beside_looks_per_s": round(beside["looks_per_s"]),
        "endpoints": count,
    }
    return measured(result, began)


@contextmanager
def planners(url: str, count: int) -> Generator[None]:
    """Real `cadenza planner` programs."""
    environment = {
        **os.environ,
        "CADENZA_DATABASE_URL": url,
        "CADENZA_MASTER_KEY": "0796834ae778ad5495ef50031f6730d038f9df25066e2c0cd9c65732b154a6d1",
    }
    command = [sys.executable, "-m", "cadenza.roots.main", "planner"]
    started = [
        subprocess.Popen(
            command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for program in started:
            program.send_signal(signal.SIGTERM)
        for program in started:
            program.wait(timeout=60)


# --- Looks ------------------------------------------------------------------------------------


async def _looks(here: Stage, count: int) -> dict[str, float]:
    """First of a planner that acts on every endpoint, then of one whose hints are in force."""
    await _fill(here, count, HALF_HOUR, "cadenza_now() + interval '1 hour'")
    await _live(here)
    with planners(here.url, 1):
        acting = await _all_looked_at(here, count)
        ours = load_now().ours
        await here.execute("UPDATE endpoints SET last_finished_at = cadenza_now()")
        await here.execute("SELECT pg_notify('cadenza_finished', '')")
        idle = await _all_looked_at(here, count)
        used = (load_now().ours - ours) / os.sysconf("SC_CLK_TCK")
        return {
            "looks_per_s": round(idle),
            "acting_looks_per_s": round(acting),
            # Of the planner and of PostgreSQL: what it is on a machine that others use too.
            "cpu_ms_per_look": round(1000 * used / count, 2),
        }


async def _all_looked_at(here: Stage, count: int) -> float:
    seen = (
        "SELECT count(*) FROM looks AS look JOIN endpoints AS e ON e.id = look.endpoint_id"
        " WHERE look.looked_at > e.last_finished_at"
    )

    async def done() -> bool:
        return await here.value(seen) >= count

    assert await until(done, within=180), "not every endpoint was looked at"
    # Between the first batch and the last one: starting the program is not looking.
    return await here.value(
        "SELECT count(*) FILTER (WHERE looked_at < newest) / extract(epoch FROM newest - oldest)"
        " FROM looks, (SELECT max(looked_at) AS newest, min(looked_at) AS oldest FROM looks) AS t"
        " GROUP BY newest, oldest"
    )


async def _fill(here: Stage, count: int, interval: timedelta, first_at: str) -> None:
    """Jobs of a few endpoints, as people have them."""
    await here.empty()
    await here.add_endpoints(
        count, interval=interval, first_at=first_at, tenants=max(1, count // OF_A_JOB)
    )


async def _live(here: Stage) -> None:
    """A history for each: half an hour apart, one failure in twenty, and a figure that moves."""
    await here.execute(
        "INSERT INTO runs (id, endpoint_id, tenant_id, slot_at, source, status, attempt, epoch,"
        " claimed_at, started_at, finished_at, status_code, body)"
        " SELECT gen_random_uuid(), e.id, e.tenant_id, at, 'baseline-interval',"
        " CASE WHEN hashtext(e.id::text || n) % 20 = 0 THEN 'failure' ELSE 'success' END, 1, 1,"
        " at, at, at + interval '80 ms', 200,"
        " json_build_object('queue_depth', 100 + abs(hashtext(n || e.id::text)) % 40,"
        " 'status', 'ok', 'items', ARRAY[1, 2, 3])"
        " FROM endpoints AS e, generate_series(1, $1::int) AS n,"
        " LATERAL (SELECT cadenza_now() - n * interval '30 min' AS at) AS slot",
        RUNS_OF_EACH,
    )
    await here.execute(
        "UPDATE endpoints SET last_finished_at = cadenza_now() - interval '1 min',"
        " created_at = cadenza_now() - interval '3 days'"
    )
    await here.execute("VACUUM ANALYZE runs, endpoints")


# --- Beside a scheduler -----------------------------------------------------------------------


async def _runs_per_s(here: Stage, rate: int, *, with_planners: int) -> dict[str, Any]:
    count = rate * int(EVERY.total_seconds())
    await _fill(here, count, EVERY, f"cadenza_now() + interval '8 s' + n * interval '{1 / rate} s'")
    with workers(here.url, 1), planners(here.url, with_planners):
        await connected(here, 1 + with_planners)
        await asyncio.sleep(8 + WARM_UP)
        since = await here.value("SELECT cadenza_now()")
        await asyncio.sleep(WATCHED)
        ended = await here.json(
            "SELECT json_build_object('runs', count(*), 'late', percentile_cont(0.5) WITHIN GROUP"
            " (ORDER BY extract(epoch FROM started_at - slot_at) * 1000))::text"
            " FROM runs WHERE finished_at > $1 AND finished_at <= $1 + $2::interval",
            since,
            timedelta(seconds=WATCHED),
        )
        looks = await here.value("SELECT count(*) FROM looks WHERE looked_at > $1", since)
    late = round(ended["late"] or 0, 1)
    rate_seen = ended["runs"] / WATCHED
    return {"runs_per_s": rate_seen, "late_p50_ms": late, "looks_per_s": looks / WATCHED}


if __name__ == "__main__":
    options = arguments(__doc__ or "")
    report("planner", uvloop.run(main(quick=options.quick)), as_json=options.json)
