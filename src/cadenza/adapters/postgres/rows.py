"""Between rows and domain values."""

import json
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import Any, cast
from uuid import UUID

import asyncpg
import pydantic_core

from cadenza.domain.endpoint import Baseline, CronLine, Endpoint, Every, OnDemand
from cadenza.domain.hint import Author, IntervalHint, OneShotHint, Pause
from cadenza.domain.instants import milliseconds
from cadenza.domain.plan import SOURCES, Plan, Source
from cadenza.domain.run import Body, Claim, Run, RunStatus
from cadenza.domain.target import HttpTarget, ShellTarget, Target

Row = asyncpg.Record
_MS = timedelta(milliseconds=1)
# Looked up here: an enum takes its time, and rows come by hundreds.
STATUSES = {str(each): each for each in RunStatus}


# --- Endpoints ------------------------------------------------------------------------------


def endpoint_of(row: Row, spread: timedelta) -> Endpoint:
    plan = row["plan"]
    return Endpoint(
        id=row["id"],
        tenant_id=row["tenant_id"],
        job_id=row["job_id"],
        name=row["name"],
        baseline=_baseline(row),
        created_at=row["created_at"],
        min_interval=_duration(row["min_interval_ms"]),
        max_interval=_duration(row["max_interval_ms"]),
        interval_hint=_interval_hint(row),
        one_shot_hint=_one_shot_hint(row),
        person_pause=_pause(row["person_paused_until"], row["person_pause_reason"]),
        planner_pause=_pause(
            row["planner_paused_until"],
            row["planner_pause_reason"],
            row["planner_pause_session_id"],
        ),
        job_paused_until=row["job_paused_until"],
        archived_at=row["archived_at"],
        failure_count=row["failure_count"],
        not_before_at=row["not_before_at"],
        last_run_at=row["last_run_at"],
        last_slot_at=row["last_slot_at"],
        plan=Plan.from_record(_loaded(plan)) if plan is not None else None,
        running_slot_at=row["running_slot_at"],
        running_is_manual=row["running_is_manual"],
        manual_slot_at=row["manual_slot_at"],
        planner_changes=tuple(row["planner_changes"]),
        spread=spread,
    )


def endpoint_values(endpoint: Endpoint) -> tuple[Any, ...]:
    """The parameters of save_endpoint, in its order."""
    baseline = endpoint.baseline
    every = baseline.interval if isinstance(baseline, Every) else None
    cron = baseline if isinstance(baseline, CronLine) else None
    interval, shot = endpoint.interval_hint, endpoint.one_shot_hint
    person, planner = endpoint.person_pause, endpoint.planner_pause
    return (
        endpoint.id,
        to_text(endpoint.name),
        endpoint.archived_at,
        _ms(every),
        cron.expression if cron else None,
        cron.timezone if cron else None,
        _ms(endpoint.min_interval),
        _ms(endpoint.max_interval),
        _ms(interval.interval) if interval else None,
        interval.expires_at if interval else None,
        interval.author if interval else None,
        to_text(interval.reason) if interval else None,
        shot.run_at if shot else None,
        shot.expires_at if shot else None,
        shot.author if shot else None,
        to_text(shot.reason) if shot else None,
        person.until_at if person else None,
        to_text(person.reason) if person else None,
        planner.until_at if planner else None,
        to_text(planner.reason) if planner else None,
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
        interval.session_id if interval else None,
        shot.session_id if shot else None,
        planner.session_id if planner else None,
        *[None] * 9,  # users, brains and rules, until hints and pauses have them
    )


def plan_json(plan: Plan | None) -> str | None:
    return None if plan is None else pydantic_core.to_json(plan.record(_as_it_is)).decode()


def _as_it_is(instant: datetime) -> datetime:
    return instant


def _baseline(row: Row) -> Baseline:
    if row["baseline_interval_ms"] is not None:
        return Every(row["baseline_interval_ms"] * _MS)
    if row["baseline_cron"] is not None:
        return CronLine(row["baseline_cron"], row["timezone"])
    return OnDemand()


def _interval_hint(row: Row) -> IntervalHint | None:
    if row["hint_interval_ms"] is None:
        return None
    return IntervalHint(
        row["hint_interval_ms"] * _MS,
        row["hint_interval_expires_at"],
        Author(row["hint_interval_author"]),
        row["hint_interval_reason"] or "",
        row["hint_interval_session_id"],
    )


def _one_shot_hint(row: Row) -> OneShotHint | None:
    if row["hint_run_at"] is None:
        return None
    return OneShotHint(
        row["hint_run_at"],
        row["hint_run_expires_at"],
        Author(row["hint_run_author"]),
        row["hint_run_reason"] or "",
        row["hint_run_session_id"],
    )


