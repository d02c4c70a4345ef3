"""`cadenza planner`: a worker that lets brains look at what has run, until it is told to stop.

The rules brain always looks; a model looks beside it where one is set. Each has a planner of its
own: what a model costs, or how it fails, is nothing to the rules, and neither to the scheduler.
"""

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta

import structlog
import typer

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.expressions.pool import endable_expressions
from cadenza.adapters.postgres.accounts import PostgresAccounts
from cadenza.adapters.postgres.analysis_queue import PostgresAnalysisQueue
from cadenza.adapters.postgres.billing import PostgresBilling
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.system.events import LoggedEvents
from cadenza.adapters.system.ids import new_id
from cadenza.adapters.telemetry.catalogue import Part
from cadenza.application.planner import BETWEEN_ROUNDS, Planner, PlannerOptions
from cadenza.application.planners import Planners
from cadenza.application.ports.analysis_queue import AnalysisQueue
from cadenza.application.ports.brain import Brain
from cadenza.application.ports.secret_box import SecretBox
from cadenza.application.quotas import Quotas
from cadenza.application.session_metering import Payers
from cadenza.application.watch import UNWATCHED, Watch
from cadenza.roots.brain import llm_brain, rules_brain
from cadenza.roots.expressions import expression_limits
from cadenza.roots.listening import listening
from cadenza.roots.observability import watched
from cadenza.roots.planner_commands import PlannerCommands
from cadenza.roots.planner_limits import llm_prices, planner_limits, warn_of_unknown_price
from cadenza.roots.probing import probed
from cadenza.roots.program import opened_database, run_program, start_program
from cadenza.roots.secret_box import secret_box
from cadenza.roots.settings import Settings
from cadenza.roots.worker import run_worker, worker_name

GIVES_WAY = 5  # to the scheduler, where they share a machine
log = structlog.get_logger()


cli = typer.Typer(name="planner", cls=PlannerCommands)


@cli.callback(invoke_without_command=True)
def planner(ctx: typer.Context) -> None:
    """Run a planner worker: analyse runs, and suggest or make schedule changes.

    The rules brain needs nothing; a model looks beside it where CADENZA_LLM_PROVIDER and
    CADENZA_LLM_MODEL are set. Any number of planners share one database.

    Example: CADENZA_DATABASE_URL=postgresql://me@localhost/cadenza cadenza planner
    """
    if ctx.invoked_subcommand is not None:
        return
    settings = start_program()
    os.nice(GIVES_WAY)
    run_program(settings, lambda url: run_planner(settings, url))


async def run_planner(settings: Settings, url: str) -> None:
    async with (
        opened_database(settings, url, waits=True) as database,
        opened_brains(settings) as brains,
        watched(settings, "planner", (Part.PLANNER, Part.MODELS), database) as here,
    ):
        await migrate(database)
        clock = DatabaseClock()
        await clock.ask(database)
        box = secret_box(settings, warn=log.warning)
        warn_of_unknown_price(settings, clock, brains)
        planners = Planners(
            [
                make_planner(settings, database, box, clock, brain, watch=here.watch)
                for brain in brains
            ],
            timedelta(seconds=settings.stop_seconds),
        )
        beside = [listening(settings, database, url, {"cadenza_finished": planners.wake})]
        name, names = planner_name(settings), [brain.name for brain in brains]
        async with probed(settings, here, database):
            await run_worker(
                "planner",
                name,
                planners,
                database,
                clock,
                beside,
                brains=names,
            )


@asynccontextmanager
async def opened_brains(settings: Settings) -> AsyncGenerator[Sequence[Brain]]:
    async with endable_expressions(expression_limits(settings)) as expressions:
        rules = rules_brain(expressions)
        if settings.llm_provider is None and settings.llm_model is None:
            yield (rules,)
            return
        async with aclosing(llm_brain(settings)) as model:
            yield (rules, model)


def make_planner(
    settings: Settings,
    database: Database,
    box: SecretBox,
    clock: DatabaseClock,
    brain: Brain,
    queue: AnalysisQueue | None = None,
    watch: Watch = UNWATCHED,
) -> Planner:
    options = PlannerOptions(
        cycle=timedelta(seconds=settings.planner_cycle_seconds),
        sessions_at_once=settings.sessions_at_once,
        batch=settings.planner_batch,
        session_limit=timedelta(seconds=settings.session_seconds),
        between_rounds=BETWEEN_ROUNDS,
    )
    store, limits = PostgresStore(database, box), planner_limits(settings)
    prices = llm_prices(settings, clock)
    payers = Payers(PostgresBilling(database, box), PostgresAccounts(database), prices)
    return Planner(
        brain,
        store,
        queue or PostgresAnalysisQueue(database),
        Quotas(store, new_id, limits.per_month, limits.per_day),
        clock,
        CronsimCron(),
        watch.events(LoggedEvents()),
        new_id,
        options,
        # Two of one name would end each other's leases.
        f"{planner_name(settings)}-{os.getpid()}",
        payers,
        watch.counts,
        watch.tracer,
    )


def planner_name(settings: Settings) -> str:
    return f"{worker_name(settings)}-planner"
