"""Endpoints between rows and values."""

from datetime import datetime, timedelta
from typing import Any

import asyncpg
import pydantic_core

from cadenza.adapters.postgres.storable import from_json, to_text
from cadenza.domain.endpoint import Baseline, CronLine, Endpoint, Every, OnDemand
from cadenza.domain.hint import Author, IntervalHint, OneShotHint, Pause
from cadenza.domain.instants import milliseconds
from cadenza.domain.plan import Plan
from cadenza.domain.run import RunStatus

Row = asyncpg.Record
MILLISECOND = timedelta(milliseconds=1)
# Looked up here: an enum takes its time, and rows come by hundreds.
STATUSES = {str(status): status for status in RunStatus}
_AUTHORS = {str(author): author for author in Author}


def endpoint_of(row: Row, spread: timedelta) -> Endpoint:
    plan = row["plan"]
    return Endpoint(
        id=row["id"],
        tenant_id=row["tenant_id"],
        job_id=row["job_id"],
        name=row["name"],
        baseline=baseline_of(row),
        created_at=row["created_at"],
        min_interval=duration_of(row["min_interval_ms"]),
        max_interval=duration_of(row["max_interval_ms"]),
        backs_off=row["backs_off"],
        interval_hint=_interval_hint(row),
        one_shot_hint=_one_shot_hint(row),
        person_pause=_person_pause(row),
        planner_pause=_planner_pause(row),
        job_paused_until=row["job_paused_until"],
        archived_at=row["archived_at"],
        failure_count=row["failure_count"],
        not_before_at=row["not_before_at"],
        last_run_at=row["last_run_at"],
        last_slot_at=row["last_slot_at"],
        plan=Plan.from_record(from_json(plan)) if plan is not None else None,
        running_slot_at=row["running_slot_at"],
        running_is_manual=row["running_is_manual"],
        manual_slot_at=row["manual_slot_at"],
        person_ran_at=row["person_ran_at"],
        planner_changes=tuple(row["planner_changes"]),
        spread=spread,
    )


def endpoint_values(endpoint: Endpoint) -> tuple[Any, ...]:
    """What a transition may change: the first parameters of insert_endpoint and save_endpoint."""
    baseline = endpoint.baseline
    every = baseline.interval if isinstance(baseline, Every) else None
    cron = baseline if isinstance(baseline, CronLine) else None
    interval, shot = endpoint.interval_hint, endpoint.one_shot_hint
    person, planner = endpoint.person_pause, endpoint.planner_pause
    return (
        endpoint.id,
        to_text(endpoint.name),
        endpoint.archived_at,
        ms(every),
        cron.expression if cron else None,
        cron.timezone if cron else None,
        ms(endpoint.min_interval),
        ms(endpoint.max_interval),
        ms(interval.interval) if interval else None,
        *_hint_values(interval),
        shot.run_at if shot else None,
        *_hint_values(shot),
        person.until_at if person else None,
        to_text(person.reason) if person else None,
        person.user_id if person else None,
        planner.until_at if planner else None,
        to_text(planner.reason) if planner else None,
        planner.session_id if planner else None,
        planner.brain if planner else None,
        planner.rule_id if planner else None,
        endpoint.job_paused_until,
        list(endpoint.planner_changes),
        endpoint.failure_count,
        endpoint.not_before_at,
        endpoint.last_run_at,
        endpoint.last_slot_at,
        endpoint.next_run_at,
        endpoint.next_source,
        plan_json(endpoint.plan),
        endpoint.manual_slot_at,
        endpoint.backs_off,
    )


def _hint_values(hint: IntervalHint | OneShotHint | None) -> tuple[Any, ...]:
    if hint is None:
        return (None,) * 7
    return (
        hint.expires_at,
        hint.author,
        to_text(hint.reason),
        hint.session_id,
        hint.user_id,
        hint.brain,
        hint.rule_id,
    )


def plan_json(plan: Plan | None) -> str | None:
    return None if plan is None else pydantic_core.to_json(plan.record(_as_it_is)).decode()


def _as_it_is(instant: datetime) -> datetime:
    return instant


def baseline_of(row: Row) -> Baseline:
    if row["baseline_interval_ms"] is not None:
        return Every(row["baseline_interval_ms"] * MILLISECOND)
    if row["baseline_cron"] is not None:
        return CronLine(row["baseline_cron"], row["timezone"])
    return OnDemand()


def _interval_hint(row: Row) -> IntervalHint | None:
    interval_ms = row["hint_interval_ms"]
    if interval_ms is None:
        return None
    return IntervalHint(interval_ms * MILLISECOND, *_hint_of(row, "hint_interval"))


def _one_shot_hint(row: Row) -> OneShotHint | None:
    run_at = row["hint_run_at"]
    return None if run_at is None else OneShotHint(run_at, *_hint_of(row, "hint_run"))


def _hint_of(row: Row, column: str) -> tuple[Any, ...]:
    """What both kinds of hint have, in the order of their fields."""
    return (
        row[f"{column}_expires_at"],
        _AUTHORS[row[f"{column}_author"]],
        row[f"{column}_reason"] or "",
        row[f"{column}_session_id"],
        row[f"{column}_brain"],
        row[f"{column}_rule_id"],
        row[f"{column}_user_id"],
    )


def _person_pause(row: Row) -> Pause | None:
    until_at = row["person_paused_until"]
    if until_at is None:
        return None
    reason = row["person_pause_reason"] or ""
    return Pause(until_at, reason, user_id=row["person_pause_user_id"])


def _planner_pause(row: Row) -> Pause | None:
    until_at = row["planner_paused_until"]
    if until_at is None:
        return None
    return Pause(
        until_at,
        row["planner_pause_reason"] or "",
        row["planner_pause_session_id"],
        row["planner_pause_brain"],
        row["planner_pause_rule_id"],
    )


def duration_of(count: int | None) -> timedelta | None:
    return None if count is None else count * MILLISECOND


def ms(duration: timedelta | None) -> int | None:
    return None if duration is None else milliseconds(duration)
