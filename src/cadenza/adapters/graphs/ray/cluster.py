"""The nodes of a Ray cluster, each with a host, and which of them a run is placed on."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import structlog

from cadenza.adapters.graphs.ray import seat as seats
from cadenza.adapters.graphs.ray.child import NodeChild
from cadenza.adapters.graphs.ray.library import NodeInfo, RayLibrary
from cadenza.adapters.graphs.ray.node import START_SECONDS, Node, NodeLost
from cadenza.adapters.graphs.ray.seat import Seat
from cadenza.adapters.graphs.sources import GraphSources
from cadenza.domain.errors import InstallationError
from cadenza.domain.graph import GraphLimits, GraphRequest

CONNECT_SECONDS = 120.0
OTHERS_SECONDS = 10.0  # after the first node, for those that are there already
LOOK_SECONDS = 10.0
LOOK_EVERY = 0.5
FORK_SECONDS = 30.0

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    address: str  # ray://host:10001
    wait_seconds: float = 60.0  # for resources that are not free
    # Of the hosts, as Ray knows it: working_dir, pip …
    runtime: Mapping[str, Any] = field(default_factory=dict[str, Any])


class ClusterChildren:
    """`environment` is what graphs see of the worker's; PATH and HOME are those of the node."""

    def __init__(
        self, options: ClusterOptions, sources: GraphSources, environment: Mapping[str, str]
    ) -> None:
        self.ready_seconds = options.wait_seconds + FORK_SECONDS
        self._options = options
        self._setup = (options.runtime, sources.as_json(), dict(environment))
        self._ray = RayLibrary()
        self._nodes: dict[str, Node] = {}
        self._opening: dict[str, asyncio.Task[None]] = {}
        self._has_node = asyncio.Event()
        self._is_connected = False
        self._watching: asyncio.Task[None] | None = None
        self._why_none = "it has no node that offers a CPU"

    @property
    def graphs(self) -> Mapping[str, str | None]:
        """A graph is as good as on the node that has it best."""
        known: dict[str, str | None] = {}
        for node in self._nodes.values():
            for graph_id, problem in node.graphs.items():
                known[graph_id] = problem if known.get(graph_id, problem) is not None else None
        return known

    @property
    def schemas(self) -> Mapping[str, Mapping[str, Any]]:
        return {}  # nodes do not tell

    @property
    def isolation(self) -> str:
        return "as each node has it"

    async def start(self) -> None:
        await self._connect()
        self._watching = asyncio.create_task(self._watch(), name="nodes of the cluster")
        try:
            await self.wait_until_up(START_SECONDS)
        except InstallationError:
            await self.close()
            raise
        if self._opening:  # so that all of their graphs are known
            await asyncio.wait(self._opening.values(), timeout=OTHERS_SECONDS)

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
            self._watching = None
        await self._let_go()

    async def answers(self) -> bool:
        return self._is_connected and bool(self._nodes)

    async def wait_until_up(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._has_node.wait(), seconds)
        except TimeoutError as error:
            raise InstallationError(
                f"No node of the Ray cluster at {self._options.address} was ready to run graphs "
                f"within {seconds:g} s: {self._why_none}."
            ) from error

    def fork(self, run: str, request: GraphRequest) -> NodeChild:
        return NodeChild(run, request, self._place, self._leave)

    # --- Placing --------------------------------------------------------------------------

    async def _place(self, request: GraphRequest) -> tuple[Node, Seat | None]:
        limits = request.limits
        if limits.cpus is None and limits.gpus is None:
            await self.wait_until_up(FORK_SECONDS)
            node, seat = self._least_loaded(request.graph_id), None
        else:
            seat = await self._seat(limits)
            try:
                node = await self._host_of(seat)
            except BaseException:
                await seats.leave(self._ray, seat.actor)
                raise
        node.runs += 1
        return node, seat

    async def _leave(self, node: Node, seat: Seat | None) -> None:
        node.runs -= 1
        if seat is not None:
            await seats.leave(self._ray, seat.actor)

    def _least_loaded(self, graph_id: str) -> Node:
        able = [node for node in self._nodes.values() if node.graphs.get(graph_id, "") is None]
        return min(able or self._nodes.values(), key=lambda node: node.load)

    async def _seat(self, limits: GraphLimits) -> Seat:
        try:
            return await seats.take_seat(self._ray, limits, self._options.wait_seconds)
        except TimeoutError:
            raise
        except Exception as error:
            raise InstallationError(f"the Ray cluster did not answer: {error}") from error

    async def _host_of(self, seat: Seat) -> Node:
        """A node that has just come may have a seat before its host is up."""
        async with asyncio.timeout(FORK_SECONDS):
            while seat.node_id not in self._nodes:  # noqa: ASYNC110 — seldom, and not for long
                await asyncio.sleep(LOOK_EVERY / 10)
        return self._nodes[seat.node_id]

    # --- Nodes that come and go -----------------------------------------------------------

    async def _watch(self) -> None:
        while True:
            try:
                if not self._is_connected:
                    await self._connect()
                async with asyncio.timeout(LOOK_SECONDS):
                    self._compare(await asyncio.to_thread(self._ray.nodes))
            except Exception as error:  # noqa: BLE001 — the cluster is away; it may come back
                log.warning("the Ray cluster does not answer", error=str(error))
                for node in list(self._nodes.values()):
                    node.lose("the cluster does not answer")
                await self._let_go()
            await asyncio.sleep(LOOK_EVERY)

    def _compare(self, infos: list[NodeInfo]) -> None:
        alive = {info.id: info for info in infos}
        for node_id, node in list(self._nodes.items()):
            if node_id not in alive:
                node.lose("Ray says that it is dead")
        for node_id, info in alive.items():
            if node_id not in self._nodes and node_id not in self._opening:
                task = asyncio.create_task(self._open(info))
                self._opening[node_id] = task
                task.add_done_callback(lambda _, node_id=node_id: self._opening.pop(node_id, None))

    async def _open(self, info: NodeInfo) -> None:
        try:
            node = await Node.opened(self._ray, info, self._forget, *self._setup)
        except NodeLost as lost:
            self._why_none = f"{info.address}: {lost}"
            await asyncio.sleep(LOOK_EVERY * 5)  # it is tried again, at leisure
            return
        self._nodes[info.id] = node
        self._has_node.set()
        log.info("graphs run on a node", node=info.id, address=info.address)

    def _forget(self, node: Node) -> None:
        if self._nodes.get(node.info.id) is node:
            del self._nodes[node.info.id]
        if not self._nodes:
            self._has_node.clear()

    async def _connect(self) -> None:
        try:
            connecting = asyncio.to_thread(self._ray.connect, self._options.address)
            await asyncio.wait_for(connecting, CONNECT_SECONDS)
        except TimeoutError as error:
            raise InstallationError(
                f"CADENZA_RAY_ADDRESS: {self._options.address} took longer than "
                f"{CONNECT_SECONDS:g} s to answer."
            ) from error
        self._is_connected = True

    async def _let_go(self) -> None:
        """Of all nodes, and of the connection."""
        for task in list(self._opening.values()):
            task.cancel()
        nodes, self._nodes = self._nodes, {}
        self._has_node.clear()
        await asyncio.gather(*(node.close() for node in nodes.values()))
        with suppress(Exception):
            await asyncio.wait_for(asyncio.to_thread(self._ray.disconnect), LOOK_SECONDS)
        self._is_connected = False
