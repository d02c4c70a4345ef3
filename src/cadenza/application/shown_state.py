"""Responses and schedules as a brain, or a person, is shown them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from cadenza.application.shown_text import shown_body
from cadenza.domain.analysis import Response, SiblingState
from cadenza.domain.endpoint import CronLine, Endpoint, Every
from cadenza.domain.hint import IntervalHint
from cadenza.domain.instants import FOREVER, humanize, iso, iso_or_none, milliseconds

Answer = dict[str, Any]
REPEATED = "(the same as the one before it in this list)"


def shown_response(response: Response, *, repeated: bool = False) -> Answer:
    return {
        "at": iso(response.finished_at),
        "status": response.status,
        "duration_ms": milliseconds(response.duration) if response.duration else None,
        "body": REPEATED if repeated else shown_body(response.body),
    }


def shown_history(responses: Sequence[Response]) -> list[Answer]:
    shown: list[Answer] = []
    previous: Any = object()
    for response in responses:
        repeated = response.body == previous  # the whole of it, not only what is shown
        shown.append(shown_response(response, repeated=repeated))
        previous = response.body
    return shown


def shown_sibling(sibling: SiblingState, now: datetime) -> Answer:
    endpoint = sibling.endpoint
    paused_until = endpoint.paused_until(now)
    latest = shown_response(sibling.latest) if sibling.latest else None
    return {
        "endpoint": endpoint.name,
        "latest": latest,
        "schedule": {
            "baseline": shown_baseline(endpoint),
            "min_interval_ms": endpoint.min_interval and milliseconds(endpoint.min_interval),
            "last_run_at": iso_or_none(endpoint.last_run_at),
            "next_run_at": iso_or_none(endpoint.next_run_at),
            "in_flight": endpoint.in_flight,
            "paused_until": shown_pause(paused_until),
            "failure_count": endpoint.failure_count,
        },
        "hints": shown_hints(endpoint, now),
    }


def shown_baseline(endpoint: Endpoint) -> str:
    baseline = endpoint.baseline
    if isinstance(baseline, Every):
        return f"every {humanize(baseline.interval)}"
    if isinstance(baseline, CronLine):
        return f"cron {baseline.expression} ({baseline.timezone})"
    return "on demand"


def shown_pause(until_at: datetime | None) -> str | None:
    return (
        "until resumed" if until_at is not None and until_at >= FOREVER else iso_or_none(until_at)
    )


def shown_hints(endpoint: Endpoint, now: datetime) -> list[Answer]:
    shown: list[Answer] = []
    for hint in (endpoint.interval_hint, endpoint.one_shot_hint):
        if hint is None or hint.expires_at <= now:
            continue
        what: Answer = (
            {"interval_ms": milliseconds(hint.interval)}
            if isinstance(hint, IntervalHint)
            else {"run_at": iso(hint.run_at)}
        )
        about = {"expires_at": iso(hint.expires_at), "author": hint.author, "reason": hint.reason}
        shown.append({**what, **about})
    return shown
