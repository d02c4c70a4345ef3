"""The governor decides every next run. Pure: the same input gives the same plan, always.

The order of the rules is the order of the functions below: candidates, choice, guardrails,
overrun, pause, and slots that strictly increase. The outcome of the finished run has been
applied before (`outcome.apply_outcome`).
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from cadenza.domain.backoff import backed_off, jitter, phase
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import PLATFORM_MIN_INTERVAL, CronLine, Endpoint, Every, OnDemand
from cadenza.domain.errors import InvalidCron
from cadenza.domain.instants import FOREVER, TICK, latest
from cadenza.domain.plan import Candidate, Inputs, Plan, Source
from cadenza.domain.value import value

NO_JITTER = timedelta(0)
_HINTS = (Source.AI_INTERVAL, Source.AI_ONESHOT)


def plan_next_run(now: datetime, endpoint: Endpoint, cron: Cron, *, after_run: bool = True) -> Plan:
    """When the endpoint runs next, and why."""
    try:
        return _planned(now, endpoint, cron, after_run)
    except InvalidCron as error:
        # A zone can leave the database of zones: the endpoint sleeps and says why, and a batch
        # of finished runs that it is part of does not fail with it.
        asleep = replace(endpoint, baseline=OnDemand())
        return replace(_planned(now, asleep, cron, after_run), note=str(error))


def _planned(now: datetime, endpoint: Endpoint, cron: Cron, after_run: bool) -> Plan:
    situation = _Situation(now, endpoint, cron, after_run, endpoint.last_run_at)
    if endpoint.archived_at is not None:
        return _plan(situation, _Decision())
    pause_end, due_at = endpoint.paused_until(now), endpoint.next_run_at
    is_due = due_at is not None and due_at <= now
    cools = _cools_after_a_person(endpoint, now)
    if endpoint.plan is not None and is_due and not (after_run or pause_end or cools):
        return endpoint.plan
    decision = _decide(situation)
    if after_run and decision.at is not None and decision.at < now:
        # A run longer than its interval, or than its max, is never followed at once.
        situation = _Situation(now, endpoint, cron, after_run, now, overrun=True)
        decision = _decide(situation)
    decision = _hold_back_for_pause(situation, decision, pause_end)
    decision = _keep_slots_increasing(situation, decision)
    return _plan(situation, decision)


def floor_at(endpoint: Endpoint, anchor_at: datetime | None) -> tuple[datetime, Source] | None:
    """Before this nothing may be planned: min from the anchor, or what the target asked for."""
    floor = None
    if anchor_at is not None:
        min_interval = endpoint.min_interval or PLATFORM_MIN_INTERVAL
        floor = (anchor_at + min_interval, Source.CLAMPED_MIN)
    not_before_at = endpoint.not_before_at
    if not_before_at is not None and (floor is None or not_before_at > floor[0]):
        floor = (not_before_at, Source.RETRY_AFTER)
    return floor


def hint_floor_at(endpoint: Endpoint, anchor_at: datetime | None) -> tuple[datetime, Source] | None:
    """The same for hints: a run that a person asked for starts their cooldown, too."""
    return floor_at(endpoint, latest(anchor_at, endpoint.cools_from))


def _cools_after_a_person(endpoint: Endpoint, now: datetime) -> bool:
    """Whether what is due is a hint's, which has to wait after a person's run."""
    if endpoint.plan is None or endpoint.plan.winner not in _HINTS or endpoint.cools_from is None:
        return False
    floor = hint_floor_at(endpoint, endpoint.last_run_at)
    return floor is not None and floor[0] > now


def after_last_slot(endpoint: Endpoint) -> datetime | None:
    """The first instant that can be a slot: a run-now that still waits has taken its own."""
    last_slot_at = latest(endpoint.last_slot_at, endpoint.manual_slot_at)
    return None if last_slot_at is None else last_slot_at + TICK


@value
class _Situation:
    """An endpoint at an instant, measured from its anchor, or from now after an overrun."""

    now: datetime
    endpoint: Endpoint
    cron: Cron
    after_run: bool
    anchor_at: datetime | None
    overrun: bool = False

    def first_at_or_after(self, line: CronLine, instant: datetime) -> datetime:
        return self.cron.next_after(line.expression, line.timezone, instant - TICK)

    def soonest(self, at: datetime, anchor_at: datetime | None) -> datetime:
        """Where the floor, and slots that strictly increase, would move a hint's time."""
        floor = hint_floor_at(self.endpoint, anchor_at)
        soonest = latest(at, floor[0] if floor else None, after_last_slot(self.endpoint))
        return soonest or at


