"""How the dashboard says things: sources, states, hints, in plain words."""

import json
from collections import Counter
from datetime import datetime, timedelta
from typing import Any, cast

from cadenza.application.ports.catalogue import StoredEndpoint, StoredJob
from cadenza.application.score_steering import describe
from cadenza.domain.endpoint import Baseline, CronLine, Endpoint, Every, fresh_hints, is_late
from cadenza.domain.hint import IntervalHint, OneShotHint, Pause
from cadenza.domain.instants import humanize, iso
from cadenza.domain.session import Session
from cadenza.web.dashboard.curl import command_of, command_of_sent
from cadenza.web.dashboard.times import span

SOURCES = {
    "baseline-cron": "Baseline",
    "baseline-interval": "Baseline",
    "ai-interval": "Interval hint",
    "ai-oneshot": "Asked once",
    "clamped-min": "Minimum interval",
    "clamped-max": "Maximum interval",
    "retry-after": "Retry-After",
    "paused": "After a pause",
    "resumed": "Resumed",
    "manual": "By hand",
}
# Colour and shape of a mark: the seven families of the score.
FAMILIES = {
    "baseline-cron": "baseline",
    "baseline-interval": "baseline",
    "ai-interval": "tight",
    "ai-oneshot": "once",
    "manual": "hand",
}
# Of runs that are counted: the token of their colour, and their name.
COUNTED = {
    "baseline": ("baseline", "Baseline"),
    "tightened": ("tight", "Tightened"),
    "relaxed": ("relaxed", "Relaxed"),
    "once": ("once", "Asked once"),
    "manual": ("hand", "By hand"),
    "held": ("limit", "Held by a limit"),
}
STATUSES = {
    "running": "running",
    "success": "succeeded",
    "failure": "failed",
    "timeout": "timed out",
    "cancelled": "cancelled",
    "error": "failed",
    "skipped": "skipped",
    "scheduled": "scheduled",
    "waiting": "waiting for an answer",
}
# What a state looks like: one of good, bad, busy, calm.
TONES = {
    "running": "busy",
    "success": "good",
    "failure": "bad",
    "timeout": "bad",
    "error": "bad",
    "waiting": "busy",
}
# Incidents by kind.
INCIDENTS = {
    "failing": "failing",
    "late": "late",
    "planner-pause": "paused by the planner",
    "suggestion": "open suggestion",
    "quota": "planner quota",
    "grant-expiring": "grant expiring",
    "key-expiring": "key expiring",
    "worker-lost": "worker lost",
    "channel-failing": "channel failing",
    "webhook-disabled": "webhook disabled",
}
STATES = {
    "active": "Active",
    "paused": "Paused",
    "failing": "Failing",
    "late": "Late",
    "hinted": "Off the baseline",
    "archived": "Archived",
}
# What happens when a slot of a graph is due while a run of it goes on.
CONCURRENCY = {
    "forbid": "a run waits for the previous one, and is skipped when the next is due",
    "allow": "runs may overlap",
    "replace": "a run that is still going on is cancelled by the next",
}


# --- Schedules --------------------------------------------------------------------------------


def interval_words(interval: timedelta) -> str:
    """As the score writes it (1 min, 1 min 30 s), where that leaves out no part."""
    step = timedelta(seconds=1) if interval < timedelta(hours=1) else timedelta(minutes=1)
    is_exact = interval < timedelta(days=1) and not interval % step
    return span(interval) if is_exact else humanize(interval)


def baseline_words(baseline: Baseline) -> str:
    if isinstance(baseline, Every):
        return f"every {interval_words(baseline.interval)}"
    if isinstance(baseline, CronLine):
        return f"{baseline.expression} ({baseline.timezone})"
    return "on demand"


def source_words(source: str | None) -> str:
    return SOURCES.get(source or "", source or "")


def family(source: str | None) -> str:
    return FAMILIES.get(source or "", "limit")


def bend(stored: StoredEndpoint) -> str:
    """Whether an interval hint in force tightens or relaxes its baseline; empty where none is."""
    hint, _ = fresh_hints(stored.endpoint, stored.read_at)
    if hint is None:
        return ""
    baseline = stored.endpoint.baseline
    is_longer = isinstance(baseline, Every) and hint.interval > baseline.interval
    return "relaxed" if is_longer else "tight"


def hint_words(hint: Any) -> str:
    if isinstance(hint, IntervalHint):
        return f"every {interval_words(hint.interval)}"
    return "one run"


def hints_in_force(stored: StoredEndpoint) -> list[IntervalHint | OneShotHint]:
    return [hint for hint in fresh_hints(stored.endpoint, stored.read_at) if hint is not None]


def author_words(hint: Any) -> str:
    """Who set a hint or a pause: a person, a declared rule, a model or a detector."""
    if hint.user_id is not None or hint.brain is None:
        return "a person" if hint.session_id is None else "the planner"
    if hint.rule_id is not None:
        return "a declared rule"
    return "a model" if hint.brain == "llm" else "a detector"


def pause_in_force(endpoint: Endpoint, now: datetime) -> Pause | None:
    """A person's before a planner's; None where none holds it, or only that of its job."""
    for pause in (endpoint.person_pause, endpoint.planner_pause):
        if pause is not None and pause.until_at > now:
            return pause
    return None


def brain_words(brain: str) -> str:
    """`rules`, or `llm` and its model."""
    kind, _, model = brain.partition(" ")
    if kind != "llm":
        return "rules and detectors" if kind == "rules" else brain
    return f"a model, {model}" if model else "a model"


