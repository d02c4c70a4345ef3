"""Two workers of one program share their room: slots and endpoints of graphs are one limit."""

import asyncio
from datetime import datetime, timedelta

import pytest

from cadenza.adapters.simulated.dispatcher import Reply, ScriptedDispatcher
from cadenza.adapters.simulated.time import run_simulated
from cadenza.adapters.system.worker_program import Workers
from cadenza.application.executions import Load
from cadenza.application.scheduler import Scheduler, SchedulerOptions
from cadenza.domain.endpoint import Every
from cadenza.domain.graph_target import GRAPHS, GraphTarget, Mandate
from cadenza.domain.run import Claim
from cadenza.domain.target import ANYWHERE
from cadenza.sim.world import World
from tests.factories import OK

SECOND = timedelta(seconds=1)
LONG = timedelta(hours=1)


async def both_within_one_limit(world: World) -> list[tuple[str, int]]:
    """Each run with the second at which it began."""
    mandate = Mandate(*(world.id_of(name) for name in ("grant", "user", "account")))
    await world.add("page", Every(LONG))
    await world.add("graph", Every(LONG), target=GraphTarget("python:a", mandate=mandate))
    begun: list[tuple[str, int]] = []
    first_at = world.clock.now()

    def answer(claim: Claim, now: datetime) -> Reply:
        begun.append((claim.endpoint_name, round((now - first_at) / SECOND)))
        return Reply(OK, 20 * SECOND)

    load, dispatcher = Load(), ScriptedDispatcher(world.clock, answer)

    def worker(runs_on: str) -> Scheduler:
        options = SchedulerOptions(in_flight=1, tick=LONG, gather=timedelta(0), runs_on=runs_on)
        queue, clock, log = world.queue, world.clock, world.log
        return Scheduler("worker", queue, dispatcher, clock, log, options, load)

    workers = Workers(worker(ANYWHERE), worker(GRAPHS))
    working = asyncio.create_task(workers.run())
    await world.live(60 * SECOND)
    assert workers.are_moving()
    workers.stop()
    await working
    return begun


def test_what_one_of_them_frees_the_other_takes_at_once() -> None:
    begun = run_simulated(both_within_one_limit(World(1, LONG)))
    assert sorted(name for name, _ in begun) == ["graph", "page"]
    first, second = sorted(at for _, at in begun)
    assert 20 <= second - first <= 24, "one after the other, and not at the next tick"


class Breaks:
    async def run(self) -> None:
        raise RuntimeError("it broke")

    def stop(self) -> None: ...

    def is_moving(self) -> bool:
        return False


class Works(Breaks):
    def __init__(self) -> None:
        self.stops = 0
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        await self._stopping.wait()

    def stop(self) -> None:
        self.stops += 1
        self._stopping.set()


async def test_where_one_worker_breaks_the_other_ends_gently_and_the_error_is_raised() -> None:
    works = Works()
    workers = Workers(works, Breaks())
    assert not workers.are_moving()
    with pytest.raises(RuntimeError, match="it broke"):
        await workers.run()
    assert works.stops == 1
