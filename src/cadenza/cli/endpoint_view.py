"""One endpoint, in full."""

from typing import Any

from cadenza.cli.descriptions import (
    baseline,
    endpoint_state,
    guardrails,
    hint,
    next_run,
    source,
    target,
)
from cadenza.cli.descriptions import until as until_when
from cadenza.cli.lookup import full_name
from cadenza.cli.output import Output
from cadenza.cli.times import duration_text


def print_endpoint(out: Output, endpoint: dict[str, Any]) -> None:
    times, called = out.times, endpoint["target"]
    pauses = [
        f"by {pause['by']} {until_when(pause['until'], times)}"
        + (f": {pause['reason']}" if pause["reason"] else "")
        for pause in endpoint["pauses"]
    ]
    lines = [
        ("endpoint", full_name(endpoint)),
        ("id", endpoint["id"]),
        ("state", endpoint_state(endpoint, times)),
        ("target", target(endpoint)),
        ("headers", "\n".join(f"{name}: {value}" for name, value in called["headers"].items())),
        ("secret headers", ", ".join(called["secret_headers"])),
        ("body", called["body"]),
        ("success when", called["success_when"]),
        ("timeout", duration_text(called["timeout_ms"])),
        ("baseline", baseline(endpoint)),
        ("guardrails", guardrails(endpoint)),
        ("hints", "\n".join(hint(item, times) for item in endpoint["hints"])),
        ("paused", "\n".join(pauses)),
        ("last run", times.when(endpoint["last_run_at"], "never")),
        ("next run", next_run(endpoint, times)),
        ("then", _following(out, endpoint)),
    ]
    out.one(endpoint, lines)
    _warn(out, endpoint)


def print_upcoming(out: Output, endpoint: dict[str, Any]) -> None:
    """After a change: when it runs next, and where baseline and guardrails fight each other."""
    if not out.as_json:
        upcoming = _following(out, endpoint) or "It runs when it is asked to: cadenza run NAME"
        out.done(endpoint, f"Next runs:\n{upcoming}" if endpoint["next_runs"] else upcoming)
    _warn(out, endpoint)


def print_health(out: Output, name: str, health: dict[str, Any]) -> None:
    windows = [
        (f"last {window['hours']} h", _window(window["runs"], window["success_rate"]))
        for window in health["windows"]
    ]
    lines = [
        ("endpoint", name),
        *windows,
        ("mean duration", duration_text(health["mean_duration_ms"])),
        ("failures in a row", health["failure_streak"]),
    ]
    out.one(health, lines)


def _window(runs: int, rate: float | None) -> str:
    return "no runs" if rate is None else f"{rate:.1%} of {runs:,} runs succeeded"


def _following(out: Output, endpoint: dict[str, Any]) -> str:
    runs = endpoint["next_runs"]
    return "\n".join(f"{out.times.when(run['at'])}  {source(run['source'])}" for run in runs)


def _warn(out: Output, endpoint: dict[str, Any]) -> None:
    for warning in endpoint["warnings"]:
        out.note(f"Warning: {warning}")
