"""Which workers live, and which graphs they can run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cadenza.adapters.memory.rows import WorkerRow
from cadenza.adapters.memory.tables import OverTables
from cadenza.application.ports.workers import GONE_AFTER, Condition, KnownWorker
from cadenza.domain.known_graph import Announcement, GraphAtWorker, KnownGraph


class MemoryWorkers(OverTables):
    async def beat(self, name: str, kind: str, condition: Condition) -> bool:
        workers, now = self._tables.workers, self._tables.clock.now()
        is_new = name not in workers
        row = WorkerRow(kind, now, started_at=now) if is_new else workers[name]
        workers[name] = replace(row, kind=kind, seen_at=now, condition=condition)
        return is_new

    async def announce(self, name: str, announcement: Announcement) -> None:
        workers = self._tables.workers
        workers[name] = replace(workers[name], announcement=announcement)

    async def left(self, name: str) -> None:
        self._tables.workers.pop(name, None)

    async def list_workers(self, limit: int) -> Sequence[KnownWorker]:
        oldest = self._tables.clock.now() - GONE_AFTER
        workers = [
            KnownWorker(
                name,
                row.kind,
                row.started_at or row.seen_at,
                row.seen_at,
                row.seen_at > oldest,
                row.condition,
                row.announcement.labels,
            )
            for name, row in self._tables.workers.items()
        ]
        workers.sort(key=lambda worker: (not worker.is_alive, worker.kind, worker.name))
        return workers[:limit]

    async def list_graphs(self, after: str | None, limit: int) -> Sequence[KnownGraph]:
        ids = {
            graph.graph_id
            for row in self._tables.workers.values()
            for graph in row.announcement.graphs
        }
        later = sorted(graph_id for graph_id in ids if after is None or graph_id > after)
        return list((await self.find_graphs(later[:limit])).values())

    async def find_graphs(self, graph_ids: Sequence[str]) -> Mapping[str, KnownGraph]:
        known = {graph_id: self._places(graph_id) for graph_id in graph_ids}
        return {
            graph_id: KnownGraph(graph_id, places) for graph_id, places in known.items() if places
        }

    def _places(self, graph_id: str) -> tuple[GraphAtWorker, ...]:
        oldest = self._tables.clock.now() - GONE_AFTER
        return tuple(
            GraphAtWorker(name, row.announcement.labels, row.seen_at, row.seen_at > oldest, graph)
            for name, row in sorted(self._tables.workers.items())
            for graph in row.announcement.graphs
            if graph.graph_id == graph_id
        )
