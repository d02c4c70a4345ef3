"""What reading costs: lists of runs among millions, and many readers beside a busy worker."""

import asyncio
from datetime import timedelta
from itertools import cycle
from statistics import median
from time import perf_counter
from typing import Any
from urllib.parse import urlencode

import aiohttp
import uvloop

from benchmarks.history import TENANTS, add_history, add_keys
from benchmarks.machine import load_now
from benchmarks.read_paths import compare_paths
from benchmarks.reader import Reader
from benchmarks.served import WARM_UP_SECONDS, add_run_ids, read_path, serving
from benchmarks.stage import Stage, measured, parser_of, report, stage, workers

ENDPOINTS = 5_000
INTERVAL = timedelta(seconds=10)
EACH = 200
PER_SECOND = 500
# Of a tenant: the largest, one in the middle, one of the smallest.
READERS = (0, 30, 99)


async def main(*, quick: bool, both_paths: bool = False) -> dict[str, Any]:
    runs, seconds = (200_000, 5) if quick else (5_000_000, 20)
    began = load_now()
    async with stage() as here:
        await here.empty()
        far = "cadenza_now() + interval '1 day'"
        await here.add_endpoints(ENDPOINTS, interval=INTERVAL, first_at=far, tenants=TENANTS)
        await add_history(here, runs, ENDPOINTS)
        tenants = await add_keys(here)
        if both_paths:
            return measured({"runs": runs, **await compare_paths(here, tenants)}, began)
        async with serving(here) as (client, port, _):
            lists = await _lists(here, client, tenants)
            manifests = await _manifests(client, tenants[-1])
            mixed = await _mixed(here, port, tenants, seconds)
    medians = [case["p50_ms"] for case in lists.values()]
    return measured(
        {"runs": runs, "worst_p50_ms": max(medians), **lists, **manifests, **mixed}, began
    )


# --- Lists ----------------------------------------------------------------------------------


async def _lists(
    here: Stage, client: aiohttp.ClientSession, tenants: list[dict[str, Any]]
) -> dict[str, Any]:
    """The median and the slowest hundredth of each way to ask, over tenants of all sizes."""
    now = await here.value("SELECT cadenza_now()")
    begins, ends = (now - timedelta(days=3)).isoformat(), (now - timedelta(days=2)).isoformat()
    cases: dict[str, dict[str, Any]] = {
        "newest": {},
        "by_status": {"status": ["failure", "timeout"]},
        "by_source": {"source": "ai-interval"},
        "by_endpoint": {"endpoint_id": None},
        "by_endpoint_and_status": {"endpoint_id": None, "status": "failure"},
        "by_job": {"job_id": None},
        "by_time": {"from": begins, "to": ends},
        "by_time_and_status": {"from": begins, "to": ends, "status": "failure"},
        "deep_cursor": {"cursor": None},
        "rare_match": {"status": "cancelled"},
        "no_match": {"source": "retry-after"},
    }
    readers = [tenants[number] for number in READERS]
    return {name: await _case(client, readers, asked) for name, asked in cases.items()}


async def _case(
    client: aiohttp.ClientSession, readers: list[dict[str, Any]], asked: dict[str, Any]
) -> dict[str, Any]:
    took: list[float] = []
    rows = 0
    deep = {reader["id"]: await _deep(client, reader) for reader in readers if "cursor" in asked}
    for _, reader in zip(range(EACH), cycle(readers), strict=False):
        filled = {
            "endpoint_id": reader["endpoint_id"],
            "job_id": str(reader["id"]),
            "cursor": deep.get(reader["id"]),
        }
        wanted = {name: filled[name] if value is None else value for name, value in asked.items()}
        began = perf_counter()
        page = await _get(client, reader, "/runs", wanted)
        took.append((perf_counter() - began) * 1000)
        rows += len(page["items"])
    return {**_percentiles(took), "rows": round(rows / EACH, 1)}


async def _deep(client: aiohttp.ClientSession, reader: dict[str, Any]) -> str:
    """Where fifty pages of two hundred have led to."""
    cursor = None
    for _ in range(50):
        asked = {"limit": 200, **({"cursor": cursor} if cursor else {})}
        page = await _get(client, reader, "/runs", asked)
        if page["next"] is None:
            break
        cursor = page["next"]
    assert cursor is not None
    return cursor


