"""A node as the worker sees it: calls of its host, and the moment at which it is lost."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import structlog

from cadenza.adapters.graphs.ray.host import SILENCE, Beat, Host, Hosted
from cadenza.adapters.graphs.ray.library import NodeInfo, RayLibrary, ask
from cadenza.adapters.graphs.ray.tunnel import Tunnel

BEAT = 1.0  # seconds
START_SECONDS = 120.0

log = structlog.get_logger()


class NodeLost(Exception):
    pass


class Node:
    def __init__(
        self, ray: RayLibrary, info: NodeInfo, on_lost: Callable[["Node"], None], actor: Any
    ) -> None:
        self.info = info
        self.graphs: Mapping[str, str | None] = {}
        self.relay = ""
        self.runs = 0
        self.gateway: str | None = None  # where the tunnel leads; a worker has one
        self._ray = ray
        self._on_lost = on_lost
        self._actor = actor
        self._lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._tunnel = Tunnel(self.call)
        self._beating: asyncio.Task[None] | None = None

    @staticmethod
    async def opened(
        ray: RayLibrary,
        info: NodeInfo,
        on_lost: Callable[["Node"], None],
        *setup: Mapping[str, Any],
    ) -> "Node":
        """With a host that is up; NodeLost where it does not get there."""
        actor = await asyncio.to_thread(ray.place, Host, info, *setup)
        node = Node(ray, info, on_lost, actor)
        try:
            hosted: Hosted = await asyncio.wait_for(node.call("start"), START_SECONDS)
        except TimeoutError:
            node.lose(f"its host was not up within {START_SECONDS:g} s")
        else:
            node._introduce(hosted)
        if node.why_lost is not None:
            raise NodeLost(node.why_lost)
        return node

    @property
    def why_lost(self) -> str | None:
        return self._lost.result() if self._lost.done() else None

    @property
    def load(self) -> float:
        return self.runs / self.info.cpus

    async def call(self, method: str, *values: Any) -> Any:
        """At most once; NodeLost where no answer will come."""
        if self.why_lost is None:
            try:
                answer = ask(self._actor, method, *values)
                await asyncio.wait({answer, self._lost}, return_when=asyncio.FIRST_COMPLETED)
                if answer.done():
                    return answer.result()
            except Exception as error:  # noqa: BLE001 — Ray has many; after each it is unusable
                self.lose(str(error).strip().partition("\n")[0] or type(error).__name__)
        raise NodeLost(self.why_lost)

    def tell(self, method: str, *values: Any) -> None:
        """Nobody waits for an answer; before the calls that come after it."""
        if self.why_lost is None:
            try:
                getattr(self._actor, method).remote(*values)
            except Exception as error:  # noqa: BLE001 — as above
                self.lose(str(error))

    def lose(self, why: str) -> None:
        """Whoever waits is told, and its host ended: nothing that was started there goes on."""
        if self.why_lost is None:
            self._lost.set_result(why)
            self._on_lost(self)
            log.warning("a node of the cluster is lost", node=self.info.id, why=why)
            asyncio.get_running_loop().run_in_executor(None, _kill, self._ray, self._actor)

    async def close(self) -> None:
        if self.why_lost is None:
            self._lost.set_result("the worker was stopped")
            await asyncio.to_thread(_kill, self._ray, self._actor)
        await self._tunnel.close()
        if self._beating is not None:
            self._beating.cancel()

    def _introduce(self, hosted: Hosted) -> None:
        if hosted.version != version("cadenza"):
            self.lose(f"it has Cadenza {hosted.version}, this worker has {version('cadenza')}")
            return
        self.relay, self.graphs = hosted.relay, hosted.graphs
        self._beating = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        with suppress(NodeLost):
            while True:
                try:
                    beat: Beat = await asyncio.wait_for(self.call("beat", BEAT), SILENCE)
                except TimeoutError:
                    self.lose(f"nothing was heard of it for {SILENCE:g} s")
                    return
                self.graphs = beat.graphs
                for connection in beat.connections:
                    self._tunnel.open(connection, self.gateway)


def _kill(ray: RayLibrary, actor: Any) -> None:
    with suppress(Exception):  # it, or the whole cluster, may be gone
        ray.kill(actor)
