"""`python -m tests.chaos.soak`: hours of load with faults, in which nothing grows.

Memory and descriptors of each program, connections, and what the tables take beyond their rows are
looked at every few seconds; the last quarter of the time is compared with the second. Programs are
not killed here: a program that is new each minute cannot leak.
"""

import asyncio
import json
import sys
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from time import time as wall_time  # noqa: TID251 - as its witnesses have it
from typing import Any

from cadenza.domain.errors import CadenzaError
from tests.chaos.history import STOP
from tests.chaos.real import Plan, harm
from tests.chaos.stage import PLANNER, SCHEDULERS, Member, Stage, stage
from tests.chaos.workload import Kind

KINDS = (
    *("stall", "lose_commit", "cut", "swallow_commit", "drop", "lose_claim", "swallow_all"),
    *("restart_database", "crash_in_commit", "exhaust_connections", STOP),
)
LEFT_OUT = 0.25  # of the time, in which caches fill
MOST_GROWTH, SLACK = 0.2, 5.0  # from the second quarter to the last; and what is nothing
MEGABYTE = 1 << 20
TABLES = """
    SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')
               AS connections,
           pg_total_relation_size('endpoints') AS endpoints_bytes,
           (SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class AS c
             WHERE c.relname LIKE 'runs%' AND c.relkind = 'r')
               / greatest(1, (SELECT count(*) FROM runs)) AS bytes_a_run
"""
RESULT = """
    SELECT count(*) AS runs, count(*) FILTER (WHERE status <> 'success') AS failed,
           coalesce(sum(skipped_slots), 0) AS declared,
           count(*) FILTER (WHERE status = 'running') AS running,
           count(*) FILTER (WHERE started_at < slot_at) AS early,
           percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP
               (ORDER BY extract(epoch FROM started_at - slot_at)) AS late
    FROM runs
"""


def kinds_of(rate: int) -> list[Kind]:
    """So many runs a second, by a third each second and the others each second one."""
    return [Kind("quick", "quick/0.01", 1, rate // 3), Kind("slow", "slow/0.2", 2, rate * 4 // 3)]


def _of_process(member: Member) -> tuple[float, int]:
    """Megabytes, and open descriptors."""
    assert member.process is not None
    proc = Path(f"/proc/{member.process.pid}")
    lines = (proc / "status").read_text().splitlines()
    rss = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    return rss / 1024, len(list((proc / "fd").iterdir()))


async def look(here: Stage) -> dict[str, float]:
    seen: dict[str, float] = {}
    for number, member in enumerate(here.members):
        memory, descriptors = _of_process(member)
        seen[f"{member.role.kind} {number} memory_mb"] = memory
        seen[f"{member.role.kind} {number} descriptors"] = descriptors
    row = await here.database.fetchrow(TABLES)
    assert row is not None
    seen |= {name: float(value) for name, value in row.items()}
    seen["endpoints_mb"] = seen.pop("endpoints_bytes") / MEGABYTE
    return seen


async def soak(seed: int, length: float, rate: int, every: float) -> dict[str, Any]:
    samples: list[dict[str, float]] = []
    roles = (*SCHEDULERS[:2], PLANNER)
    async with stage(seed, kinds_of(rate), roles, witnessed=False) as here:
        ends = wall_time() + length
        harming = asyncio.create_task(harm(here, Plan(seed, length, kinds=KINDS), ends - 20))
        while wall_time() < ends:
            await asyncio.sleep(every)
            try:
                samples.append(await look(here))
            except (CadenzaError, OSError):
                continue  # while a fault lasts
        await harming
        row = await here.database.fetchrow(RESULT)
        assert row is not None
        faults = Counter(fault.kind for fault in here.faults)
    return _result(samples, dict(row), faults, length)


def _result(
    samples: list[dict[str, float]], runs: dict[str, Any], faults: Counter[str], length: float
) -> dict[str, Any]:
    growth: dict[str, Any] = {}
    for name in samples[0]:
        early, late = _quarter(samples, name, 1), _quarter(samples, name, 3)
        growth[name] = {
            "from": round(early, 1),
            "to": round(late, 1),
            "growth": round(late / early - 1, 3) if early else 0.0,
        }
    half, most = runs.pop("late")
    runs = {name: int(value) for name, value in runs.items()}
    figures: dict[str, Any] = {"seconds": length, "runs_a_second": round(runs["runs"] / length, 1)}
    figures |= runs | {"late_p50_s": round(half, 4), "late_p99_s": round(most, 3)}
    figures["faults"] = dict(faults)
    figures["grew"] = growth
    figures["flat"] = all(
        each["growth"] <= MOST_GROWTH or each["to"] - each["from"] <= SLACK
        for each in growth.values()
    )
    return figures


def _quarter(samples: list[dict[str, float]], name: str, number: int) -> float:
    size = max(1, len(samples) // 4)
    values = sorted(sample[name] for sample in samples[number * size : (number + 1) * size])
    return values[len(values) // 2] if values else 0.0


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.chaos.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--rate", type=int, default=300, help="runs a second")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    every = max(1.0, asked.seconds / 200)
    figures = asyncio.run(soak(asked.seed, asked.seconds, asked.rate, every))
    if asked.json:
        print(json.dumps(figures))
    else:
        grew = figures.pop("grew")
        for name, value in {**figures, **grew}.items():
            print(f"  {name:32} {value}")
    return 0 if figures["flat"] and figures["early"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
