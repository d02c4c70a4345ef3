"""What a run asked for, held for as long as it runs; Ray counts it, and picks the node for it."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from cadenza.adapters.graphs.ray.library import RayLibrary, ask, here
from cadenza.domain.graph import GraphLimits


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
    cpus, gpus, memory = limits.cpus or 0, limits.gpus or 0, limits.memory_mb * 2**20
    actor = await asyncio.to_thread(ray.reserve, SeatActor, cpus, gpus, memory)
    try:
        answer = ask(actor, "where")
        await asyncio.wait({answer}, timeout=seconds)
        if not answer.done():
            totals = await asyncio.to_thread(ray.totals)
            raise TimeoutError(
                f"no node had {cpus:g} CPUs, {gpus:g} GPUs and {limits.memory_mb} MB free within "
                f"{seconds:g} s; the whole cluster has {totals.get('CPU', 0):g} CPUs and "
                f"{totals.get('GPU', 0):g} GPUs"
            )
        node_id, devices = answer.result()
    except BaseException:
        await leave(ray, actor)
        raise
    return Seat(node_id, devices, actor)


async def leave(ray: RayLibrary, actor: Any) -> None:
    with suppress(Exception):  # the cluster may be gone, and the seat with it
        await asyncio.to_thread(ray.kill, actor)
