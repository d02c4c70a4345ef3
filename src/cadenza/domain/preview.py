"""What lies ahead: the next runs, as the governor would plan them if each run went well."""

from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile

from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint, Every
from cadenza.domain.governor import plan_next_run
from cadenza.domain.instants import FOREVER
from cadenza.domain.outcome import finish_run
from cadenza.domain.plan import Source
from cadenza.domain.run import Claim, FinishedRun, Outcome, RunStatus
from cadenza.domain.target import HttpTarget

_WELL = Outcome(RunStatus.SUCCESS)
_ANY_TARGET = HttpTarget("")  # no target has a say in the schedule


@dataclass(frozen=True, slots=True)
class Upcoming:
    at: datetime
    source: Source


def next_runs(
    endpoint: Endpoint, now: datetime, cron: Cron, count: int, until_at: datetime = FOREVER
) -> list[Upcoming]:
    """The next runs with everything that is in force now, hints that expire included."""
    running_slot_at = endpoint.running_slot_at
    if running_slot_at is not None:  # assume that it began in time and ends now
        endpoint = _after_run(endpoint, running_slot_at, running_slot_at, now, cron)
    upcoming: list[Upcoming] = []
    while len(upcoming) < count and endpoint.plan is not None:
        at, source = endpoint.plan.next_run_at, endpoint.plan.source
        if at is None or source is None or at >= until_at:
            break
        now = max(at, now)
        upcoming.append(Upcoming(now, source))
        endpoint = _after_run(endpoint, at, now, now, cron)
        if _is_steady(endpoint, now):
            return upcoming + _repeated(endpoint, count - len(upcoming), until_at)
    return upcoming


def next_runs_by_baseline(
    endpoint: Endpoint, now: datetime, cron: Cron, count: int, until_at: datetime = FOREVER
) -> list[Upcoming]:
    """The same without any hint, and without a pause of the planner."""
    plain = replace(endpoint, interval_hint=None, one_shot_hint=None, planner_pause=None)
    if not plain.in_flight:
        plain = replace(plain, plan=plan_next_run(now, plain, cron, after_run=False))
    return next_runs(plain, now, cron, count, until_at)


def _is_steady(endpoint: Endpoint, now: datetime) -> bool:
    """After a run in time: nothing but its interval is in force, and nothing will end or begin."""
    bends = (endpoint.interval_hint, endpoint.one_shot_hint, endpoint.manual_slot_at)
    is_plain = isinstance(endpoint.baseline, Every) and bends == (None, None, None)
    return is_plain and endpoint.last_slot_at == now and endpoint.paused_until(now) is None


def _repeated(endpoint: Endpoint, count: int, until_at: datetime) -> list[Upcoming]:
    """From here each run is as far from the one before: to ask the governor costs 40 times more."""
    plan = endpoint.plan
    if plan is None or plan.next_run_at is None or plan.source is None or plan.anchor_at is None:
        return []
    every, source = plan.next_run_at - plan.anchor_at, plan.source
    slots = (plan.next_run_at + number * every for number in range(count))
    return [Upcoming(at, source) for at in takewhile(until_at.__gt__, slots)]


def _after_run(
    endpoint: Endpoint, slot_at: datetime, started_at: datetime, now: datetime, cron: Cron
) -> Endpoint:
    claim = Claim(
        run_id=endpoint.id,
        endpoint_id=endpoint.id,
        tenant_id=endpoint.tenant_id,
        job_id=endpoint.job_id,
        endpoint_name=endpoint.name,
        target=_ANY_TARGET,
        slot_at=slot_at,
        source=Source.BASELINE_INTERVAL,
        epoch=1,
        first_claimed_at=now,
        is_manual=endpoint.in_flight and endpoint.running_is_manual,
    )
    finished = FinishedRun(claim, _WELL, started_at, finished_at=max(started_at, now))
    return finish_run(endpoint, finished, now, cron).endpoint
