"""A flash sale to look at: the rules of examples/flash-sale.yaml lived through in simulated time,
with people who pause, hint and run by hand, and a shop that fails at times. Then time goes on."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cadenza.adapters.simulated.dispatcher import Reply
from cadenza.adapters.simulated.time import run_simulated
from cadenza.application.planner import BETWEEN_ROUNDS, PlannerOptions
from cadenza.domain.access import User
from cadenza.domain.definition import with_declared
from cadenza.domain.run import Claim, Outcome, RunStatus
from cadenza.roots.brain import rules_brain
from cadenza.roots.examples import example_job
from cadenza.sim.flash_sale_story import metrics_at
from cadenza.sim.world import START, World
from tests.backends import MemoryBackend
from tests.factories import minutes, seconds
from tests.web.support import ADMIN, House, Site, give_key

LENGTH = minutes(44)
Deed = tuple[float, Callable[[], Coroutine[Any, Any, object]]]


class Onwards:
    """The Clock port: from a simulated moment on, as time goes."""

    def __init__(self, at: datetime) -> None:
        self._at = at
        self._began = time.monotonic()

    def now(self) -> datetime:
        return self._at + timedelta(seconds=time.monotonic() - self._began)

    async def sleep(self, duration: timedelta) -> None:
        await asyncio.sleep(max(0.0, duration.total_seconds()))


def lived() -> World:
    world = World(7, LENGTH)
    run_simulated(_live(world))
    world.tables.clock = Onwards(START + LENGTH)
    return world


@asynccontextmanager
async def sold(world: World) -> AsyncIterator[MemoryBackend]:
    yield MemoryBackend(world.tables)


async def owner_of(site: Site, world: World) -> House:
    """Ada, who was there, with a key."""
    owner = world.owner
    house = House(site.client, owner.tenant_id, "simulated", owner.user_id)
    house.keys[ADMIN] = await give_key(site.backend, house, ADMIN)
    return house


async def _live(world: World) -> None:
    job = example_job("flash-sale.yaml")
    world.job = with_declared(world.job, job, world.chance.new_id)
    for endpoint in job.endpoints:
        least, most = endpoint.min_interval, endpoint.max_interval
        await world.add(
            endpoint.name, endpoint.baseline, least=least, most=most, target=endpoint.target
        )
    owner = world.owner
    world.tables.users[owner.user_id] = User(owner.user_id, owner.tenant_id, "ada", START)
    options = PlannerOptions(between_rounds=BETWEEN_ROUNDS)
    async with (
        world.planner(rules_brain(), options),
        world.worker(lambda *run: _reply(world, *run)),
    ):
        people = asyncio.create_task(_steer(world))
        await world.live(LENGTH)
        await people


def _reply(world: World, claim: Claim, now: datetime) -> Reply:
    about, minute = (claim.endpoint_name, claim.slot_at), (now - START) / minutes(1)
    takes = seconds(world.chance.between(0.02, 0.3, *about))
    if claim.endpoint_name == "inventory_sync_check" and 15 < minute < 18.2:
        return Reply(_failed(503, "the stock service is restarting"), takes)
    if claim.endpoint_name == "slack_operations" and 13 < minute < 15:
        return Reply(_failed(429, "too many messages"), takes)
    if claim.endpoint_name == "database_query_trace" and 17.4 < minute < 18.6:
        return Reply(_failed(None, ""), seconds(60))
    body: dict[str, Any] = {
        name: round(value * world.chance.between(1.0, 1.02, name, *about))
        for name, value in metrics_at(now).items()
    }
    return Reply(Outcome(RunStatus.SUCCESS, status_code=200, body=body), takes)


def _failed(status: int | None, message: str) -> Outcome:
    return Outcome(RunStatus.FAILURE, "http", f"HTTP {status}: {message}", status_code=status)


# --- What people do -------------------------------------------------------------------------


async def _steer(world: World) -> None:
    for minute, deed in _deeds(world):
        await world.clock.sleep(START + minutes(minute) - world.clock.now())
        await deed()


def _deeds(world: World) -> list[Deed]:
    steering, ada = world.steering, world.owner

    def of(name: str) -> UUID:
        return world.id_of(name)

    def pause(name: str, minute: float, lasts: float, why: str) -> Deed:
        until_at = START + minutes(minute + lasts)
        return minute, lambda: steering.pause(ada, of(name), until_at, why)

    def hint(name: str, minute: float, every: float, lasts: float, why: str) -> Deed:
        wish = (seconds(every), minutes(lasts), why)
        return minute, lambda: steering.hint_interval(ada, of(name), *wish)

    def run(name: str, minute: float) -> Deed:
        return minute, lambda: steering.run_now(ada, of(name))

    def ask(name: str, minute: float, after: float, why: str) -> Deed:
        wish = (minutes(after), minutes(5), why, f"in {after} min")
        return minute, lambda: steering.hint_run(ada, of(name), *wish)

    return [
        run("order_processor_health", 11.5),
        pause("order_processor_health", 24, 6.4, "deploying the order service"),
        hint("inventory_sync_check", 26, 45, 6, "watching the new stock feed"),
        run("cache_warm_up", 28.3),
        pause("traffic_monitor", 35, 2, "load test of the new pages"),
        run("slow_page_analyzer", 36.5),
        hint("traffic_monitor", 39, 30, 5, "a second wave may come"),
        ask("inventory_sync_check", 39.3, 3.8, "check the stock before the report"),
    ]