def _pause(until_at: Any, reason: str | None, session_id: UUID | None = None) -> Pause | None:
    return None if until_at is None else Pause(until_at, reason or "", session_id)


def _duration(ms: int | None) -> timedelta | None:
    return None if ms is None else ms * _MS


def _ms(duration: timedelta | None) -> int | None:
    return None if duration is None else milliseconds(duration)


# --- Targets, claims, runs ------------------------------------------------------------------


def target_json(target: Target) -> str:
    if isinstance(target, ShellTarget):
        return to_json(
            {
                "kind": "shell",
                "command": list(target.command),
                "folder": target.folder,
                "timeout_ms": milliseconds(target.timeout),
            }
        )
    return to_json(
        {
            "kind": "http",
            "url": target.url,
            "method": target.method,
            "headers": dict(target.headers),
            "body": target.body,
            "timeout_ms": milliseconds(target.timeout),
            "max_redirects": target.max_redirects,
            "success_statuses": list(target.success_statuses),
            "success_when": target.success_when,
        }
    )


@lru_cache(maxsize=10_000)
def target_of(text: str) -> Target:
    stored = json.loads(text)
    timeout = stored["timeout_ms"] * _MS
    if stored["kind"] == "shell":
        return ShellTarget(tuple(stored["command"]), stored["folder"], timeout)
    return HttpTarget(
        url=stored["url"],
        method=stored["method"],
        headers=stored["headers"],
        body=stored["body"],
        timeout=timeout,
        max_redirects=stored.get("max_redirects", 0),
        success_statuses=tuple(stored.get("success_statuses", ())),
        success_when=stored.get("success_when"),
    )


def claim_of(row: Row) -> Claim:
    return Claim(
        run_id=row["run_id"],
        endpoint_id=row["endpoint_id"],
        tenant_id=row["tenant_id"],
        job_id=row["job_id"],
        endpoint_name=row["endpoint_name"],
        target=target_of(row["target"]),
        slot_at=row["slot_at"],
        source=Source.MANUAL if row["is_manual"] else SOURCES[row["next_source"]],
        epoch=row["epoch"],
        first_claimed_at=row["first_claimed_at"],
        host=row["host"],
        attempt=row["attempt"],
        is_manual=row["is_manual"],
        is_paused=bool(row["is_paused"]),
        is_archived=row["is_archived"],
    )


def run_of(row: Row) -> Run:
    return Run(
        id=row["id"],
        endpoint_id=row["endpoint_id"],
        tenant_id=row["tenant_id"],
        slot_at=row["slot_at"],
        source=SOURCES[row["source"]],
        status=STATUSES[row["status"]],
        attempt=row["attempt"],
        epoch=row["epoch"],
        claimed_at=row["claimed_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        status_code=row["status_code"],
        error_kind=row["error_kind"],
        error_message=row["error_message"],
        body=_loaded(row["body"]),
        plan=_loaded(row["plan"]),
        skipped_slots=row["skipped_slots"],
        skipped_reason=row["skipped_reason"],
        is_manual=row["is_manual"],
    )


def _loaded(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return pydantic_core.from_json(text)  # several times faster, and answers come by thousands
    except ValueError:  # nested deeper than it goes
        return json.loads(text)


def body_of(text: str | None) -> Body:
    return _loaded(text)


def answer_hash(status: str, body: str | None) -> int:
    """Whether two answers are the same, in eight bytes."""
    digest = blake2b(f"{status} {body}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


# --- What PostgreSQL can store --------------------------------------------------------------


def to_json(value: Any) -> str:
    """JSON that jsonb takes, whatever a target said: no NUL, no lone surrogate, no NaN."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        if "\\u0000" not in text:
            text.encode()
            return text
        return json.dumps(_storable(value), ensure_ascii=False)
    except (ValueError, UnicodeEncodeError):
        return json.dumps(_storable(value), ensure_ascii=False)
    except RecursionError:
        return '"(nested too deeply)"'


def like(piece: str | None) -> str | None:
    """What ILIKE finds a piece of text by; its own signs mean themselves."""
    if not piece:
        return None
    escaped = piece.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def to_text(text: str) -> str:
    """Text that PostgreSQL takes."""
    if "\0" in text or not text.isascii():
        return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    return text


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return to_text(value)
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return {to_text(str(key)): _storable(each) for key, each in pairs}
    if isinstance(value, list):
        return [_storable(each) for each in cast("list[Any]", value)]
    return value
