"""One endpoint, in full."""

from typing import Any

from cadenza.cli.names import full_name
from cadenza.cli.output import Output
from cadenza.cli.states import baseline, endpoint_state, guardrails, hint, next_run, source, target
from cadenza.cli.states import until as until_when
from cadenza.cli.times import lasting

Item = dict[str, Any]


def tell_endpoint(out: Output, endpoint: Item) -> None:
    times, called = out.times, endpoint["target"]
    pauses = [
        f"by {each['by']} {until_when(each['until'], times)}"
        + (f": {each['reason']}" if each["reason"] else "")
        for each in endpoint["pauses"]
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
        ("timeout", lasting(called["timeout_ms"])),
        ("baseline", baseline(endpoint)),
        ("guardrails", guardrails(endpoint)),
        ("hints", "\n".join(hint(each, times) for each in endpoint["hints"])),
        ("paused", "\n".join(pauses)),
        ("last run", times.when(endpoint["last_run_at"], "never")),
        ("next run", next_run(endpoint, times)),
        ("then", _following(out, endpoint)),
    ]
    out.one(endpoint, lines)
    _warn(out, endpoint)


def tell_upcoming(out: Output, endpoint: Item) -> None:
    """After a change: when it runs next, and where baseline and guardrails fight each other."""
    if not out.as_json:
        upcoming = _following(out, endpoint) or "It runs when it is asked to: cadenza run NAME"
        out.done(endpoint, f"Next runs:\n{upcoming}" if endpoint["next_runs"] else upcoming)
    _warn(out, endpoint)


def tell_health(out: Output, name: str, health: Item) -> None:
    windows = [
        (f"last {each['hours']} h", _window(each["runs"], each["success_rate"]))
        for each in health["windows"]
    ]
    streak = health["failure_streak"]
    lines = [
        ("endpoint", name),
        *windows,
        ("mean duration", lasting(health["mean_duration_ms"])),
        ("failures in a row", str(streak)),
    ]
    out.one(health, lines)


def _window(runs: int, rate: float | None) -> str:
    return "no runs" if rate is None else f"{rate:.1%} of {runs:,} runs succeeded"


def _following(out: Output, endpoint: Item) -> str:
    runs = endpoint["next_runs"]
    return "\n".join(f"{out.times.when(each['at'])}  {source(each['source'])}" for each in runs)


def _warn(out: Output, endpoint: Item) -> None:
    for each in endpoint["warnings"]:
        out.note(f"Warning: {each}")
