"""The heartbeat of a worker, and an announcement of the graphs that it can run when they change."""

from collections.abc import Callable

from cadenza.application.ports.graphs import GraphExecutor
from cadenza.application.ports.workers import Condition, Workers
from cadenza.domain.known_graph import AnnouncedGraph, Announcement

MOST_GRAPHS = 1_000
LONGEST_ID = 300  # longer than any that can be scheduled


def announcement_of(executor: GraphExecutor, labels: tuple[str, ...]) -> Announcement:
    schemas = executor.input_schemas()
    graphs = [
        AnnouncedGraph(graph_id, problem, schemas.get(graph_id))
        for graph_id, problem in sorted(executor.graphs().items())
        if len(graph_id) <= LONGEST_ID
    ]
    return Announcement(labels, tuple(graphs[:MOST_GRAPHS]))


class Heartbeat:
    def __init__(
        self,
        workers: Workers,
        name: str,
        kind: str,
        current: Callable[[], Announcement] = Announcement,
        condition: Callable[[], Condition] = Condition,
    ) -> None:
        self._workers = workers
        self._name = name
        self._kind = kind
        self._current = current
        self._condition = condition
        self._announced: Announcement | None = None

    async def beat(self) -> None:
        is_new = await self._workers.beat(self._name, self._kind, self._condition())
        announcement = self._current()
        if is_new or announcement != self._announced:
            await self._workers.announce(self._name, announcement)
            self._announced = announcement

    async def end(self) -> None:
        await self._workers.left(self._name)
