"""Transitions between runs: hints, pauses, edits and run-now, as pure functions.

Each takes an endpoint and gives back the endpoint after it. While a run is in flight a transition
writes only its own fields: the next run belongs to the finish of that run, which sees them.
"""

from datetime import datetime, timedelta
from uuid import UUID

from cadenza.domain.authority import (
    author_of,
    authority_of,
    check_may_overwrite,
    may_overwrite,
)
from cadenza.domain.bounds import MAX_CHANGES_PER_HOUR
from cadenza.domain.clock_steps import CLOCK_STEP
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Baseline, Endpoint, Every, fresh_hints
from cadenza.domain.errors import AlreadyRunning, LeftAlone, Refused, TooManyChanges
from cadenza.domain.governor import after_last_slot, floor_at, hint_floor_at, plan_next_run
from cadenza.domain.hint import Author, IntervalHint, OneShotHint, Pause
from cadenza.domain.instants import FOREVER, TICK, humanize_until, iso, latest
from cadenza.domain.plan import Source
from cadenza.domain.value import replace


def begin(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
    """The first plan of a new endpoint."""
    return _planned_anew(endpoint, now, cron)


def suggest_interval(endpoint: Endpoint, hint: IntervalHint, now: datetime, cron: Cron) -> Endpoint:
    """Write an interval hint and nudge: it may bring the next run forward, never push it back."""
    endpoint = _without_expired_hints(endpoint, now)
    check_may_overwrite(author_of(hint), endpoint.interval_hint)
    return _nudged(replace(endpoint, interval_hint=hint), now, cron)


def suggest_run_at(endpoint: Endpoint, hint: OneShotHint, now: datetime, cron: Cron) -> Endpoint:
    """Write a one-shot hint and nudge; refused where it could only run after it has expired."""
    endpoint = _without_expired_hints(endpoint, now)
    check_may_overwrite(author_of(hint), endpoint.one_shot_hint)
    hint = replace(hint, run_at=max(hint.run_at, now))
    _check_can_run_in_time(endpoint, hint)
    hinted = replace(endpoint, one_shot_hint=hint)
    if endpoint.plan is not None and endpoint.plan.winner is Source.AI_ONESHOT:
        return _planned_anew(hinted, now, cron)
    return _nudged(hinted, now, cron)


def clear_hints(
    endpoint: Endpoint,
    author: Author,
    now: datetime,
    cron: Cron,
    *,
    brain: str | None = None,
    rule_id: UUID | None = None,
) -> Endpoint:
    """Drop the hints that this author may drop, and plan anew; with none to drop, do nothing."""
    authority = authority_of(author, brain, rule_id)
    fresh = _without_expired_hints(endpoint, now)
    interval, one_shot = fresh.interval_hint, fresh.one_shot_hint
    cleared = replace(
        fresh,
        interval_hint=None if may_overwrite(authority, interval) else interval,
        one_shot_hint=None if may_overwrite(authority, one_shot) else one_shot,
    )
    return endpoint if cleared == fresh else _planned_anew(cleared, now, cron)


def pause(
    endpoint: Endpoint,
    until_at: datetime | None,
    author: Author,
    reason: str,
    now: datetime,
    cron: Cron,
    *,
    session_id: UUID | None = None,
    brain: str | None = None,
    rule_id: UUID | None = None,
    user_id: UUID | None = None,
) -> Endpoint:
    """No scheduled run before an instant; None is until resumed; one already past resumes."""
    until_at = until_at or FOREVER
    if until_at <= now:
        return resume(endpoint, author, now, cron, brain=brain, rule_id=rule_id)
    pause = Pause(until_at, reason, session_id, brain, rule_id, user_id)
    if author is Author.PLANNER:
        check_may_overwrite(author_of(pause), _in_force(endpoint.planner_pause, now))
        return _planned_anew(replace(endpoint, planner_pause=pause), now, cron)
    return _planned_anew(replace(endpoint, person_pause=pause), now, cron)


def resume(
    endpoint: Endpoint,
    author: Author,
    now: datetime,
    cron: Cron,
    *,
    brain: str | None = None,
    rule_id: UUID | None = None,
) -> Endpoint:
    """Lift the pause that this author may lift; the planner never lifts a person's."""
    if endpoint.paused_until(now) is None:
        return endpoint
    person_pause = endpoint.person_pause
    if author is Author.PLANNER:
        if _in_force(person_pause, now) is not None:
            assert person_pause is not None
            raise LeftAlone(f"a person's pause {humanize_until(person_pause.until_at)}")
        authority = authority_of(author, brain, rule_id)
        check_may_overwrite(authority, _in_force(endpoint.planner_pause, now))
        return _resumed(replace(endpoint, planner_pause=None), now, cron)
    return _resumed(replace(endpoint, planner_pause=None, person_pause=None), now, cron)


def set_job_pause(
    endpoint: Endpoint, until_at: datetime | None, now: datetime, cron: Cron
) -> Endpoint:
    """The job's pause counts like the endpoint's own; None, or an instant past, lifts it."""
    was_paused = endpoint.paused_until(now) is not None
    until_at = until_at if until_at is not None and until_at > now else None
    changed = replace(endpoint, job_paused_until=until_at)
    if changed == endpoint:
        return endpoint
    if until_at is None:
        return _resumed(changed, now, cron) if was_paused else changed
    return _planned_anew(changed, now, cron)


def edit(
    endpoint: Endpoint,
    *,
    baseline: Baseline,
    min_interval: timedelta | None,
    max_interval: timedelta | None,
    now: datetime,
    cron: Cron,
    backs_off: bool = True,
) -> Endpoint:
    edited = replace(
        endpoint,
        baseline=baseline,
        min_interval=min_interval,
        max_interval=max_interval,
        backs_off=backs_off,
    )
    return endpoint if edited == endpoint else _planned_anew(edited, now, cron)


def reset_failures(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
    if endpoint.failure_count == 0:
        return endpoint
    return _planned_anew(replace(endpoint, failure_count=0), now, cron)


def archive(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
    if endpoint.archived_at is not None:
        return endpoint
    return _planned_anew(replace(endpoint, archived_at=now, manual_slot_at=None), now, cron)


def restore(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
    """As it was before it was archived; an interval that is overdue by then is due at once."""
    if endpoint.archived_at is None:
        return endpoint
    return _planned_anew(
        replace(_without_expired_hints(endpoint, now), archived_at=None), now, cron
    )


def request_run_now(endpoint: Endpoint, now: datetime) -> Endpoint:
    """A person's run: a slot of its own, now, whatever min and pause say."""
    if endpoint.archived_at is not None:
        raise Refused("it is archived")
    if endpoint.in_flight or endpoint.manual_slot_at is not None:
        raise AlreadyRunning("a run of it is in flight; try again when that has finished")
    slot_at = max(now, after_last_slot(endpoint) or now)
    if slot_at - now > CLOCK_STEP:
        slot_at = now  # the clock stepped back, and nobody waits until it has caught up
    if slot_at == endpoint.next_run_at:
        slot_at += TICK
    return replace(endpoint, manual_slot_at=slot_at)


def given_back(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
    """A claim of which nothing was sent is undone. Its slot was due and stays, unless a pause or
    the archive took it meanwhile; other transitions take effect when it has run."""
    manual_slot_at = endpoint.running_slot_at if endpoint.running_is_manual else None
    freed = replace(
        endpoint,
        running_slot_at=None,
        running_is_manual=False,
        manual_slot_at=manual_slot_at if endpoint.archived_at is None else None,
    )
    is_taken = freed.archived_at is not None or freed.paused_until(now) is not None
    return _planned_anew(freed, now, cron) if is_taken else freed


def counted_for_planner(before: Endpoint, after: Endpoint, now: datetime) -> Endpoint:
    """The planner may change an endpoint thirty times an hour; renewing a hint is no change."""
    if after == before or _is_renewal(_without_expired_hints(before, now), after):
        return after
    recent = tuple(at for at in before.planner_changes if at > now - timedelta(hours=1))
    if len(recent) >= MAX_CHANGES_PER_HOUR:
        next_at = iso(recent[0] + timedelta(hours=1))
        raise TooManyChanges(
            f"{MAX_CHANGES_PER_HOUR} changes within an hour; the next from {next_at}"
        )
    return replace(after, planner_changes=(*recent, now))


def _is_renewal(before: Endpoint, after: Endpoint) -> bool:
    old, new = before.interval_hint, after.interval_hint
    if old is None or new is None or old.interval != new.interval:
        return False
    return replace(before, interval_hint=new, plan=after.plan) == after


def _without_expired_hints(endpoint: Endpoint, now: datetime) -> Endpoint:
    interval_hint, one_shot_hint = fresh_hints(endpoint, now)
    if interval_hint is endpoint.interval_hint and one_shot_hint is endpoint.one_shot_hint:
        return endpoint
    return replace(endpoint, interval_hint=interval_hint, one_shot_hint=one_shot_hint)


def _planned_anew(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
    if endpoint.in_flight:
        return endpoint
    return replace(endpoint, plan=plan_next_run(now, endpoint, cron, after_run=False))


def _nudged(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
    """Planned anew where that is earlier than the present plan, else unchanged."""
    planned = _planned_anew(endpoint, now, cron)
    if planned.next_run_at is None:
        return endpoint
    is_earlier = endpoint.next_run_at is None or planned.next_run_at < endpoint.next_run_at
    return planned if is_earlier else endpoint


def _resumed(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
    """`every` is due at once, within its floor; everything else returns to its plan."""
    planned = _planned_anew(endpoint, now, cron)
    at_once = isinstance(endpoint.baseline, Every) and endpoint.archived_at is None
    is_paused = endpoint.paused_until(now) is not None
    if endpoint.in_flight or planned.plan is None or not at_once or is_paused:
        return planned
    floor = floor_at(endpoint, endpoint.last_run_at)
    due_at = latest(now, floor[0] if floor else None, after_last_slot(endpoint))
    clamps = (floor[1],) if floor is not None and floor[0] > now else ()
    plan = replace(planned.plan, next_run_at=due_at, clamps=clamps, session_id=None)
    return replace(planned, plan=replace(plan, source=Source.RESUMED, winner=Source.RESUMED))


def _in_force(pause: Pause | None, now: datetime) -> Pause | None:
    return pause if pause is not None and pause.until_at > now else None


def _check_can_run_in_time(endpoint: Endpoint, hint: OneShotHint) -> None:
    anchor_at, expiry = endpoint.last_run_at, iso(hint.expires_at)
    if endpoint.running_slot_at is not None and not endpoint.running_is_manual:
        anchor_at = endpoint.running_slot_at  # what is in flight starts the next cooldown
    if hint.run_at >= hint.expires_at:
        raise Refused(f"its time {iso(hint.run_at)} is not before its expiry {expiry}")
    last_slot_at = endpoint.last_slot_at
    if last_slot_at is not None and last_slot_at >= hint.expires_at:
        raise Refused(f"it had a slot at {iso(last_slot_at)} already, and slots only go forward")
    floor = hint_floor_at(endpoint, anchor_at)
    if floor is None or max(hint.run_at, floor[0]) < hint.expires_at:
        return
    what = "the target asked to wait" if floor[1] is Source.RETRY_AFTER else "cooling down"
    raise Refused(f"{what} until {iso(floor[0])}, the hint expires at {expiry}")
