"""Responses and schedules as text for brains and people."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from cadenza.application.sanitizing import sanitized_body
from cadenza.domain.analysis import Response, SiblingState
from cadenza.domain.authority import Authority, author_of
from cadenza.domain.endpoint import CronLine, Endpoint, Every, fresh_hints
from cadenza.domain.hint import Hint, IntervalHint
from cadenza.domain.instants import FOREVER, humanize, iso, iso_or_none, milliseconds

Answer = dict[str, Any]
_WHO = {
    Authority.PERSON: "person",
    Authority.RULE: "declared rule",
    Authority.MODEL: "model",
    Authority.DETECTOR: "detector",
}
REPEATED = "(the same as the one before it in this list)"


def describe_response(response: Response, *, repeated: bool = False) -> Answer:
    return {
        "at": iso(response.finished_at),
        "status": response.status,
        **describe_failure(response.status_code, response.error_kind),
        "duration_ms": milliseconds(response.duration) if response.duration else None,
        "body": REPEATED if repeated else sanitized_body(response.body),
    }


def describe_failure(status_code: int | None, error_kind: str | None) -> Answer:
    """HTTP status and error kind, where known."""
    known = {"http_status": status_code, "error_kind": error_kind}
    return {name: value for name, value in known.items() if value is not None}


def describe_history(responses: Sequence[Response]) -> list[Answer]:
    previous = [object(), *(response.body for response in responses)]
    return [  # compared as a whole, not only what is left after cutting
        describe_response(response, repeated=response.body == before)
        for response, before in zip(responses, previous, strict=False)
    ]


def describe_sibling(sibling: SiblingState, now: datetime) -> Answer:
    endpoint = sibling.endpoint
    return {
        "endpoint": endpoint.name,
        "latest": describe_response(sibling.latest) if sibling.latest else None,
        "schedule": {
            "baseline": describe_baseline(endpoint),
            "min_interval_ms": endpoint.min_interval and milliseconds(endpoint.min_interval),
            "last_run_at": iso_or_none(endpoint.last_run_at),
            "next_run_at": iso_or_none(endpoint.next_run_at),
            "in_flight": endpoint.in_flight,
            "paused_until": describe_pause(endpoint.paused_until(now)),
            "pauses": describe_pauses(endpoint, now),
            "failure_count": endpoint.failure_count,
        },
        "hints": describe_hints(endpoint, now),
    }


def describe_baseline(endpoint: Endpoint) -> str:
    baseline = endpoint.baseline
    if isinstance(baseline, Every):
        return f"every {humanize(baseline.interval)}"
    if isinstance(baseline, CronLine):
        return f"cron {baseline.expression} ({baseline.timezone})"
    return "on demand"


def describe_pause(until_at: datetime | None) -> str | None:
    is_endless = until_at is not None and until_at >= FOREVER
    return "until resumed" if is_endless else iso_or_none(until_at)


def describe_pauses(endpoint: Endpoint, now: datetime) -> list[Answer]:
    """Every pause that is in force, with its author."""
    planners = endpoint.planner_pause
    pauses = [
        (Authority.PERSON, endpoint.person_pause),
        (author_of(planners) if planners is not None else None, planners),
    ]
    in_force = [
        {
            "until": describe_pause(pause.until_at),
            "set_by": _WHO[authority],
            "reason": pause.reason,
        }
        for authority, pause in pauses
        if authority is not None and pause is not None and pause.until_at > now
    ]
    job_pause = endpoint.job_paused_until
    if job_pause is not None and job_pause > now:
        in_force.append({"until": describe_pause(job_pause), "set_by": "person, for the whole job"})
    return in_force


def describe_hints(endpoint: Endpoint, now: datetime) -> list[Answer]:
    hints = [hint for hint in fresh_hints(endpoint, now) if hint is not None]
    return [
        {
            **_wish(hint),
            "expires_at": iso(hint.expires_at),
            "set_by": _WHO[author_of(hint)],
            "reason": hint.reason,
        }
        for hint in hints
    ]


def _wish(hint: Hint) -> Answer:
    if isinstance(hint, IntervalHint):
        return {"interval_ms": milliseconds(hint.interval)}
    return {"run_at": iso(hint.run_at)}