class _Decision(NamedTuple):
    at: datetime | None = None
    source: Source | None = None
    winner: Source | None = None
    clamps: tuple[Source, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    jitter: timedelta = NO_JITTER


def _decide(situation: _Situation) -> _Decision:
    interval = _interval_candidate(situation)
    one_shot = _one_shot_candidate(situation)
    baseline, drift = _baseline_candidate(situation, interval)
    interval, one_shot = _if_not_cooling(situation, baseline, interval, one_shot)
    considered = tuple(filter(None, (baseline, interval, one_shot)))
    chosen = _choose(baseline, _if_open(interval), _if_open(one_shot))
    if chosen is None:
        return _Decision(candidates=considered, jitter=drift)
    at, clamps = _within_guardrails(situation, chosen)
    source = clamps[-1] if clamps else chosen.source
    return _Decision(at, source, chosen.source, clamps, considered, drift)


def _baseline_candidate(
    situation: _Situation, interval_hint: Candidate | None
) -> tuple[Candidate | None, timedelta]:
    """The owner's own schedule; behind a hint that cannot act any more, not before it expires."""
    endpoint, baseline = situation.endpoint, situation.endpoint.baseline
    not_before = None
    if interval_hint is not None and interval_hint.excluded == _OUTLIVED:
        assert endpoint.interval_hint is not None
        not_before = endpoint.interval_hint.expires_at
    if isinstance(baseline, Every):
        at, drift = _next_interval(situation, baseline)
        return Candidate(Source.BASELINE_INTERVAL, max(at, not_before or at)), drift
    if isinstance(baseline, CronLine):
        after = max(situation.now, endpoint.last_slot_at or situation.now)
        at = situation.cron.next_after(baseline.expression, baseline.timezone, after)
        if not_before is not None and at < not_before:
            at = situation.first_at_or_after(baseline, not_before)
        return Candidate(Source.BASELINE_CRON, at), NO_JITTER
    return None, NO_JITTER


def _next_interval(situation: _Situation, baseline: Every) -> tuple[datetime, timedelta]:
    endpoint = situation.endpoint
    drift = NO_JITTER
    if situation.anchor_at is None:
        at = endpoint.created_at + phase(endpoint.id, baseline.interval, endpoint.spread)
    else:
        interval = backed_off(baseline.interval, endpoint.slowing_failures)
        if endpoint.slowing_failures:
            slot_at = endpoint.last_slot_at or situation.anchor_at
            drift = jitter(endpoint.id, slot_at, interval, endpoint.spread)
        at = situation.anchor_at + interval + drift
    if not situation.after_run:
        at = max(at, situation.now)
    return at, drift


_OUTLIVED = "it would act after it has expired"
_PAUSED_OUT = "it expires before the pause ends"
_PAST_MAX = "it is later than max allows"
_COOLING = "it cools down after a person's run, and the baseline comes first"


def _interval_candidate(situation: _Situation) -> Candidate | None:
    hint, now = situation.endpoint.interval_hint, situation.now
    if hint is None or hint.expires_at <= now:
        return None
    at = (situation.anchor_at or now) + hint.interval
    if at < now and not situation.after_run:
        at = now + hint.interval
    excluded = None
    if _expires_in_pause(situation, hint.expires_at):
        excluded = _PAUSED_OUT
    elif situation.soonest(at, situation.anchor_at) > hint.expires_at:
        excluded = _OUTLIVED
    return Candidate(Source.AI_INTERVAL, at, excluded)


def _one_shot_candidate(situation: _Situation) -> Candidate | None:
    endpoint, now = situation.endpoint, situation.now
    hint = endpoint.one_shot_hint
    if hint is None or hint.expires_at <= now:
        return None
    at = hint.run_at
    if situation.overrun or not situation.after_run:
        at = max(at, now)
    excluded = None
    if _expires_in_pause(situation, hint.expires_at):
        excluded = _PAUSED_OUT
    elif situation.soonest(at, endpoint.last_run_at) >= hint.expires_at:
        # Its min counts from the true anchor, also after an overrun.
        excluded = _OUTLIVED
    elif not isinstance(endpoint.baseline, OnDemand):
        ceiling = _ceiling(situation)
        if ceiling is not None and at > max(now, ceiling):
            excluded = _PAST_MAX
    return Candidate(Source.AI_ONESHOT, at, excluded)


def _expires_in_pause(situation: _Situation, expires_at: datetime) -> bool:
    pause_end = situation.endpoint.paused_until(situation.now)
    return pause_end is not None and expires_at <= pause_end


def _if_not_cooling(
    situation: _Situation, baseline: Candidate | None, *hints: Candidate | None
) -> list[Candidate | None]:
    """A hint that has to wait after a person's run holds up no baseline."""
    endpoint = situation.endpoint
    cools_from = endpoint.cools_from
    if baseline is None or cools_from is None:
        return list(hints)
    ready_at = cools_from + (endpoint.min_interval or PLATFORM_MIN_INTERVAL)
    baseline_at, _ = _within_guardrails(situation, baseline)
    return [
        replace(hint, excluded=_COOLING)
        if hint is not None and hint.excluded is None and hint.at < ready_at > baseline_at
        else hint
        for hint in hints
    ]


def _if_open(candidate: Candidate | None) -> Candidate | None:
    return candidate if candidate is not None and candidate.excluded is None else None


def _choose(
    baseline: Candidate | None, interval: Candidate | None, one_shot: Candidate | None
) -> Candidate | None:
    """An interval hint overrides the baseline; a one-shot competes with what is left."""
    rival = interval or baseline
    if one_shot is None or rival is None:
        return one_shot or rival
    if one_shot.at == rival.at:
        return interval or one_shot
    return one_shot if one_shot.at < rival.at else rival


def _within_guardrails(
    situation: _Situation, chosen: Candidate
) -> tuple[datetime, tuple[Source, ...]]:
    """Ceiling first, then floor, so that the floor wins."""
    at, clamps = chosen.at, ()
    one_shot = chosen.source is Source.AI_ONESHOT
    ceiling = None if one_shot else _ceiling(situation)
    if ceiling is not None and not situation.after_run:
        ceiling = max(ceiling, situation.now)
    if ceiling is not None and at > ceiling:
        at, clamps = ceiling, (Source.CLAMPED_MAX,)
    anchor_at = situation.endpoint.last_run_at if one_shot else situation.anchor_at
    is_hint = chosen.source in _HINTS
    floor = (hint_floor_at if is_hint else floor_at)(situation.endpoint, anchor_at)
    if floor is not None and at < floor[0]:
        at, clamps = floor[0], (*clamps, floor[1])
        if chosen.source is Source.BASELINE_CRON:
            at = _on_grid(situation, at)
    return at, clamps


def _ceiling(situation: _Situation) -> datetime | None:
    max_interval = situation.endpoint.max_interval
    if max_interval is None or situation.anchor_at is None:
        return None
    return situation.anchor_at + max_interval


def _on_grid(situation: _Situation, at: datetime) -> datetime:
    assert isinstance(situation.endpoint.baseline, CronLine)
    return situation.first_at_or_after(situation.endpoint.baseline, at)


def _hold_back_for_pause(
    situation: _Situation, decision: _Decision, pause_end: datetime | None
) -> _Decision:
    if pause_end is None or decision.at is None or decision.at >= pause_end:
        return decision
    at = pause_end
    if decision.winner is Source.BASELINE_CRON and pause_end < FOREVER:
        at = _on_grid(situation, pause_end)
    return decision._replace(at=at, source=Source.PAUSED)


def _keep_slots_increasing(situation: _Situation, decision: _Decision) -> _Decision:
    at = after_last_slot(situation.endpoint)
    if at is None or decision.at is None or decision.at >= at:
        return decision
    if decision.winner is Source.BASELINE_CRON:
        at = _on_grid(situation, at)
    return decision._replace(at=at)


def _plan(situation: _Situation, decision: _Decision) -> Plan:
    endpoint = situation.endpoint
    return Plan(
        next_run_at=decision.at,
        source=decision.source,
        anchor_at=situation.anchor_at,
        winner=decision.winner,
        candidates=decision.candidates,
        clamps=decision.clamps,
        inputs=Inputs(
            now=situation.now,
            after_run=situation.after_run,
            anchor_at=endpoint.last_run_at,
            last_slot_at=endpoint.last_slot_at,
            failure_count=endpoint.failure_count,
            jitter=decision.jitter,
            overrun=situation.overrun,
        ),
        session_id=_decided_by(situation, decision),
    )


def _decided_by(situation: _Situation, decision: _Decision) -> UUID | None:
    """The analysis that wrote the hint or the pause which this plan comes from."""
    endpoint = situation.endpoint
    advice = endpoint.interval_hint if decision.winner is Source.AI_INTERVAL else None
    if decision.winner is Source.AI_ONESHOT:
        advice = endpoint.one_shot_hint
    if decision.source is Source.PAUSED:
        pause = endpoint.planner_pause
        decides = pause is not None and pause.until_at == endpoint.paused_until(situation.now)
        return pause.session_id if pause is not None and decides else None
    return advice.session_id if advice is not None else None
