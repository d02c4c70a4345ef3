"""Which workers live, and which graphs they can run: each says so every few seconds."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from cadenza.adapters.postgres.database import OverDatabase
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.storable import from_json, to_json, to_text
from cadenza.application.ports.workers import GONE_AFTER, Condition, KnownWorker
from cadenza.domain.known_graph import AnnouncedGraph, Announcement, GraphAtWorker, KnownGraph


class PostgresWorkers(OverDatabase):
    async def beat(self, name: str, kind: str, condition: Condition) -> bool:
        how = (condition.version, condition.in_flight, condition.capacity)
        row = await self._database.fetchrow(query("beat"), name, kind, *how)
        assert row is not None
        return row["is_new"]

    async def announce(self, name: str, announcement: Announcement) -> None:
        graphs = announcement.graphs
        async with self._database.transaction() as connection:
            await connection.execute(query("announce_labels"), name, list(announcement.labels))
            await connection.execute(
                query("announce_graphs"),
                name,
                [to_text(graph.graph_id) for graph in graphs],
                [graph.problem and to_text(graph.problem) for graph in graphs],
                [graph.input_schema and to_json(graph.input_schema) for graph in graphs],
            )

    async def left(self, name: str) -> None:
        await self._database.execute(query("worker_left"), name)

    async def alive(self) -> Mapping[str, int]:
        """How many of each kind."""
        rows = await self._database.fetch(query("workers_alive"), GONE_AFTER)
        return {row["kind"]: row["count"] for row in rows}

    async def list_workers(self, limit: int) -> Sequence[KnownWorker]:
        rows = await self._database.fetch(query("list_workers"), GONE_AFTER, limit)
        return [_worker(row) for row in rows]

    async def list_graphs(self, after: str | None, limit: int) -> Sequence[KnownGraph]:
        rows = await self._database.fetch(query("list_graphs"), GONE_AFTER, after, limit)
        return list(_known(rows))

    async def find_graphs(self, graph_ids: Sequence[str]) -> Mapping[str, KnownGraph]:
        rows = await self._database.fetch(query("find_graphs"), GONE_AFTER, list(graph_ids))
        return {graph.graph_id: graph for graph in _known(rows)}


def _worker(row: Row) -> KnownWorker:
    name, kind, started_at, seen_at, is_alive, *condition, labels = row
    known = (name, kind, started_at, seen_at, is_alive)
    return KnownWorker(*known, Condition(*condition), tuple(labels))


def _known(rows: Iterable[Row]) -> Iterable[KnownGraph]:
    """Of rows in the order of their graphs."""
    for graph_id, places in groupby(rows, key=lambda row: row["graph_id"]):
        yield KnownGraph(graph_id, tuple(map(_place, places)))


def _place(row: Row) -> GraphAtWorker:
    graph = AnnouncedGraph(row["graph_id"], row["problem"], from_json(row["input_schema"]))
    labels = tuple(row["labels"])
    return GraphAtWorker(row["worker"], labels, row["seen_at"], row["is_alive"], graph)
