"""A tenant with ten thousand of everything that a page lists."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from cadenza.application.ports.catalogue import EndpointSearch
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.plan import Source
from cadenza.domain.run import Run, RunStatus
from cadenza.domain.session import Session, SessionEnd
from tests.browser.watching import World
from tests.factories import seconds

MANY = 10_000
JOBS, EACH = 100, 100


def crowd(world: World) -> dict[str, Any]:
    """The first job. Each endpoint has run once, and was looked at once."""
    jobs = [
        {
            "name": f"job {job:03}",
            "endpoints": [
                {"name": f"endpoint {number:03}", "every": "1h", "url": "https://shop.example/"}
                for number in range(EACH)
            ],
        }
        for job in range(JOBS)
    ]
    world.done("PUT", "/manifest", {"version": 1, "jobs": jobs})
    world.server.wait_for(_run_and_look(world))
    return world.done("GET", "/jobs?name=job%20000")["items"][0]


async def _run_and_look(world: World) -> None:
    site = world.server.site
    now, sessions = await site.now(), list[Session]()
    search = EndpointSearch(limit=MANY)
    stored = await site.backend.stores.endpoints.list_endpoints(site.ours.tenant_id, search)
    for number, endpoint in enumerate(row.endpoint for row in stored):
        await site.backend.insert_run(_run(endpoint, now - timedelta(seconds=number + 1)))
        sessions.append(_session(endpoint, now - timedelta(seconds=number)))
    async with site.backend.store.transaction() as tx:
        await tx.insert_sessions(sessions)


def _run(endpoint: Endpoint, at: datetime) -> Run:
    return Run(
        id=uuid4(),
        endpoint_id=endpoint.id,
        tenant_id=endpoint.tenant_id,
        slot_at=at,
        source=Source.BASELINE_INTERVAL,
        status=RunStatus.SUCCESS,
        attempt=1,
        epoch=1,
        claimed_at=at,
        started_at=at,
        finished_at=at,
    )


def _session(endpoint: Endpoint, at: datetime) -> Session:
    return Session(
        id=uuid4(),
        tenant_id=endpoint.tenant_id,
        job_id=endpoint.job_id,
        endpoint_id=endpoint.id,
        brain="rules",
        started_at=at,
        duration=seconds(1),
        end=SessionEnd.SUBMITTED,
        reasoning="it was looked at",
    )
