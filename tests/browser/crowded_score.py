"""A job with as many lanes, and as many runs in each, as somebody wants to see."""

from datetime import datetime
from typing import Any
from uuid import uuid4

from cadenza.application.ports.catalogue import EndpointSearch
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.plan import Source
from cadenza.domain.run import Run, RunStatus
from tests.backends import MemoryBackend
from tests.browser.watching import World
from tests.factories import seconds

SOURCES = (Source.BASELINE_INTERVAL, Source.AI_INTERVAL, Source.AI_ONESHOT, Source.RETRY_AFTER)
EVERY = 30  # seconds


def crowded_job(world: World, lanes: int, runs: int, **baseline: Any) -> str:
    """Its id; each lane has so many runs, half a minute apart, the last one just now."""
    baseline = baseline or {"every": f"{EVERY}s"}
    endpoints = [
        {"name": f"lane {number:05}", "url": "https://shop.example/", **baseline}
        for number in range(lanes)
    ]
    world.done(
        "PUT", "/manifest", {"version": 1, "jobs": [{"name": "crowd", "endpoints": endpoints}]}
    )
    world.server.wait_for(_add_runs(world, lanes, runs))
    return world.done("GET", "/jobs?name=crowd")["items"][0]["id"]


async def _add_runs(world: World, lanes: int, runs: int) -> None:
    backend, tenant_id = world.server.site.backend, world.server.site.ours.tenant_id
    assert isinstance(backend, MemoryBackend)
    rows = await backend.stores.endpoints.list_endpoints(tenant_id, EndpointSearch(limit=lanes))
    now = await backend.now()
    for endpoint in (row.endpoint for row in rows):
        own = [_run(endpoint, now - seconds(EVERY * back), back) for back in range(runs, 0, -1)]
        backend.tables.runs |= {run.id: run for run in own}
        backend.tables.runs_of[endpoint.id] = {run.slot_at: run.id for run in own}


def _run(endpoint: Endpoint, at: datetime, number: int) -> Run:
    is_bad = number % 37 == 0
    fields: dict[str, Any] = {"error_kind": "http", "error_message": "HTTP 503"} if is_bad else {}
    return Run(
        uuid4(),
        endpoint.id,
        endpoint.tenant_id,
        at,
        SOURCES[(number // 40) % len(SOURCES)],
        RunStatus.FAILURE if is_bad else RunStatus.SUCCESS,
        1,
        1,
        at,
        at,
        at + seconds(0.2),
        **fields,
    )
