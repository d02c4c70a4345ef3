"""Graphs that workers announce with their beat, on every store."""

from cadenza.application.announcing import Heartbeat
from cadenza.domain.known_graph import AnnouncedGraph, Announcement, GraphState
from tests.contracts.harness import NOON, Store
from tests.factories import seconds

SCHEMA = {"type": "object", "properties": {"topic": {"type": "string"}}}
POET = AnnouncedGraph("langgraph:poet", None, SCHEMA)
BROKEN = AnnouncedGraph("python:shop.jobs:digest", "no module named shop")


class Announcing:
    """A worker whose graphs a test changes."""

    def __init__(self, store: Store, name: str, *graphs: AnnouncedGraph, labels: str = "") -> None:
        self.current = Announcement(tuple(labels.split()), graphs)
        self.heart = Heartbeat(store.workers, name, "graph-worker", lambda: self.current)


async def test_what_a_living_worker_announces_is_known(store: Store) -> None:
    await Announcing(store, "one", POET, BROKEN, labels="gpu region=eu").heart.beat()
    poet, broken = await store.workers.list_graphs(None, 10)
    assert (poet.graph_id, poet.state, poet.input_schema) == (
        "langgraph:poet",
        GraphState.READY,
        SCHEMA,
    )
    assert (poet.seen_at, poet.workers[0].labels) == (NOON, ("gpu", "region=eu"))
    assert (broken.state, broken.problem) == (GraphState.BROKEN, "no module named shop")


async def test_a_worker_that_is_silent_is_away_and_comes_back(store: Store) -> None:
    worker = Announcing(store, "one", POET)
    await worker.heart.beat()
    await store.advance(seconds(16))
    (graph,) = await store.workers.list_graphs(None, 10)
    assert (graph.state, graph.seen_at) == (GraphState.AWAY, NOON)
    await worker.heart.beat()
    (graph,) = await store.workers.list_graphs(None, 10)
    assert (graph.state, graph.seen_at) == (GraphState.READY, NOON + seconds(16))


async def test_of_several_workers_the_best_speaks_for_the_graph(store: Store) -> None:
    failed = AnnouncedGraph("langgraph:poet", "out of memory")
    await Announcing(store, "gone", POET).heart.beat()
    await store.advance(seconds(20))
    await Announcing(store, "broken", failed).heart.beat()
    known = await store.workers.find_graphs(["langgraph:poet", "langgraph:other"])
    assert list(known) == ["langgraph:poet"]
    assert known["langgraph:poet"].problem == "out of memory"
    await Announcing(store, "good", POET).heart.beat()
    (graph,) = (await store.workers.find_graphs(["langgraph:poet"])).values()
    assert (graph.state, graph.problem) == (GraphState.READY, None)
    assert [(place.worker, place.state) for place in graph.workers] == [
        ("broken", GraphState.BROKEN),
        ("gone", GraphState.AWAY),
        ("good", GraphState.READY),
    ]


async def test_what_has_changed_takes_the_place_of_what_was(store: Store) -> None:
    worker = Announcing(store, "one", POET, BROKEN)
    await worker.heart.beat()
    worker.current = Announcement(("gpu",), (AnnouncedGraph("langgraph:poet", "it fell"),))
    await worker.heart.beat()
    (graph,) = await store.workers.list_graphs(None, 10)
    assert (graph.problem, graph.input_schema) == ("it fell", None)
    assert graph.workers[0].labels == ("gpu",)


async def test_a_worker_of_the_same_name_announces_its_own(store: Store) -> None:
    """One that was killed leaves its row; its successor may have other graphs."""
    await Announcing(store, "one", POET).heart.beat()
    await Announcing(store, "one", BROKEN).heart.beat()
    assert [graph.graph_id for graph in await store.workers.list_graphs(None, 10)] == [
        BROKEN.graph_id
    ]


async def test_a_worker_that_left_takes_its_graphs_along(store: Store) -> None:
    worker = Announcing(store, "one", POET)
    await worker.heart.beat()
    await worker.heart.end()
    assert await store.workers.list_graphs(None, 10) == []
    await worker.heart.beat()  # it was not gone after all
    assert len(await store.workers.list_graphs(None, 10)) == 1


async def test_graphs_come_in_pages_by_their_ids(store: Store) -> None:
    ids = ["langgraph:a", "python:a.b:c", "python:b:c:d", "python:Ä"]
    await Announcing(store, "one", *map(AnnouncedGraph, ids)).heart.beat()
    await Announcing(store, "two", *map(AnnouncedGraph, ids[1:])).heart.beat()
    seen: list[str] = []
    while page := await store.workers.list_graphs(seen[-1] if seen else None, 3):
        seen += [graph.graph_id for graph in page]
    assert seen == ids
