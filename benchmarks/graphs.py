"""Scheduled graphs: a thousand due at once beside ten thousand that wait, and slots over time."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any
from uuid import UUID, uuid4

import uvloop

from benchmarks.machine import load_now
from benchmarks.stage import (
    BOX,
    Stage,
    arguments,
    connected,
    measured,
    report,
    stage,
    until,
    workers,
)
from cadenza.adapters.graphs.executor import ForkingExecutor
from cadenza.adapters.graphs.sources import GraphSources, graph_environment
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.demo.model_provider import ModelProvider, served
from cadenza.domain.billing import Account, ModelApi, VirtualKey
from cadenza.domain.graph import GraphCaller, GraphRequest
from cadenza.domain.target import Secret

EXAMPLES = Path(__file__).parent.parent / "examples" / "graphs"
DIGEST, POET = "python:digest:digest", "langgraph:poet"
TENANTS = 20
AT_ONCE = 50  # as CADENZA_GRAPHS_AT_ONCE is set where nobody sets it
WAITING = "cadenza_now() + interval '1 day'"


async def main(*, quick: bool) -> dict[str, Any]:
    due, waiting, spread = (100, 1_000, 40) if quick else (1_000, 10_000, 200)
    provider = ModelProvider()
    began = load_now()
    async with stage() as here, served(provider) as address:
        bare = await _bare_forks(due)
        await _furnish(here, f"{address}/v1")
        await _schedule(here, "waiting", DIGEST, waiting, WAITING)
        async with _worker(here):
            at_once = await _all_at_once(here, due)
            over_time = await _over_time(here, spread)
            tokens = await _tokens(here, provider)
    result = {
        "runs_per_s": round(due / at_once["all_started_s"]),
        "bare_runs_per_s": round(due / bare),
        **at_once,
        "bare_forks_s": round(bare, 2),
        "ratio": round(at_once["all_started_s"] / bare, 2),
        **over_time,
        **tokens,
        "waiting": waiting,
    }
    return measured(result, began)


async def _all_at_once(here: Stage, count: int) -> dict[str, Any]:
    await _schedule(here, "due", DIGEST, count, "$5::timestamptz", at=await _soon(here))
    await _ended(here, "due", count)
    return await here.json(
        "SELECT jsonb_build_object("
        " 'started', count(r.started_at), 'doubled', count(*) FILTER (WHERE r.attempt > 1),"
        " 'failed', count(*) FILTER (WHERE r.status <> 'success'),"
        " 'all_started_s', round(extract(epoch FROM max(r.started_at) - min(r.slot_at)), 2))"
        " FROM schedule_runs AS r JOIN schedules AS s ON s.id = r.schedule_id"
        " WHERE s.name LIKE 'due%'"
    )


async def _over_time(here: Stage, count: int) -> dict[str, Any]:
    """From the slot to the first event, with a slot every tenth of a second."""
    slot = "$5::timestamptz + n * interval '100 ms'"
    await _schedule(here, "spread", DIGEST, count, slot, at=await _soon(here))
    await _ended(here, "spread", count)
    return await here.json(
        "WITH first AS (SELECT extract(epoch FROM e.at - r.slot_at) * 1000 AS ms"
        " FROM schedule_runs AS r JOIN schedules AS s ON s.id = r.schedule_id"
        " JOIN schedule_run_events AS e ON e.run_id = r.id AND e.number = 1"
        " WHERE s.name LIKE 'spread%')"
        " SELECT jsonb_build_object("
        " 'p50_ms', round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 1),"
        " 'p99_ms', round(percentile_cont(0.99) WITHIN GROUP (ORDER BY ms)::numeric, 1),"
        " 'early', count(*) FILTER (WHERE ms < 0)) FROM first"
    )


async def _tokens(here: Stage, provider: ModelProvider) -> dict[str, Any]:
    """What the ledger says, and what the provider counted."""
    await _schedule(here, "poem", POET, TENANTS, "$5::timestamptz", at=await _soon(here))
    await _ended(here, "poem", TENANTS)
    ledger = await here.value("SELECT sum(input_tokens + output_tokens)::bigint FROM charges")
    used = provider.used.values()
    return {
        "ledger_tokens": ledger,
        "server_tokens": sum(each.input_tokens + each.output_tokens for each in used),
    }


async def _soon(here: Stage) -> Any:
    return await here.value("SELECT cadenza_now() + interval '3 seconds'")


async def _ended(here: Stage, name: str, count: int) -> None:
    async def enough() -> bool:
        statement = (
            "SELECT count(*) FROM schedule_runs AS r JOIN schedules AS s ON s.id = r.schedule_id"
            " WHERE s.name LIKE $1 || '%' AND r.finished_at IS NOT NULL"
        )
        return await here.value(statement, name) >= count

    if not await until(enough, within=300, every=0.1):
        raise RuntimeError(f"{name}: not all have ended within five minutes")


async def _schedule(
    here: Stage, name: str, graph_id: str, count: int, slot: str, at: Any = None
) -> None:
    """Set-based; `slot` is an SQL expression over the number n of the schedule. They are off, so
    that each has this one slot."""
    await here.execute(
        "WITH made AS (INSERT INTO schedules (id, tenant_id, user_id, grant_id, name, graph_id,"
        " input, cron, timezone, concurrency, limits, enabled)"
        " SELECT md5($1 || n)::uuid, tenant, tenant, tenant, $1 || n, $3,"
        " '{\"lines\": [\"to be or not to be\"]}', '0 3 1 1 *', 'UTC', 'forbid',"
        ' \'{"time": 600, "memory_mb": 512, "steps": 25, "calls": null, "tokens": null,'
        ' "credits": null}\', false'
        " FROM generate_series(0, $2::int - 1) AS n, md5('t' || n % $4::int) AS hash,"
        " CAST(hash AS uuid) AS tenant RETURNING id, tenant_id, name)"
        " INSERT INTO schedule_runs (schedule_id, slot_at, tenant_id, user_id, is_manual)"
        f" SELECT made.id, {slot}, made.tenant_id, made.tenant_id, true FROM made,"
        " CAST(replace(made.name, $1, '') AS integer) AS n"
        + (" WHERE $5::timestamptz IS NULL" if at is None else ""),
        name,
        count,
        graph_id,
        TENANTS,
        at,
    )
    await here.execute("SELECT pg_notify('cadenza_slots', '')")
    await here.execute("ANALYZE schedule_runs")


async def _furnish(here: Stage, base_url: str) -> None:
    await here.execute(
        "INSERT INTO tenants (id, name) SELECT md5('t' || n)::uuid, 't' || n"
        " FROM generate_series(0, $1::int - 1) AS n",
        TENANTS,
    )
    await here.execute(
        "INSERT INTO accounts (id, tenant_id, name, balance)"
        " SELECT id, id, 'main', 1000000000 FROM tenants"
    )
    await here.execute(
        "INSERT INTO execution_grants (id, tenant_id, user_id, account_id, scopes)"
        " SELECT id, id, id, id, '{graph:execute:*}' FROM tenants"
    )
    store = PostgresStore(here.database, BOX)
    async with here.database.connection() as connection:
        rows = await connection.fetch("SELECT id, cadenza_now() AS now FROM tenants")
    for row in rows:
        account = Account(row["id"], row["id"], "main", 0, row["now"])
        key = VirtualKey(
            uuid4(), account.id, "key", ModelApi.OPENAI, base_url, "", True, row["now"]
        )
        async with store.transaction() as tx:
            await tx.insert_virtual_key(account, key, Secret(f"key of {account.id}"))


@asynccontextmanager
async def _worker(here: Stage) -> AsyncGenerator[None]:
    settings = {
        "GRAPH_FILES": EXAMPLES / "langgraph.json",
        "GRAPH_FUNCTIONS": "digest:digest",
        "GRAPH_PATHS": EXAMPLES,
        "PRICES": '{"cadenza-poet": {"input": 1, "output": 2}}',
    }
    with workers(here.url, 1, kind="graph-worker", **settings):
        await connected(here, 1)
        yield


async def _bare_forks(count: int) -> float:
    """The same children from the same fork server, with nothing of ours around them."""
    sources = GraphSources(
        files=(str(EXAMPLES / "langgraph.json"),),
        python=("digest:digest",),
        paths=(str(EXAMPLES),),
    )
    executor = ForkingExecutor(sources, graph_environment((), os.environ))
    await executor.start()
    room = asyncio.Semaphore(AT_ONCE)
    started: list[float] = []
    caller = GraphCaller(*(UUID(int=0),) * 4)

    async def fork() -> None:
        async def at_start() -> None:
            started.append(perf_counter())

        request = GraphRequest(uuid4(), DIGEST, {"lines": ["to be or not to be"]}, caller)
        async with room:
            stream = executor.run_graph(request, at_start)
            async for _ in stream.events():
                pass
            await stream.final()

    began = perf_counter()
    await asyncio.gather(*(fork() for _ in range(count)))
    await executor.close()
    return max(started) - began


if __name__ == "__main__":
    options = arguments(__doc__ or "")
    report("graphs", uvloop.run(main(quick=options.quick)), as_json=options.json)