def call_words(tool: str, arguments: Any) -> str:
    """What a call of a planner's tool asks for, in plain words."""
    asked = cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {}
    ttl, sibling = _minutes(asked.get("ttl_minutes")), asked.get("endpoint")
    of = f" of {sibling}" if isinstance(sibling, str) else ""
    if tool == "propose_interval":
        interval = _milliseconds(asked.get("interval_ms"))
        return f"Run{of} every {interval}" + (f", for {ttl}" if ttl else "")
    if tool == "propose_next_time":
        wait, at = _milliseconds(asked.get("next_run_in_ms")), asked.get("next_run_at_iso")
        return f"Run{of} once" + (f" in {wait}" if wait else f" at {at}" if at else "")
    if tool == "pause_until":
        until = asked.get("until_iso")
        return f"Pause{of} until {until}" if until else f"Resume{of}"
    if tool == "clear_hints":
        return f"Clear the hints{of}"
    return tool.replace("_", " ").capitalize()


_TOOL_WORDS = {
    "propose_interval": "interval",
    "propose_next_time": "one run",
    "pause_until": "pause",
    "clear_hints": "clear hints",
}


def action_counts(session: Session) -> list[tuple[str, str, int]]:
    """What a session did or suggested: a word, its tone, and how often."""
    acted = [call for call in session.tool_calls if call.took_effect or call.suggested]
    counts = Counter(
        (_TOOL_WORDS.get(call.tool, call.tool), "tight" if call.took_effect else "once")
        for call in acted
    )
    return [(words, tone, count) for (words, tone), count in counts.items()]


def _milliseconds(value: Any) -> str:
    return interval_words(timedelta(milliseconds=value)) if isinstance(value, int) else ""


def _minutes(value: Any) -> str:
    return span(timedelta(minutes=value)) if isinstance(value, int | float) else ""


def ending_words(end: str) -> str:
    return "completed" if end == "submitted" else end.replace("-", " ")


def month_words(month: str) -> str:
    """November 2026, of 2026-11."""
    return f"{datetime.fromisoformat(f'{month}-01'):%B %Y}"


# --- States -----------------------------------------------------------------------------------


def endpoint_states(stored: StoredEndpoint) -> list[tuple[str, str]]:
    """Everything that is notable about an endpoint now, as a word and its tone."""
    endpoint, now = stored.endpoint, stored.read_at
    if endpoint.archived_at is not None:
        return [("archived", "calm")]
    states: list[tuple[str, str]] = []
    if endpoint.failure_count:
        times = "" if endpoint.failure_count == 1 else f" {endpoint.failure_count} times"
        states.append((f"failed{times}", "bad"))
    if endpoint.paused_until(now) is not None:
        states.append(("paused", "held"))
    elif is_late(stored.next_run_at, endpoint, now):
        states.append(("late", "bad"))
    if endpoint.in_flight:
        states.append(("running", "busy"))
    if bent := bend(stored):
        states.append(("tightened" if bent == "tight" else "relaxed", bent))
    if fresh_hints(endpoint, now)[1] is not None:
        states.append(("asked once", "once"))
    return states or [("on baseline", "good")]


def job_states(stored: StoredJob) -> list[tuple[str, str]]:
    job = stored.job
    if job.archived_at is not None:
        return [("archived", "calm")]
    if job_is_paused(stored):
        return [("paused", "held")]
    return [("active", "good")]


def job_is_paused(stored: StoredJob) -> bool:
    until_at = stored.job.paused_until
    return until_at is not None and until_at > stored.read_at


def state_words(state: str) -> str:
    return STATES.get(state, state)


def incident_words(kind: str) -> str:
    return INCIDENTS.get(kind, kind)


def status_words(status: str) -> str:
    return STATUSES.get(status, status)


def tone(status: str) -> str:
    return TONES.get(status, "calm")


# --- Values -----------------------------------------------------------------------------------


def pretty(value: Any) -> str:
    """Any JSON value for a person's eyes; text as it is."""
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def detail_words(data: dict[str, Any]) -> str:
    """What an audit entry has besides who and what; nothing that says nothing."""
    filled = {
        name: value for name, value in data.items() if value not in (None, "", "None", [], {})
    }
    return "; ".join(
        f"{name.replace('_', ' ')}: {_detail(value)}" for name, value in filled.items()
    )


def _detail(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, cast("list[Any]", value)))
    return str(value) if isinstance(value, str | int | float) else json.dumps(value, default=str)


def action_words(action: str) -> str:
    """`endpoint.hint.interval` as a person says it."""
    subject, _, what = action.partition(".")
    return f"{subject.replace('-', ' ')}: {what.replace('.', ' ').replace('-', ' ')}"


FILTERS: dict[str, Any] = {
    "span": span,
    "humanize": humanize,
    "interval": interval_words,
    "iso": iso,
    "baseline": baseline_words,
    "source": source_words,
    "family": family,
    "bend": bend,
    "hint": hint_words,
    "hints_in_force": hints_in_force,
    "author": author_words,
    "pause_in_force": pause_in_force,
    "window": describe,
    "call": call_words,
    "action_counts": action_counts,
    "brain": brain_words,
    "concurrency": CONCURRENCY.get,
    "ending": ending_words,
    "month": month_words,
    "endpoint_states": endpoint_states,
    "job_states": job_states,
    "job_is_paused": job_is_paused,
    "state": state_words,
    "status": status_words,
    "incident": incident_words,
    "tone": tone,
    "pretty": pretty,
    "action": action_words,
    "details": detail_words,
    "command": command_of,
    "sent_command": command_of_sent,
}
