"""A life that is lived again: the real planner, tools and governor, with answers of the past."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import Tables
from cadenza.adapters.simulated.log import EventLog
from cadenza.adapters.system.ids import new_id
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.planner import Planner
from cadenza.application.population import populate
from cadenza.application.ports.brain import Brain
from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.quotas import Quotas
from cadenza.domain.definition import JobDefinition
from cadenza.domain.errors import BrainFailed, InstallationError
from cadenza.domain.rule import Mode
from cadenza.domain.run import Claim, FinishedRun, Outcome, RunStatus
from cadenza.domain.session import Session, SessionEnd
from cadenza.domain.target import HttpTarget
from cadenza.replay.history import History
from cadenza.replay.purse import Purse

MOST_ROUNDS = 200_000
FAILURES_IN_A_ROW = 3
_STEP = timedelta(milliseconds=1)  # a look comes after the runs that led to it
_ALL = ClaimRequest("replay", 1000, timedelta(minutes=1), per_tenant=1000, per_host=1000)


@dataclass(slots=True)
class Life:
    """When each endpoint was asked, and the sessions that did or wanted something."""

    end: datetime
    is_cut: bool  # it ended before the history did: nothing was left to spend
    probes: dict[str, list[datetime]] = field(default_factory=dict[str, list[datetime]])
    sessions: list[Session] = field(default_factory=list[Session])

    @property
    def failed(self) -> int:
        return sum(session.end is SessionEnd.FAILED for session in self.sessions)


class SetClock:
    """The Clock port for a life that goes from one event to the next."""

    def __init__(self, now: datetime) -> None:
        self.at = now

    def now(self) -> datetime:
        return self.at

    async def sleep(self, duration: timedelta) -> None:
        self.at += max(duration, timedelta(0))


async def relive(
    job: JobDefinition,
    histories: Mapping[str, History],
    begin: datetime,
    end: datetime,
    brain: Brain | None,
    purse: Purse | None = None,
) -> Life:
    """With no brain: what the baselines alone would have done. Nothing is written anywhere.

    It ends sooner where the purse is empty.
    """
    clock = SetClock(begin)
    tables, cron = Tables(clock, new_id), CronsimCron()
    memory = MemoryStores(tables)
    queue = ClaimedRuns(memory.claims, memory.store, cron)
    await populate(memory.store, cron, new_id, _replayed(job))
    planner = None
    if brain is not None:
        quota = purse or Quotas(memory.store, new_id)
        stores = (memory.store, memory.analysis_queue, quota)
        planner = Planner(brain, *stores, clock, cron, EventLog(), new_id)
    failures = 0
    for _ in range(MOST_ROUNDS):
        due = [row.endpoint.next_run_at for row in tables.endpoints.values()]
        next_at = min((at for at in due if at is not None), default=None)
        if next_at is None or next_at > end:
            return _life(tables, end, is_cut=False)
        clock.at = max(clock.at + _STEP, next_at)
        claims = (await queue.claim_due(_ALL)).claims
        await queue.finish([_finished(claim, histories, clock.at) for claim in claims])
        if planner is not None:
            known = len(tables.sessions)
            done = await planner.run_once()
            if done.over_quota:
                return _life(tables, clock.at, is_cut=True)
            failures = _failures(failures, list(islice(tables.sessions.values(), known, None)))
    raise InstallationError(
        "The replay is too long: take a shorter --since, or one --job at a time"
    )


def _replayed(job: JobDefinition) -> JobDefinition:
    """It calls nobody, and one that only advises is asked what would come of its advice."""
    target = HttpTarget("http://replay.invalid/")
    endpoints = tuple(replace(endpoint, target=target) for endpoint in job.endpoints)
    return replace(job, endpoints=endpoints, planner=job.planner.all_in(Mode.ACT))


def _finished(claim: Claim, histories: Mapping[str, History], now: datetime) -> FinishedRun:
    known = histories.get(claim.endpoint_name)
    then = known.at(now) if known is not None else None
    outcome = Outcome(RunStatus.SUCCESS)  # one that was never asked may have said anything
    if then is not None:
        outcome = Outcome(then.status, status_code=then.status_code, body=then.body)
    return FinishedRun(claim, outcome, now, now)


def _failures(before: int, sessions: Sequence[Session]) -> int:
    """How many rounds in a row brought nothing but failures.

    A provider that is away stays away for this replay: its time is not that of the history.
    """
    if not sessions:
        return before
    if any(session.end is not SessionEnd.FAILED for session in sessions):
        return 0
    if before + 1 == FAILURES_IN_A_ROW:
        raise BrainFailed("; ".join(sessions[-1].warnings))
    return before + 1


def _life(tables: Tables, end: datetime, *, is_cut: bool) -> Life:
    endpoints = [row.endpoint for row in tables.endpoints.values()]
    probes = {endpoint.name: sorted(tables.runs_of[endpoint.id]) for endpoint in endpoints}
    return Life(end, is_cut, probes, list(tables.sessions.values()))
