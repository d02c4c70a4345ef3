"""A scheduler follows a database whose clock stepped back, and says so."""

from datetime import timedelta

import structlog

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.system.worker_program import log_trouble
from cadenza.application.clock_steps import LOOK_AGAIN, ClockSteps
from cadenza.application.ports.secret_box import SecretBox
from cadenza.application.repeat import repeat
from cadenza.application.scheduler import Scheduler
from cadenza.application.waiting import until_set
from cadenza.domain.instants import humanize

A_MOMENT = timedelta(seconds=1)
A_DAY = timedelta(days=1)
log = structlog.get_logger()


async def follow_clock_steps(
    database: Database, box: SecretBox, clock: DatabaseClock, worker: Scheduler, lease: timedelta
) -> None:
    """At the start, for the step may have been while nobody worked, and after each step."""
    steps = ClockSteps(PostgresStore(database, box), CronsimCron(), lease)

    async def settle_and_wait() -> None:
        settled = await steps.settle()
        if settled.restarted:
            by, count = humanize(settled.ahead_by), settled.restarted
            log.warning("the database's clock stepped back", ahead_by=by, endpoints=count)
        await until_set(clock.stepped_back, at_most=LOOK_AGAIN if settled.left else A_DAY)
        if clock.stepped_back.is_set():
            clock.stepped_back.clear()
            worker.renew_soon()  # before somebody cuts our leases short

    await repeat(settle_and_wait, clock, A_MOMENT, log_trouble)
