"""The first message of a session with a model, and how data is marked for it."""

import json
from collections.abc import Collection
from typing import Any

from cadenza.application.descriptions import describe_baseline, describe_hints, describe_pause
from cadenza.application.sanitizing import clean_text
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.health import Health
from cadenza.domain.instants import iso, iso_or_none, milliseconds
from cadenza.domain.redaction import redacted
from cadenza.domain.target import Secret

MAX_RULE_BOOK = 12_000  # characters of the owner's description
MAX_NAMES = 100
MAX_DATA = 20_000  # characters of one answer: a job may have hundreds of siblings
MAX_REMEMBERED = 1000

Json = dict[str, Any]


def opening(context: AnalysisContext, marker: str, secrets: Collection[Secret] = ()) -> str:
    """The owner's words as they are; what came from targets or earlier analyses marked as data."""
    rules = clean_text(context.job.description[:MAX_RULE_BOOK]) or "(the owner wrote none)"
    return "\n\n".join(
        (
            f"Now: {iso(context.now)}",
            f"Job: {clean_text(context.job.name)}\nRule book:\n{redacted(rules, secrets)}",
            f"You analyse the endpoint {json.dumps(clean_text(context.endpoint.name))}.",
            as_data(_state(context), marker, secrets),
        )
    )


def as_data(value: Any, marker: str, secrets: Collection[Secret] = ()) -> str:
    """Marked, and with nothing in it that looks like the mark."""
    text = json.dumps(redacted(value, secrets), ensure_ascii=False, default=str)
    if len(text) > MAX_DATA:
        text = f"{text[:MAX_DATA]}… (cut)"
    return f"<data-{marker}>\n{encodable(text).replace(marker, '')}\n</data-{marker}>"


def encodable(text: str) -> str:
    """Without lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode()


def _state(context: AnalysisContext) -> Json:
    endpoint, now = context.endpoint, context.now
    last = context.last_analysis
    remembered = last and {"at": iso(last.at), "reasoning": last.reasoning[:MAX_REMEMBERED]}
    return {
        "baseline": describe_baseline(endpoint),
        "min_interval_ms": endpoint.min_interval and milliseconds(endpoint.min_interval),
        "max_interval_ms": endpoint.max_interval and milliseconds(endpoint.max_interval),
        "last_run_at": iso_or_none(endpoint.last_run_at),
        "next_run_at": iso_or_none(endpoint.next_run_at),
        "next_run_because": endpoint.next_source,
        "paused_until": describe_pause(endpoint.paused_until(now)),
        "hints": describe_hints(endpoint, now),
        "health": _health(context.health),
        "siblings": [clean_text(name) for name in context.sibling_names[:MAX_NAMES]],
        "last_analysis": remembered,
    }


def _health(health: Health) -> Json:
    return {
        "failure_streak": health.failure_streak,
        "mean_duration_ms": health.mean_duration and milliseconds(health.mean_duration),
        "windows": [
            {
                "hours": window.length.total_seconds() / 3600,
                "runs": window.runs,
                "success_rate": "no runs" if window.success_rate is None else window.success_rate,
            }
            for window in health.windows
        ],
    }
