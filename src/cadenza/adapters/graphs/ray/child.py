"""A child on a node, as the worker sees it."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace

from cadenza.adapters.graphs import link
from cadenza.adapters.graphs.children import Exit
from cadenza.adapters.graphs.ray.host import Ended, Frames
from cadenza.adapters.graphs.ray.node import Node, NodeLost
from cadenza.adapters.graphs.ray.seat import Seat
from cadenza.adapters.graphs.translation import go_frame
from cadenza.domain.graph import ErrorCode, GraphRequest

GATEWAY = "CADENZA_GATEWAY_URL"


class NodeChild:
    """`place` finds a node for it, with what it asked for; `leave` is called once at its end."""

    def __init__(
        self,
        run: str,
        request: GraphRequest,
        place: Callable[[GraphRequest], Awaitable[tuple[Node, Seat | None]]],
        leave: Callable[[Node, Seat | None], Awaitable[None]],
    ) -> None:
        self._run = run
        self._request = request
        self._place, self._leave = place, leave
        self._node: Node | None = None
        self._seat: Seat | None = None
        self._placing: asyncio.Task[bool] | None = None
        self._is_killed = False
        self._has_begun = False
        self._frames: deque[bytes] = deque()
        self._rubbish: str | None = None
        self._ending: asyncio.Task[Ended] | None = None

    async def ready(self) -> bool:
        if self._is_killed:
            return False
        self._placing = asyncio.create_task(self._forked())
        try:
            await asyncio.wait({self._placing})
        finally:
            self._placing.cancel()
        return not self._placing.cancelled() and self._placing.result()

    def go(self, request: GraphRequest) -> None:
        self._has_begun = True
        assert self._node is not None
        environment = _there(request, self._node, self._seat)
        frame = go_frame(replace(request, environment=environment))
        self._node.tell("go", self._run, frame)

    async def read(self) -> link.Message | None:
        assert self._node is not None
        if not self._frames and self._rubbish is None:
            try:
                more: Frames = await self._node.call("read", self._run)
            except NodeLost:
                return None
            self._frames.extend(more.frames)
            self._rubbish = more.rubbish
        if self._frames:
            return link.decode(self._frames.popleft())
        if self._rubbish is not None:
            raise link.Rubbish(self._rubbish)
        return None

    def kill(self) -> None:
        self._is_killed = True
        if self._placing is not None:
            self._placing.cancel()
        if self._node is not None:
            self._node.tell("kill", self._run)

    async def end(self) -> Exit:
        self.kill()
        return (await asyncio.shield(self._end())).exit

    def close(self) -> str:
        ending = self._end()
        return ending.result().last_lines if ending.done() else ""

    def _end(self) -> asyncio.Task[Ended]:
        if self._ending is None:
            self._ending = asyncio.create_task(self._ended())
        return self._ending

    async def _ended(self) -> Ended:
        if self._placing is not None:
            await asyncio.wait({self._placing})
        if self._node is None:
            return Ended(Exit(None, "it was not placed on a node"), "")
        try:
            return await self._node.call("end", self._run)
        except NodeLost as lost:
            return Ended(self._lost(lost), "")
        finally:
            await self._leave(self._node, self._seat)

    def _lost(self, lost: NodeLost) -> Exit:
        when = "during the run; it is not started again" if self._has_begun else "before it began"
        why = f"the node of the cluster was lost {when}: {lost}"
        return Exit(None, why, ErrorCode.WORKER_LOST)

    async def _forked(self) -> bool:
        """A node that is lost before anything ran there is no reason to give up."""
        memory = self._request.limits.memory_mb * 2**20
        while True:
            node, seat = await self._place(self._request)
            try:
                node.gateway = self._request.environment.get(GATEWAY, node.gateway)
                is_ready = await node.call("fork", self._run, self._request.graph_id, memory)
            except NodeLost:
                await self._leave(node, seat)
                continue
            except BaseException:
                node.tell("end", self._run)
                await self._leave(node, seat)
                raise
            self._node, self._seat = node, seat
            return is_ready


def _there(request: GraphRequest, node: Node, seat: Seat | None) -> dict[str, str]:
    """The gateway's address is that of the relay; a run sees the GPUs that it asked for."""
    environment = dict(request.environment)
    if gateway := environment.get(GATEWAY):
        for name, value in environment.items():
            environment[name] = value.replace(gateway, node.relay)
    if node.info.gpus:
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(seat.gpus) if seat else ""
    return environment
