"""A real Ray cluster of two nodes on this machine, in a process of its own, which ends with us."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
HEAD, WITH_GPU = 0, 1
STORE = 80 * 2**20  # bytes; Ray takes a third of the machine where it is not told


class RayCluster:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.address = self._answer()

    def add(self) -> int:
        return int(self._ask("add"))

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
def started() -> Iterator[RayCluster]:
    command = [sys.executable, "-m", "tests.adapters.graphs.ray_cluster"]
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}  # noqa: TID251 — Ray reads it
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True, env=environment
    ) as process:
        yield RayCluster(process)


def main() -> None:
    from ray.cluster_utils import Cluster

    port = _free_port()
    head = {"num_cpus": 2, "object_store_memory": STORE, "include_dashboard": False}
    head_node_args = {**head, "ray_client_server_port": port}
    cluster = Cluster(initialize_head=True, head_node_args=head_node_args)
    nodes: list[Any] = [cluster.head_node]
    try:
        nodes.append(cluster.add_node(num_cpus=2, num_gpus=1, object_store_memory=STORE))
        _say(f"ray://127.0.0.1:{port}")
        for line in sys.stdin:
            command, *numbers = line.split()
            if command == "add":
                nodes.append(cluster.add_node(num_cpus=2, object_store_memory=STORE))
            else:
                cluster.remove_node(nodes[int(numbers[0])], allow_graceful=False)
            _say(str(len(nodes) - 1))
    finally:
        cluster.shutdown()


def _say(line: str) -> None:
    sys.stdout.write(f"> {line}\n")
    sys.stdout.flush()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    main()
