"""What a run asked for, held for as long as it runs; Ray counts it, and picks the node for it."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from cadenza.adapters.graphs.ray.library import RayLibrary, ask, here
from cadenza.domain.graph import GraphLimits

PAUSE = 0.1  # seconds


class SeatActor:
    """Does nothing, where its resources are."""

    def where(self) -> tuple[str, tuple[str, ...]]:
        return here()


@dataclass(frozen=True, slots=True)
class Seat:
    node_id: str
    gpus: tuple[str, ...]  # as CUDA_VISIBLE_DEVICES names them
    actor: Any


async def take_seat(ray: RayLibrary, limits: GraphLimits, seconds: float) -> Seat:
    """TimeoutError where nothing is free for so long."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while (left := deadline - loop.time()) > 0:
        seat = await _try_to_take(ray, limits, left)
        if seat is not None:
            return seat
        await asyncio.sleep(PAUSE)
    totals = await asyncio.to_thread(ray.totals)
    raise TimeoutError(
        f"no node had {limits.cpus or 0:g} CPUs, {limits.gpus or 0:g} GPUs and "
        f"{limits.memory_mb} MB free within {seconds:g} s; the whole cluster has "
        f"{totals.get('CPU', 0):g} CPUs and {totals.get('GPU', 0):g} GPUs"
    )


async def _try_to_take(ray: RayLibrary, limits: GraphLimits, seconds: float) -> Seat | None:
    """None where it took too long, or its node died with it."""
    memory = limits.memory_mb * 2**20
    reserving = (ray.reserve, SeatActor, limits.cpus or 0, limits.gpus or 0, memory)
    actor = await asyncio.to_thread(*reserving)
    try:
        answer = ask(actor, "where")
        await asyncio.wait({answer}, timeout=seconds)
        if answer.done() and answer.exception() is None:
            node_id, devices = answer.result()
            return Seat(node_id, devices, actor)
    except BaseException:
        await leave(ray, actor)
        raise
    await leave(ray, actor)
    return None


async def leave(ray: RayLibrary, actor: Any) -> None:
    with suppress(Exception):  # the cluster may be gone, and the seat with it
        await asyncio.to_thread(ray.kill, actor)
