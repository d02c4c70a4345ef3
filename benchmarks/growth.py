"""What growth costs: a claim, and a worker's memory, at 1,000, 100,000 and 1,000,000 endpoints."""

from datetime import timedelta
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import uvloop

from benchmarks.bare import bare_runs_per_s
from benchmarks.machine import load_now
from benchmarks.stage import (
    BOX,
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
from cadenza.adapters.postgres.claims import PostgresClaims
from cadenza.adapters.system.ids import new_id
from cadenza.application.ports.claims import ClaimRequest

CLAIMS = 60
PER_CLAIM = 50


async def main(*, quick: bool) -> dict[str, Any]:
    sizes = (1_000, 20_000) if quick else (1_000, 100_000, 1_000_000)
    began = load_now()
    claim_ms: dict[int, float] = {}
    memory_mb: dict[int, float] = {}
    async with stage() as here:
        await here.empty()
        await here.add_endpoints(5_000, interval=timedelta(days=1), first_at=DUE)
        bare = await bare_runs_per_s(here, 5_000)
        for size in sizes:
            await _fill(here, size)
            claim_ms[size] = await _claim_ms(here, size)
            memory_mb[size], runs_per_s = await _worker_memory(here, size)
        checked = await lost_and_duplicates(here)
    result = {
        "runs_per_s": round(runs_per_s),
        "bare_runs_per_s": round(bare),
        "ratio": round(runs_per_s / bare, 2),
        **checked,
        "claim_p50_ms": {size: round(took, 2) for size, took in claim_ms.items()},
        "claim_growth": round(max(claim_ms.values()) / claim_ms[sizes[0]], 2),
        "worker_memory_mb": {size: round(used) for size, used in memory_mb.items()},
    }
    return measured(result, began)


async def _fill(here: Stage, size: int) -> None:
    """Endpoints whose next runs lie evenly over a day that begins in an hour."""
    await here.empty()
    gap = 86_400 / size
    first_at = f"cadenza_now() + interval '1 hour' + n * interval '{gap} seconds'"
    await here.add_endpoints(size, interval=timedelta(days=1), first_at=first_at)


async def _claim_ms(here: Stage, size: int) -> float:
    """The median of claims that each find fifty due endpoints."""
    claims = PostgresClaims(here.database, new_id, BOX)
    request = ClaimRequest("growth", 200, timedelta(seconds=30), per_tenant=10**6, per_host=10**6)
    took: list[float] = []
    for number in range(CLAIMS):
        await _make_due(here, size, number)
        began = perf_counter()
        batch = await claims.claim_due(request)
        took.append((perf_counter() - began) * 1000)
        assert len(batch.claims) == PER_CLAIM
        await here.execute(
            "UPDATE endpoints SET next_run_at = cadenza_now() + interval '1 day',"
            " lease_until = NULL, running_run_id = NULL, running_slot_at = NULL,"
            " running_attempt = NULL, running_claimed_at = NULL"
            " WHERE next_run_at <= cadenza_now()"
        )
        await here.execute("TRUNCATE runs")
    return median(took)


async def _make_due(here: Stage, size: int, number: int) -> None:
    step = max(1, size // PER_CLAIM)
    await here.execute(
        f"UPDATE endpoints SET next_run_at = {DUE}"
        " WHERE id IN (SELECT md5('e' || (n * $1::int + $2::int))::uuid"
        " FROM generate_series(0, $3::int - 1) AS n)",
        step,
        number % step,
        PER_CLAIM,
    )


async def _worker_memory(here: Stage, size: int) -> tuple[float, float]:
    """A worker's memory, in MB, after it has run a thousand of them; and its runs a second."""
    due = min(size, 1_000)
    with workers(here.url, 1) as (worker,):
        await connected(here, 1)
        await here.execute(
            f"UPDATE endpoints SET next_run_at = {DUE} WHERE id IN"
            " (SELECT md5('e' || n)::uuid FROM generate_series(0, $1::int - 1) AS n)",
            due,
        )
        await here.execute("SELECT pg_notify('cadenza_due', '')")
        await here.finished(due, within=60)
        resident_mb = _resident_mb(worker.pid)
    seconds = await here.value(
        "SELECT extract(epoch FROM max(finished_at) - min(claimed_at))::float FROM runs"
    )
    return resident_mb, due / seconds


def _resident_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    resident = next(line for line in lines if line.startswith("VmRSS"))
    return int(resident.split()[1]) / 1024


if __name__ == "__main__":
    options = arguments(__doc__ or "")
    report("growth", uvloop.run(main(quick=options.quick)), as_json=options.json)
