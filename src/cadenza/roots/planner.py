"""`cadenza planner`: a worker that lets brains look at what has run, until it is told to stop.

The rules brain always looks; a model looks beside it where one is set. Each has a planner of its
own: what a model costs, or how it fails, is nothing to the rules, and neither to the scheduler.
"""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import structlog
import typer
import uvloop

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.postgres.analysis_queue import PostgresAnalysisQueue
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.endpoints import PostgresEndpointStore
from cadenza.adapters.postgres.listener import Listener
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.quota import PostgresQuota
from cadenza.adapters.postgres.workers import BEAT_EVERY, PostgresWorkers
from cadenza.adapters.system.events import LoggedEvents
from cadenza.adapters.system.ids import new_id
from cadenza.application.planner import BETWEEN_ROUNDS, Planner, PlannerOptions
from cadenza.application.ports.brain import Brain
from cadenza.application.ports.secret_box import SecretBox
from cadenza.application.repeat import repeat
from cadenza.application.waiting import end_all
from cadenza.domain.errors import StoreUnavailable
from cadenza.roots.brain import llm_brain, rules_brain
from cadenza.roots.database import database_url, opened_database
from cadenza.roots.logging import set_up_logs
from cadenza.roots.parent import end_with_parent
from cadenza.roots.scheduler import worker_name
from cadenza.roots.secrets import secret_box
from cadenza.roots.settings import Settings, read_settings

GIVES_WAY = 5  # to the scheduler, where they share a machine
log = structlog.get_logger()


def register(app: typer.Typer) -> None:
    app.command()(planner)


def planner() -> None:
    """Run a planner worker: look at what has run, and advise or act within each owner's limits.

    The rules brain needs nothing; a model looks beside it where CADENZA_LLM_PROVIDER and
    CADENZA_LLM_MODEL are set. Any number of planners share one database.

    Example: CADENZA_DATABASE_URL=postgresql://me@localhost/cadenza cadenza planner
    """
    settings = read_settings()
    set_up_logs(as_json=settings.log_json)
    end_with_parent()
    os.nice(GIVES_WAY)
    with (
        database_url(settings) as url,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(run_planner(settings, url))


async def run_planner(settings: Settings, url: str) -> None:
    async with opened_database(settings, url) as database, brains(settings) as thinking:
        await migrate(database)
        clock = DatabaseClock()
        await clock.ask(database)
        box = secret_box(settings, warn=log.warning)
        planners = [make_planner(settings, database, box, clock, each) for each in thinking]

        def wake() -> None:
            for each in planners:
                each.wake()

        beside = _tasks_beside(settings, url, database, clock, wake)
        log.info("planner started", brains=[each.name for each in thinking])
        try:
            await _live(planners, beside, settings.stop_seconds)
        finally:
            with suppress(StoreUnavailable):
                await PostgresWorkers(database).left(planner_name(settings))
            log.info("planner stopped")


@asynccontextmanager
async def brains(settings: Settings) -> AsyncGenerator[Sequence[Brain]]:
    rules = rules_brain()
    if settings.llm_provider is None and settings.llm_model is None:
        yield (rules,)
        return
    model = llm_brain(settings)
    try:
        yield (rules, model)
    finally:
        await model.close()


def make_planner(
    settings: Settings, database: Database, box: SecretBox, clock: DatabaseClock, brain: Brain
) -> Planner:
    options = PlannerOptions(
        cycle=timedelta(seconds=settings.planner_cycle_seconds),
        sessions_at_once=settings.sessions_at_once,
        batch=settings.planner_batch,
        session_limit=timedelta(seconds=settings.session_seconds),
        between_rounds=BETWEEN_ROUNDS,
    )
    return Planner(
        brain,
        PostgresEndpointStore(database, CronsimCron(), box),
        PostgresAnalysisQueue(database),
        PostgresQuota(database, settings.tokens_per_month, settings.money_per_month),
        clock,
        LoggedEvents(),
        new_id,
        options,
        # Two of one name would end each other's leases.
        f"{planner_name(settings)}-{os.getpid()}",
    )


def planner_name(settings: Settings) -> str:
    return f"{worker_name(settings)}-planner"


# --- Its life ---------------------------------------------------------------------------------


def _tasks_beside(
    settings: Settings, url: str, database: Database, clock: DatabaseClock, wake: Callable[[], None]
) -> list[asyncio.Task[None]]:
    async def beat() -> None:
        await PostgresWorkers(database).beat(planner_name(settings), "planner")
        await clock.ask(database)

    return [
        asyncio.create_task(repeat(beat, clock, BEAT_EVERY, _trouble)),
        asyncio.create_task(Listener(url, {"cadenza_finished": wake}).run()),
    ]


async def _live(
    planners: Sequence[Planner], beside: list[asyncio.Task[None]], stop_seconds: float
) -> None:
    """Until a signal; sessions under way may end, and what is left of them is put on record."""
    working = [asyncio.create_task(each.run()) for each in planners]
    told = asyncio.create_task(_told_to_stop())
    try:
        await asyncio.wait({*working, *beside, told}, return_when=asyncio.FIRST_COMPLETED)
        for each in planners:
            each.stop()
        await asyncio.wait(working, timeout=stop_seconds)
    finally:
        try:
            await end_all([*working, *beside, told])
        finally:
            for each in planners:
                with suppress(StoreUnavailable):
                    await each.clean_up()


async def _told_to_stop() -> None:
    told, loop = asyncio.Event(), asyncio.get_running_loop()

    def stop(number: signal.Signals) -> None:
        log.info("stopping; a second signal stops at once", signal=number.name)
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(each)
        told.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    await told.wait()


def _trouble(error: StoreUnavailable) -> None:
    log.warning("the database does not answer; trying again", error=str(error))
