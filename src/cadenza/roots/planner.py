"""`cadenza planner`: a worker that lets brains look at what has run, until it is told to stop.

The rules brain always looks; a model looks beside it where one is set. Each has a planner of its
own: what a model costs, or how it fails, is nothing to the rules, and neither to the scheduler.
"""

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta
from uuid import UUID

import structlog
import typer

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.expressions.pool import endable_expressions
from cadenza.adapters.postgres.accounts import PostgresAccounts
from cadenza.adapters.postgres.analysis_queue import PostgresAnalysisQueue
from cadenza.adapters.postgres.billing import PostgresBilling
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.listener import Listener
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.system.events import LoggedEvents
from cadenza.adapters.system.ids import new_id
from cadenza.application.planner import BETWEEN_ROUNDS, Planner, PlannerOptions
from cadenza.application.planners import Planners
from cadenza.application.ports.brain import Brain
from cadenza.application.ports.secret_box import SecretBox
from cadenza.application.quotas import Quotas
from cadenza.application.session_metering import Payers
from cadenza.cli.lazy import Later, LazyGroup
from cadenza.domain.billing import TokenUsage
from cadenza.domain.endpoint import Job
from cadenza.domain.errors import InvalidInput
from cadenza.roots.brain import llm_brain, rules_brain
from cadenza.roots.expressions import expression_limits
from cadenza.roots.planner_limits import llm_prices, planner_limits
from cadenza.roots.program import opened_database, run_program, start_program
from cadenza.roots.secrets import secret_box
from cadenza.roots.settings import Settings
from cadenza.roots.worker import run_worker, worker_name

GIVES_WAY = 5  # to the scheduler, where they share a machine
log = structlog.get_logger()


class PlannerCommands(LazyGroup):
    later: Mapping[str, Later] = {
        "eval": Later(
            "cadenza.roots.planner_eval",
            "Try a prompt or a model on scenarios with known right answers, or on a job's history.",
            "Commands",
        )
    }


cli = typer.Typer(name="planner", cls=PlannerCommands)


@cli.callback(invoke_without_command=True)
def planner(ctx: typer.Context) -> None:
    """Run a planner worker: look at what has run, and advise or act within each owner's limits.

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
    ):
        await migrate(database)
        clock = DatabaseClock()
        await clock.ask(database)
        box = secret_box(settings, warn=log.warning)
        _warn_of_unknown_price(settings, clock, brains)
        planners = Planners(
            [make_planner(settings, database, box, clock, brain) for brain in brains],
            timedelta(seconds=settings.stop_seconds),
        )
        beside = [Listener(url, {"cadenza_finished": planners.wake}).run()]
        name, names = planner_name(settings), [brain.name for brain in brains]
        await run_worker("planner", name, planners, database, clock, beside, brains=names)


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
    settings: Settings, database: Database, box: SecretBox, clock: DatabaseClock, brain: Brain
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
        PostgresAnalysisQueue(database),
        Quotas(store, new_id, limits.per_month, limits.per_day),
        clock,
        CronsimCron(),
        LoggedEvents(),
        new_id,
        options,
        # Two of one name would end each other's leases.
        f"{planner_name(settings)}-{os.getpid()}",
        payers,
    )


def _warn_of_unknown_price(
    settings: Settings, clock: DatabaseClock, brains: Sequence[Brain]
) -> None:
    usual = Job(UUID(int=0), UUID(int=0), "")
    for model in filter(None, (brain.model_for(usual) for brain in brains)):
        try:
            llm_prices(settings, clock).credits(model.api, model.name, TokenUsage(1, 1))
        except InvalidInput:
            why = "limits of money do not hold, and no account can pay; see CADENZA_PRICES"
            log.warning("no price is known for the model", model=model.name, so=why)


def planner_name(settings: Settings) -> str:
    return f"{worker_name(settings)}-planner"
