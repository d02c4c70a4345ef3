"""What an endpoint and a run take on disk, tables and indexes apart; for docs/concepts/scale.md.

Endpoints are those of the other benchmarks; runs come from a scheduler that really makes them.
"""

from datetime import timedelta
from typing import Any

import uvloop

from benchmarks.machine import load_now
from benchmarks.stage import DUE, Stage, arguments, measured, report, stage, workers

ENDPOINTS, RUNS = 100_000, 20_000
SIZE = (
    "SELECT sum(pg_table_size(oid))::bigint AS bytes, sum(pg_indexes_size(oid))::bigint AS indexes"
    " FROM pg_class WHERE relkind = 'r' AND (relname = $1 OR relname LIKE $1 || '\\_%')"
)
DUE_INDEX = "SELECT pg_relation_size('endpoints_due')"


async def main(*, quick: bool) -> dict[str, Any]:
    endpoints, runs = (5_000, 2_000) if quick else (ENDPOINTS, RUNS)
    began = load_now()
    async with stage() as here:
        await here.empty()
        later = "cadenza_now() + interval '1 day'"
        await here.add_endpoints(endpoints, interval=timedelta(days=1), first_at=later)
        idle = await _sizes(here, "endpoints")
        await here.empty()
        await here.add_endpoints(runs, interval=timedelta(days=1), first_at=DUE)
        with workers(here.url, 1):
            assert await here.finished(runs, within=600)
        made, ran = await _sizes(here, "runs"), await _sizes(here, "endpoints")
    result = {
        "endpoint_bytes": round(idle[0] / endpoints),
        "endpoint_index_bytes": round(idle[1] / endpoints),
        "endpoint_that_ran_bytes": round((ran[0] + ran[1]) / runs),
        "run_bytes": round(made[0] / runs),
        "run_index_bytes": round(made[1] / runs),
        "index_of_what_is_due_bytes": round(idle[2] / endpoints),
    }
    return measured(result, began)


async def _sizes(here: Stage, table: str) -> tuple[int, int, int]:
    async with here.database.connection() as connection:
        row = await connection.fetchrow(SIZE, table)
        assert row is not None
        return row["bytes"], row["indexes"], await connection.fetchval(DUE_INDEX)


if __name__ == "__main__":
    asked = arguments(__doc__ or "")
    report("sizes", uvloop.run(main(quick=asked.quick)), as_json=asked.json)
