"""Jobs, endpoints and runs of the API, described in a few words."""

from datetime import timedelta
from typing import Any

from cadenza.cli.times import Times
from cadenza.domain.conditions import LATE_AFTER
from cadenza.domain.instants import humanize
from cadenza.manifest.durations import format_duration

Item = dict[str, Any]
_RUNNERS = {"graph": "a graph worker", "function": "its program"}
HINT_KINDS = {"ai-interval": "interval", "ai-oneshot": "one-shot"}  # by the source that each is
SOURCES = {
    "baseline-cron": "cron",
    "baseline-interval": "interval",
    "ai-interval": "interval hint",
    "ai-oneshot": "one-shot hint",
    "clamped-min": "min interval",
    "clamped-max": "max interval",
    "retry-after": "Retry-After",
    "paused": "pause",
    "resumed": "resumed",
    "manual": "a person",
    # families of them, as pictures have
    "baseline": "baseline",
    "clamped": "moved by a limit",
}


def job_state(job: Item, times: Times) -> str:
    if job["archived_at"]:
        return f"archived {times.relative(job['archived_at'])}"
    if job["paused"]:
        return f"paused {until(job['paused_until'], times)}"
    return "active"


def endpoint_state(endpoint: Item, times: Times) -> str:
    if endpoint["archived_at"]:
        return f"archived {times.relative(endpoint['archived_at'])}"
    if pauses := endpoint["pauses"]:
        ends = [pause["until"] for pause in pauses]
        still = " after the current run" if endpoint["running"] else ""
        return f"paused {until(None if None in ends else max(ends), times)}{still}"
    if endpoint["running"]:
        return "running"
    if failures := endpoint["failure_count"]:
        return f"failure × {failures}"
    return "hinted" if endpoint["hints"] else "ok"


def until(instant: str | None, times: Times) -> str:
    return "until resumed" if instant is None else f"until {times.clock(instant)}"


def next_run(endpoint: Item, times: Times) -> str:
    if endpoint["running"]:
        return "after the current run"
    if endpoint["next_run_at"] is None:
        return "until resumed" if endpoint["pauses"] else "when asked"
    due = times.relative(endpoint["next_run_at"])
    if times.is_past(endpoint["next_run_at"], LATE_AFTER) and not endpoint["pauses"]:
        whom = _RUNNERS.get(endpoint["target"]["kind"], "a worker")
        return f"due {due}, waiting for {whom}"
    return f"{due} ({source_of(endpoint)})"


def source_of(endpoint: Item) -> str:
    """Of its next run; whose hint it is, too."""
    name = endpoint["next_source"]
    kind = HINT_KINDS.get(name)
    authors = [item["author"] for item in endpoint["hints"] if item["kind"] == kind]
    return f"hint by {by_whom(authors[0])}" if authors else source(name)


def by_whom(author: str) -> str:
    return {"person": "you", "planner": "the planner"}.get(author, author)


def asked_by(run: Item, my_id: str | None) -> str:
    """Why a run came when it did: whose hint it was, or who ran it by hand."""
    author = run.get("asked_by")
    if author is None:
        return source("manual" if run["is_manual"] else run["source"])
    kind, name = author["kind"], author["name"]
    who = {"rule": f"rule {name}" if name else "a rule", "model": "the model"}.get(kind)
    if kind == "person":
        who = "you" if author["user_id"] == my_id else name or "a person"
    return f"by {who}" if run["is_manual"] else f"hint by {who or 'a detector'}"


def source(name: str | None) -> str:
    return SOURCES.get(name or "", name or "–")


def baseline(endpoint: Item) -> str:
    """`every 5m`, `0 9 * * mon-fri Europe/Paris`, `on demand`."""
    stored = endpoint["baseline"]
    if stored["every_ms"] is not None:
        return f"every {_written(stored['every_ms'])}"
    if stored["cron"] is not None:
        return f"{stored['cron']} {stored['timezone']}"
    return "on demand"


def guardrails(endpoint: Item) -> str:
    least, most = endpoint["min_interval_ms"], endpoint["max_interval_ms"]
    limits = [
        f"at least {humanize(timedelta(milliseconds=least))}" if least else "",
        f"at most {humanize(timedelta(milliseconds=most))}" if most else "",
    ]
    return ", ".join(filter(None, limits)) + " between runs" if any(limits) else ""


def target(endpoint: Item) -> str:
    called = endpoint["target"]
    if called["kind"] == "http":
        return f"{called['method']} {called['url']}"
    if called["kind"] == "queue":
        return f"{called['queue']} {called['topic']}"
    return called["graph"] or called["function"] or " ".join(called["command"])


def limits_of_run(limits: Item) -> str:
    return ", ".join(f"{name} {value}" for name, value in limits.items() if value is not None)


def hint(item: Item, times: Times) -> str:
    what = (
        f"every {_written(item['interval_ms'])}"
        if item["kind"] == "interval"
        else f"once at {times.when(item['run_at'])}"
    )
    why = f": {item['reason']}" if item["reason"] else ""
    return f"{what} until {times.clock(item['expires_at'])}, by {by_whom(item['author'])}{why}"


def run_result(run: Item) -> str:
    """What came of it, beside its status."""
    parts = [str(run["status_code"] or ""), str(run.get("error_kind") or "")]
    return " ".join(filter(None, parts)) or "–"


def _written(milliseconds: int) -> str:
    return format_duration(timedelta(milliseconds=milliseconds))
