"""What the fast path of reads gains: the same reads with it and without it, in turn."""

import asyncio
from dataclasses import dataclass, field
from itertools import count
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.machine import cpu_seconds
from benchmarks.reader import Reader
from benchmarks.served import WARM_UP_SECONDS, add_run_ids, read_path, serving
from benchmarks.stage import Stage

ROUNDS, ROUND_SECONDS = 20, 1
AT_ONCE = 16


@dataclass(slots=True)
class MeasuredPath:
    """One of the two programs, what it did in each round, and what it used of the processor."""

    pid: int
    reader: Reader = field(default_factory=Reader)
    reads_per_s: list[float] = field(default_factory=list[float])
    reads: int = 0
    cpu_seconds: float = 0.0

    async def read(self, tenants: list[dict[str, Any]]) -> None:
        began, cpu_began = perf_counter(), cpu_seconds(self.pid)
        reads = await _read_all_out(self.reader, tenants, ROUND_SECONDS)
        self.reads_per_s.append(reads / (perf_counter() - began))
        self.reads += reads
        self.cpu_seconds += cpu_seconds(self.pid) - cpu_began


async def compare_paths(here: Stage, tenants: list[dict[str, Any]]) -> dict[str, Any]:
    """As many reads as go, of both programs in turn, so that a busy machine is as busy for both."""
    await add_run_ids(here, tenants)
    async with (
        serving(here) as (_, fast_port, fast_pid),
        serving(here, "benchmarks.usual_path") as (_, usual_port, usual_pid),
    ):
        fast, usual = MeasuredPath(fast_pid), MeasuredPath(usual_pid)
        for path, port in ((fast, fast_port), (usual, usual_port)):
            await path.reader.open("127.0.0.1", port)
            await _read_all_out(path.reader, tenants, WARM_UP_SECONDS)
        for _ in range(ROUNDS):
            await fast.read(tenants)
            await usual.read(tenants)
    ratios = [a / b for a, b in zip(fast.reads_per_s, usual.reads_per_s, strict=True)]
    per_cpu_second = [path.reads / path.cpu_seconds for path in (fast, usual)]
    return {
        "fast_reads_per_s": round(median(fast.reads_per_s)),
        "usual_reads_per_s": round(median(usual.reads_per_s)),
        "ratio": round(median(ratios), 2),
        "fast_reads_per_cpu_s": round(per_cpu_second[0]),
        "usual_reads_per_cpu_s": round(per_cpu_second[1]),
        "ratio_per_cpu_s": round(per_cpu_second[0] / per_cpu_second[1], 2),
    }


async def _read_all_out(reader: Reader, tenants: list[dict[str, Any]], seconds: float) -> int:
    """How many reads, with each answer followed by the next request."""
    ends = perf_counter() + seconds
    numbers = count()

    async def ask() -> None:
        while perf_counter() < ends:
            number = next(numbers)
            tenant = tenants[number * 7 % len(tenants)]
            path = f"/api/v1{read_path(tenant, number)}"
            status = await reader.get(path, tenant["headers"])
            assert status == 200, f"{status} {path}"

    async with asyncio.TaskGroup() as asking:
        for _ in range(AT_ONCE):
            asking.create_task(ask())
    return next(numbers)
