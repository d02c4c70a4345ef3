"""Events in a line each: what was done, by whom, and why."""

from datetime import timedelta
from typing import Any, cast

from cadenza.cli.descriptions import source
from cadenza.cli.terminal_text import json_text
from cadenza.cli.times import Times
from cadenza.domain.instants import humanize

Item = dict[str, Any]
FINISHED = ("run.finished", "run.failed")
PLANNER = {"planner.acted": "the planner", "planner.suggested": "the planner suggests:"}
DONE = {
    "create": "created", "change": "changed", "archive": "archived", "restore": "restored",
    "delete": "deleted", "pause": "paused", "resume": "resumed", "run": "run requested",
    "apply": "applied", "analyse": "analysis requested", "reset-failures": "failures reset",
    "hint.interval": "hint set", "hint.one-shot": "one-shot hint set",
    "hints.clear": "hints cleared",
}  # fmt: skip
_AUTHORS = {
    "person": "a person", "rule": "a rule", "model": "the model", "detector": "a detector",
}  # fmt: skip
_SEEN = ("by", "reason", "until", "name")


def sentence(kind: str, data: Item, times: Times) -> str:
    if kind in FINISHED:
        return _run(data)
    if kind in PLANNER:
        return _planner(kind, data, times)
    return _change(kind, data, times)


def _run(data: Item) -> str:
    answer = " ".join(str(part) for part in (data["status_code"], data["error_kind"]) if part)
    streak = data["failure_count"]
    failures = f", {streak} failures in a row" if streak > 1 else ""
    author = _AUTHORS.get(data.get("hint_by") or "")
    why = f"hint by {author}" if author else source(data["source"])
    return f"{data['status']} {answer}  ({why}{failures})"


def _planner(kind: str, data: Item, times: Times) -> str:
    actions: list[Item] = data.get("actions") or [{"tool": tool} for tool in data["tools"]]
    done = "; ".join(action_text(action, times) for action in actions)
    return f"{PLANNER[kind]} {done}  ({data['brain']})"


def action_text(action: Item, times: Times) -> str:
    """`runs it every 30 s for 10 min: The queue is deep.`"""
    arguments: Any = action.get("arguments")
    fields = cast("Item", arguments) if isinstance(arguments, dict) else {}
    whom = f" {fields['endpoint']}" if fields.get("endpoint") else " it"
    why = f": {fields['reason']}" if fields.get("reason") else ""
    return f"{_tool_text(str(action['tool']), fields, whom, times)}{why}"


def _tool_text(tool: str, fields: Item, whom: str, times: Times) -> str:
    ttl = fields.get("ttl_minutes")
    lasts = f" for {ttl:g} min" if isinstance(ttl, int | float) else ""
    if tool == "propose_interval":
        return f"runs{whom} every {_length(fields.get('interval_ms'))}{lasts}"
    if tool == "propose_next_time":
        at = fields.get("next_run_at_iso")
        when = f"at {times.clock(str(at))}" if at else f"in {_length(fields.get('next_run_in_ms'))}"
        return f"runs{whom} once {'now' if fields.get('next_run_in_ms') == 0 else when}"
    if tool == "pause_until":
        until = fields.get("until_iso")
        return f"pauses{whom} until {times.clock(str(until))}" if until else f"resumes{whom}"
    return f"clears the hints of{whom}" if tool == "clear_hints" else f"{tool}{whom}"


def _length(milliseconds: Any) -> str:
    if not isinstance(milliseconds, int | float):
        return "?"
    return humanize(timedelta(milliseconds=milliseconds))


def _change(kind: str, data: Item, times: Times) -> str:
    by = f" by {data['by']}" if data.get("by") else ""
    until = data.get("until")
    lasts = "" if not until else f" until {'resumed' if until == 'None' else times.clock(until)}"
    why = f": {data['reason']}" if data.get("reason") else ""
    name = f" {data['name']}" if data.get("name") else ""
    rest = {key: value for key, value in data.items() if key not in _SEEN and value}
    details = f"  {json_text(rest)}" if rest else ""
    return f"{done_text(kind)}{name}{lasts}{by}{why}{details}"


def done_text(kind: str) -> str:
    """`job created`, `hint set`; of an endpoint, what was done to it alone."""
    what, _, action = kind.partition(".")
    subject = "" if what == "endpoint" else f"{what} "
    return f"{subject}{DONE.get(action, action)}"
