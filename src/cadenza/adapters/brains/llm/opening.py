"""The first message of a session with a model: what stays the same first, the marker last."""

import json
from collections.abc import Collection
from datetime import datetime
from typing import Any

from cadenza.adapters.brains.llm.marking import encodable, with_data_marked
from cadenza.application.descriptions import (
    describe_baseline,
    describe_failure,
    describe_hints,
    describe_pauses,
)
from cadenza.application.sanitizing import clean_text
from cadenza.domain.analysis import AnalysisContext, LastAnalysis
from cadenza.domain.backoff import backed_off
from cadenza.domain.endpoint import Endpoint, Every
from cadenza.domain.health import Health
from cadenza.domain.instants import iso, iso_or_none, milliseconds
from cadenza.domain.redaction import redacted
from cadenza.domain.rule import Rule
from cadenza.domain.target import Secret
from cadenza.domain.track_record import COUNTED_RUNS, TrackRecord
from cadenza.manifest.rules import rule_document

MAX_RULE_BOOK = 12_000  # characters of the owner's description
MAX_RULES = 6_000  # characters of the declared rules
MAX_NAMES = 100
MAX_REMEMBERED = 1000

Json = dict[str, Any]


def opening(
    context: AnalysisContext,
    track_record: TrackRecord,
    marker: str,
    secrets: Collection[Secret] = (),
) -> str:
    """The job, which its sessions share; then the endpoint; then what no two sessions share."""
    job = context.job
    rule_book = clean_text(job.description[:MAX_RULE_BOOK]) or "(the owner wrote none)"
    shared = (
        f"Job: {clean_text(job.name)}\nRule book:\n{rule_book}",
        f"Declared rules, which act by themselves:\n{_rules(job.rules)}",
        f"You analyse the endpoint {json.dumps(clean_text(context.endpoint.name))}.",
    )
    facts = {
        **_state(context),
        "health": _health(context.health),
        "track_record": _track_record(track_record),
        "siblings": _siblings(context.sibling_names),
        "last_analysis": _remembered(context.last_analysis, track_record),
        "now": iso(context.now),
    }
    own_words = encodable(redacted("\n\n".join(shared), secrets)).replace(marker, "")
    mark = f"The marks of this session end in -{marker}."
    return f"{own_words}\n\n{with_data_marked(facts, marker, secrets, between=mark)}"


def _state(context: AnalysisContext) -> Json:
    endpoint, now = context.endpoint, context.now
    return {
        "baseline": describe_baseline(endpoint),
        "min_interval_ms": endpoint.min_interval and milliseconds(endpoint.min_interval),
        "max_interval_ms": endpoint.max_interval and milliseconds(endpoint.max_interval),
        "mode": context.modes.llm,
        "others": {"declared_rules": context.modes.rules, "detectors": context.modes.detectors},
        "failures_in_a_row": endpoint.failure_count,
        "backoff": _backoff(endpoint),
        "last_run_at": iso_or_none(endpoint.last_run_at),
        "next_run_at": iso_or_none(endpoint.next_run_at),
        "next_run_because": endpoint.next_source,
        "in_flight": endpoint.in_flight,
        "target_asks_to_wait_until": _later(endpoint.not_before_at, now),
        "pauses": describe_pauses(endpoint, now),
        "hints": describe_hints(endpoint, now),
    }


def _later(instant: datetime | None, now: datetime) -> str | None:
    return iso(instant) if instant is not None and instant > now else None


def _backoff(endpoint: Endpoint) -> str:
    if endpoint.failure_count == 0 or not isinstance(endpoint.baseline, Every):
        return "none"
    interval = backed_off(endpoint.baseline.interval, endpoint.slowing_failures)
    return f"the baseline alone would run every {milliseconds(interval)} ms until a success"


def _health(health: Health) -> Json:
    return {
        "mean_duration_ms": health.mean_duration and milliseconds(health.mean_duration),
        "outages_in_24h": health.outages,
        "last_changed_at": iso_or_none(health.changed_at),
        "windows": [
            {
                "hours": window.length.total_seconds() / 3600,
                "runs": window.runs,
                "success_rate": "no runs" if window.success_rate is None else window.success_rate,
            }
            for window in health.windows
        ],
    }


def _track_record(record: TrackRecord) -> Json:
    failure = record.last_failure
    return {
        "runs_in_all": f"{COUNTED_RUNS} or more" if record.runs >= COUNTED_RUNS else record.runs,
        "last_failure": failure
        and {
            "at": iso(failure.finished_at),
            "status": failure.status,
            **describe_failure(failure.status_code, failure.error_kind),
        },
    }


def _remembered(last: LastAnalysis | None, record: TrackRecord) -> Json | None:
    return last and {
        "at": iso(last.at),
        "failures_in_a_row_then": record.failures_at_last_analysis,
        "reasoning": last.reasoning[:MAX_REMEMBERED],
    }


def _siblings(names: tuple[str, ...]) -> Json:
    """Some of many by name: the tools have the rest in pages."""
    return {"count": len(names), "names": [clean_text(name) for name in names[:MAX_NAMES]]}


def _rules(rules: tuple[Rule, ...]) -> str:
    """One a line, as in the job's file; whole rules only."""
    lines, left = list[str](), MAX_RULES
    for rule in rules:
        line = clean_text(json.dumps(rule_document(rule), ensure_ascii=False))
        left -= len(line)
        if left < 0:
            lines.append(f"(and {len(rules) - len(lines)} more)")
            break
        lines.append(line)
    return "\n".join(lines) or "(none)"
