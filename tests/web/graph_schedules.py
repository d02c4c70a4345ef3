"""Schedules for tests of the API, and a worker beside it that starts and ends their runs."""

from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID, uuid4

from cadenza.application.announcing import Heartbeat
from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.ports.workers import Workers
from cadenza.application.slots import ClaimedSlots
from cadenza.domain.graph import EventKind, GraphResult
from cadenza.domain.known_graph import Announcement
from cadenza.domain.slot import FinishedSlot, RunEvent, SlotClaim, SlotStatus
from tests.backends import Backend
from tests.factories import CRON, seconds
from tests.web.support import House, Site

GRAPH = "python:shop.jobs:digest"


async def open_account(house: House, balance: int = 1_000_000, name: str = "research") -> str:
    """With so many credits; gives its id."""
    account = await house.done("POST", "/accounts", {"name": name})
    if balance:
        entry = {"credits": balance, "reason": "a start", "reference": str(uuid4())}
        await house.done("POST", f"/accounts/{account['id']}/credits", entry)
    return account["id"]


async def create_schedule(house: House, **fields: Any) -> dict[str, Any]:
    body = {"graph_id": GRAPH, "cron": "0 9 * * *", **fields}
    return await house.done("POST", "/schedules", body)


def slots_of(backend: Backend) -> ClaimedSlots:
    return ClaimedSlots(backend.store, CRON, uuid4)


async def start_run(site: Site, house: House, schedule: dict[str, Any]) -> SlotClaim:
    """Asked for by a person, and under way."""
    await house.done("POST", f"/schedules/{schedule['id']}/run")
    return await start_due(site.backend, schedule)


async def start_due(backend: Backend, schedule: dict[str, Any]) -> SlotClaim:
    claim = await claim_due(backend, schedule)
    assert await slots_of(backend).start([claim]) == {}
    return claim


async def claim_due(backend: Backend, schedule: dict[str, Any]) -> SlotClaim:
    batch = await slots_of(backend).claim_due(ClaimRequest("test", 100, seconds(60)))
    (claim,) = [claim for claim in batch.claims if claim.schedule.id == UUID(schedule["id"])]
    return claim


async def end_run(
    backend: Backend,
    claim: SlotClaim,
    result: GraphResult | None = None,
    *,
    events: int = 0,
    words: Sequence[str] = (),
) -> None:
    """After so many events, or these words one by one."""
    result = result or GraphResult(output={"text": "done"})
    status = SlotStatus.SUCCESS
    if result.error is not None:
        status = SlotStatus.ERROR
    elif result.question is not None:
        status = SlotStatus.WAITING
    now = await backend.now()
    told = [
        RunEvent(number, now, EventKind.CUSTOM, {"n": number}) for number in range(1, events + 1)
    ]
    for word in words:
        told.append(RunEvent(len(told) + 1, now, EventKind.TEXT_DELTA, {"text": word}))
    slot = FinishedSlot(claim, status, result, now, now, events=tuple(told))
    report = await slots_of(backend).finish([slot])
    assert not report.late


def path_of(schedule: dict[str, Any], claim: SlotClaim | None = None) -> str:
    path = f"/schedules/{schedule['id']}"
    return path if claim is None else f"{path}/runs/{claim.run_id}"


async def announce(backend: Backend, announcement: Announcement, worker: str = "test") -> None:
    """What a living graph worker can run."""
    workers = cast("Workers", backend.stores.graphs)  # the same object is both ports
    await Heartbeat(workers, worker, "graph-worker", lambda: announcement).beat()
