"""Workers say that they live, in which version, and with how much to do."""

from cadenza.application.announcing import Heartbeat
from cadenza.application.ports.workers import GONE_AFTER, Condition
from cadenza.domain.known_graph import Announcement
from tests.contracts.harness import Store
from tests.factories import seconds


async def test_a_worker_is_listed_as_it_last_said(store: Store) -> None:
    loads = iter(((3, 200), (7, 200)))
    heart = Heartbeat(
        store.workers, "one", "scheduler", condition=lambda: Condition("1.2", *next(loads))
    )
    await heart.beat()
    await heart.beat()
    (worker,) = await store.workers.list_workers(10)
    assert (worker.name, worker.kind, worker.is_alive) == ("one", "scheduler", True)
    assert worker.condition == Condition("1.2", 7, 200)
    assert worker.started_at <= worker.seen_at


async def test_those_that_live_come_first(store: Store) -> None:
    await Heartbeat(store.workers, "a", "planner").beat()
    await store.advance(GONE_AFTER + seconds(1))
    labelled = Announcement(("gpu",))
    await Heartbeat(store.workers, "b", "scheduler", lambda: labelled).beat()
    workers = await store.workers.list_workers(10)
    assert [(worker.name, worker.is_alive) for worker in workers] == [("b", True), ("a", False)]
    assert workers[0].labels == ("gpu",)
    assert len(await store.workers.list_workers(1)) == 1
