"""Ray itself, the only file that knows its names. What RayLibrary does blocks: use a thread."""

import asyncio
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from cadenza.domain.errors import InstallationError

REACH_SECONDS = 5.0
CLIENT_PORT = 10_001
ATTEMPTS = 3
# How long a cluster waits for a client that went away, before it ends what the client started.
GRACE = ("RAY_CLIENT_RECONNECT_GRACE_PERIOD", "5")


@dataclass(frozen=True, slots=True)
class NodeInfo:
    id: str
    address: str
    cpus: float
    gpus: float


class RayLibrary:
    """Ray, if it is installed. Of several in one process each means the same connection."""

    def __init__(self) -> None:
        try:
            self._ray: Any = import_module("ray")
            import_module("grpc")
        except ImportError as error:
            raise InstallationError(
                f"CADENZA_RAY_ADDRESS is set, but Ray cannot be used here ({error}): "
                "pip install 'cadenza[ray]', or leave the address away."
            ) from error
        self._affinity: Any = import_module("ray.util.scheduling_strategies")

    def connect(self, address: str) -> None:
        _reach(address)
        os.environ.setdefault(*GRACE)  # noqa: TID251 — Ray has no other way
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._ray.init(address, log_to_driver=False, logging_level="ERROR")
                return
            except Exception as error:
                # Ray is there, but its server for us did not start: on a busy head that happens.
                if isinstance(error, ConnectionAbortedError) and attempt < ATTEMPTS:
                    continue
                raise InstallationError(
                    f"CADENZA_RAY_ADDRESS: no Ray cluster can be used at {address}: {error}"
                ) from error

    def disconnect(self) -> None:
        self._ray.shutdown()

    def nodes(self) -> list[NodeInfo]:
        """Those that are alive and offer a processor; a head that only leads offers none."""
        nodes = [_node(row) for row in self._ray.nodes() if row["Alive"]]
        return [node for node in nodes if node.cpus > 0]

    def totals(self) -> Mapping[str, float]:
        return self._ray.cluster_resources()

    def place(self, kind: type, node: NodeInfo, runtime: Mapping[str, Any], *values: Any) -> Any:
        """An actor on this node and no other, never restarted, and no call of it repeated."""
        there = self._affinity.NodeAffinitySchedulingStrategy(node.id, soft=False)
        return self._actor(
            kind,
            num_cpus=0,
            max_concurrency=10_000,
            scheduling_strategy=there,
            runtime_env=dict(runtime) or None,
        ).remote(*values)

    def reserve(self, kind: type, cpus: float, gpus: float, memory: int) -> Any:
        """An actor wherever these are free; it waits until they are."""
        return self._actor(kind, num_cpus=cpus, num_gpus=gpus, memory=memory).remote()

    def kill(self, actor: Any) -> None:
        self._ray.kill(actor)

    def _actor(self, kind: type, **options: Any) -> Any:
        return self._ray.remote(kind).options(max_restarts=0, max_task_retries=0, **options)


def ask(actor: Any, method: str, *values: Any) -> asyncio.Future[Any]:
    """To be waited for, and never cancelled: Ray's own threads fall over one that is."""
    answer: asyncio.Future[Any] = getattr(actor, method).remote(*values).as_future()
    answer.add_done_callback(lambda _: answer.cancelled() or answer.exception())
    return answer


def here() -> tuple[str, tuple[str, ...]]:
    """In an actor: the node, and the GPUs that are its own."""
    ray: Any = import_module("ray")
    return ray.get_runtime_context().get_node_id(), tuple(map(str, ray.get_gpu_ids()))


def _node(row: Mapping[str, Any]) -> NodeInfo:
    resources: Mapping[str, float] = row["Resources"]
    cpus, gpus = resources.get("CPU", 0.0), resources.get("GPU", 0.0)
    return NodeInfo(row["NodeID"], row["NodeManagerAddress"], cpus, gpus)


def _reach(address: str) -> None:
    """Ray itself tries for minutes, and says little."""
    url = urlsplit(address if "://" in address else f"//{address}")
    if not url.hostname or url.scheme not in ("ray", ""):
        raise InstallationError(
            f"CADENZA_RAY_ADDRESS is {address!r}; it must be like ray://head.example:10001."
        )
    try:
        socket.create_connection((url.hostname, url.port or CLIENT_PORT), REACH_SECONDS).close()
    except (OSError, ValueError) as error:
        raise InstallationError(
            f"CADENZA_RAY_ADDRESS: nothing answers at {address}: {error}. "
            "Is the cluster up, and its client port (10001 by default) open to this machine?"
        ) from error