async def _get(
    client: aiohttp.ClientSession, reader: dict[str, Any], path: str, asked: dict[str, Any]
) -> Any:
    url = f"/api/v1{path}?{urlencode(asked, doseq=True)}"
    async with client.get(url, headers=reader["headers"]) as answer:
        body = await answer.json()
        assert answer.status == 200, body
        return body


def _percentiles(took: list[float]) -> dict[str, float]:
    ordered = sorted(took)
    return {"p50_ms": round(median(took), 1), "p99_ms": round(ordered[len(ordered) * 99 // 100], 1)}


# --- Manifests ------------------------------------------------------------------------------


async def _manifests(client: aiohttp.ClientSession, tenant: dict[str, Any]) -> dict[str, Any]:
    """A file of a thousand endpoints: applied, and applied again when nothing is to change."""
    endpoints = [
        {"name": f"e{number}", "cron": f"{number % 60} * * * *", "url": "https://x.example/"}
        for number in range(100)
    ]
    jobs = [{"name": f"manifest {number}", "endpoints": endpoints} for number in range(10)]
    seconds: list[float] = []
    for counts in ({"create": 1010}, {"unchanged": 1010}):
        began = perf_counter()
        async with client.put(
            "/api/v1/manifest", json={"jobs": jobs}, headers=tenant["headers"]
        ) as answer:
            body = await answer.json()
        assert answer.status == 200, body
        assert body["counts"] == counts, body["counts"]
        seconds.append(round(perf_counter() - began, 2))
    return {"manifest_s": seconds[0], "manifest_again_s": seconds[1]}


# --- Many readers beside a worker -----------------------------------------------------------


async def _mixed(
    here: Stage, port: int, tenants: list[dict[str, Any]], seconds: int
) -> dict[str, Any]:
    await add_run_ids(here, tenants)
    spread = INTERVAL.total_seconds() / ENDPOINTS
    with workers(here.url, 1):
        await here.execute(
            "UPDATE endpoints SET next_run_at = cadenza_now() + interval '5 seconds'"
            f" + number * interval '{spread} seconds' FROM (SELECT id, row_number() OVER () AS"
            " number FROM endpoints) AS numbered WHERE endpoints.id = numbered.id"
        )
        await asyncio.sleep(10)
        reader = Reader()
        await reader.open("127.0.0.1", port)
        # Each connection to the database plans each statement five times before it keeps a plan.
        await _read_steadily(reader, tenants, WARM_UP_SECONDS)
        begins = await here.value("SELECT cadenza_now()")
        steady = await _read_steadily(reader, tenants, seconds)
        ended = await here.value("SELECT cadenza_now()")
    ran = await here.value(
        "SELECT count(*) FROM runs WHERE status = 'success'"
        " AND finished_at BETWEEN $1::timestamptz AND $2::timestamptz",
        begins,
        ended,
    )
    return {**steady, "worker_runs_per_s": round(ran / (ended - begins).total_seconds())}


async def _read_steadily(
    reader: Reader, tenants: list[dict[str, Any]], seconds: int
) -> dict[str, Any]:
    """So many requests each second, whether or not those before have been answered."""
    took: list[float] = []
    errors: list[str] = []

    async def one(number: int, due: float) -> None:
        tenant = tenants[number * 7 % len(tenants)]
        path = f"/api/v1{read_path(tenant, number)}"
        try:
            status = await reader.get(path, tenant["headers"])
            if status != 200:
                errors.append(f"{status} {path}")
        except OSError as error:
            errors.append(f"{error!r} {path}")
        took.append((perf_counter() - due) * 1000)

    began = perf_counter()
    async with asyncio.TaskGroup() as asking:
        for number in range(PER_SECOND * seconds):
            due = began + number / PER_SECOND
            if (wait := due - perf_counter()) > 0:
                await asyncio.sleep(wait)
            asking.create_task(one(number, due))
    reads_per_s = len(took) / (perf_counter() - began)
    percentiles = {f"mixed_{name}": value for name, value in _percentiles(took).items()}
    return {
        "reads_per_s": round(reads_per_s),
        **percentiles,
        "errors": len(errors),
        "first_errors": errors[:3],
    }


if __name__ == "__main__":
    parser = parser_of(__doc__ or "")
    parser.add_argument(
        "--fast-path", choices=["both"], help="only compare reads with and without the fast path"
    )
    options = parser.parse_args()
    result = uvloop.run(main(quick=options.quick, both_paths=options.fast_path == "both"))
    report("reads", result, as_json=options.json)
