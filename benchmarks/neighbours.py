"""One tenant does everything at once that could stop others: how late are their runs, how slow
their reads? Beside the same without it."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from time import perf_counter
from typing import Any

import aiohttp
import uvloop

from benchmarks.history import TENANTS, add_keys
from benchmarks.machine import load_now
from benchmarks.served import add_run_ids, read_path, serving
from benchmarks.stage import Stage, arguments, connected, measured, report, stage, workers

ENDPOINTS = 300
INTERVAL = timedelta(seconds=3)  # 100 runs a second
BETWEEN_READS = 0.05
WARM_UP = 8
ROOM = {"IN_FLIGHT": 200, "IN_FLIGHT_PER_TENANT": 100, "IN_FLIGHT_PER_HOST": 20}  # the defaults
LATENESS = """
SELECT json_build_object(
    'runs', count(*),
    'p50_ms', percentile_cont(0.5) WITHIN GROUP (ORDER BY late),
    'p99_ms', percentile_cont(0.99) WITHIN GROUP (ORDER BY late),
    'max_ms', max(late)
)::text
FROM (
    SELECT extract(epoch FROM started_at - slot_at) * 1000 AS late
    FROM runs
    WHERE slot_at BETWEEN $1::timestamptz AND $2::timestamptz AND tenant_id <> $3
) AS started
"""


async def main(*, quick: bool) -> dict[str, Any]:
    seconds, began = (8 if quick else 30), load_now()
    async with stage() as here:
        await here.empty()
        spread = INTERVAL.total_seconds() / ENDPOINTS
        first_at = f"cadenza_now() + interval '12 seconds' + n * interval '{spread} seconds'"
        await here.add_endpoints(ENDPOINTS, interval=INTERVAL, first_at=first_at, tenants=TENANTS)
        tenants = await add_keys(here)
        bad, good = tenants[-1], tenants[:10]
        async with serving(here) as (client, port, _):
            with workers(here.url, 1, **ROOM), workers(here.url, 1, kind="planner"):
                await connected(here, 3)  # scheduler, planner, and the API's streams
                assert await here.finished(500, within=60)
                await add_run_ids(here, good)
                quiet = await _measured(here, client, good, bad, seconds)
                token = bad["headers"]["Authorization"].removeprefix("Bearer ")
                async with _nuisance(port, token, seconds + WARM_UP + 5):
                    await asyncio.sleep(WARM_UP)
                    beside = await _measured(here, client, good, bad, seconds)
    fine = beside["late_p99_ms"] < 250 and beside["read_p99_ms"] < 500 and not beside["errors"]
    return measured({"quiet": quiet, "beside_nuisance": beside, "within_bounds": fine}, began)


async def _measured(
    here: Stage,
    client: aiohttp.ClientSession,
    tenants: list[dict[str, Any]],
    bad: dict[str, Any],
    seconds: float,
) -> dict[str, Any]:
    begins: datetime = await here.value("SELECT cadenza_now()")
    reads = await _reads(client, tenants, seconds)
    ends = await here.value("SELECT cadenza_now() - interval '1 second'")
    late = await here.json(LATENESS, begins, ends, bad["id"])
    told = {f"late_{key}": round(late[key], 1) for key in ("p50_ms", "p99_ms", "max_ms")}
    return {"runs": late["runs"], **told, **reads}


async def _reads(
    client: aiohttp.ClientSession, tenants: list[dict[str, Any]], seconds: float
) -> dict[str, Any]:
    """One after the other, of every kind; each third asks for the health."""
    took, health, errors = list[float](), list[float](), 0
    ends = perf_counter() + seconds
    number = 0
    while perf_counter() < ends:
        number += 1
        tenant = tenants[number % len(tenants)]
        path = "/healthz" if number % 3 == 0 else f"/api/v1{read_path(tenant, number)}"
        began = perf_counter()
        try:
            async with client.get(path, headers=tenant["headers"]) as answer:
                await answer.read()
                errors += answer.status != 200
        except aiohttp.ClientError:
            errors += 1
        (health if path == "/healthz" else took).append((perf_counter() - began) * 1000)
        await asyncio.sleep(BETWEEN_READS)
    return {
        "reads": len(took) + len(health),
        "read_p50_ms": _at(took, 50),
        "read_p99_ms": _at(took, 99),
        "read_max_ms": round(max(took), 1),
        "healthz_max_ms": round(max(health), 1),
        "errors": errors,
    }


def _at(took: list[float], percent: int) -> float:
    return round(sorted(took)[len(took) * percent // 100], 1)


@asynccontextmanager
async def _nuisance(port: int, token: str, seconds: float) -> AsyncGenerator[None]:
    command = [sys.executable, "-m", "benchmarks.nuisance", str(port), token, str(seconds)]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"begun\n", "the nuisance did not begin"
        yield
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


if __name__ == "__main__":
    options = arguments(__doc__ or "")
    report("neighbours", uvloop.run(main(quick=options.quick)), as_json=options.json)
