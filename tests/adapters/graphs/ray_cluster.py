"""A real Ray cluster of two nodes on this machine, in a process of its own, which ends with us."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.ports import free_port

ROOT = Path(__file__).parents[3]
STORE = 80 * 2**20  # bytes; Ray takes a third of the machine where it is not told


class RayCluster:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.address = self._answer()

    def add(self, gpus: int = 0) -> int:
        return int(self._ask(f"add {gpus}"))

    def kill(self, node: int) -> None:
        """At once, as when its machine loses its power."""
        self._ask(f"kill {node}")

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            if line.startswith("> "):  # Ray prints, too
                return line[2:].strip()
        raise RuntimeError("the cluster did not start; its messages are above")


@contextmanager
def started(port: int | None = None) -> Iterator[RayCluster]:
    number = str(port or free_port())
    command = [sys.executable, "-m", "tests.adapters.graphs.ray_cluster", number]
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}  # noqa: TID251 — Ray reads it
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True, env=environment
    ) as process:
        yield RayCluster(process)


def main(port: int) -> None:
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 2, "object_store_memory": STORE, "include_dashboard": False}
    head_node_args = {**head, "ray_client_server_port": port}
    cluster = Cluster(initialize_head=True, head_node_args=head_node_args)
    nodes: list[Any] = [cluster.head_node]
    try:
        nodes.append(_add(cluster, 1))
        _say(f"ray://127.0.0.1:{port}")
        for line in sys.stdin:
            command, number = line.split()
            if command == "add":
                nodes.append(_add(cluster, int(number)))
            else:
                cluster.remove_node(nodes[int(number)], allow_graceful=False)
            _say(str(len(nodes) - 1))
    finally:
        cluster.shutdown()


def _add(cluster: Any, gpus: int) -> Any:
    return cluster.add_node(num_cpus=2, num_gpus=gpus, object_store_memory=STORE)


def _say(line: str) -> None:
    sys.stdout.write(f"> {line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
