"""A schedule's fields as options: what a person writes, and the document that is sent."""

import json
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from cadenza.cli.commands import panel_option
from cadenza.cli.errors import usage
from cadenza.cli.terminal_text import plain

NONE = "none"  # takes a field away
_LIMITS = ("memory", "steps", "calls", "tokens", "credits")


def _field(panel: str, name: str, about: str) -> Any:
    return field(default=None, metadata={"option": panel_option(panel, name, about)})


_what, _limit = partial(_field, "What runs, and when"), partial(_field, "Limits of a run")


@dataclass(frozen=True, slots=True)
class ScheduleOptions:
    """Each is an option of `create` and `update`."""

    cron: str | None = _what("--cron", "Five fields, like '0 9 * * mon-fri'.")
    timezone: str | None = _what("--timezone", "Of the cron, like Europe/Paris; UTC.")
    graph_input: str | None = _what("--input", "What the graph is given: a JSON object, or @file.")
    policy: str | None = _what("--policy", "While a run is under way: forbid, allow or replace.")
    requires: list[str] | None = _what(  # noqa: RUF009 - a field
        "--requires", "A label that a worker must have, like gpu or region=eu; several."
    )
    time: str | None = _limit("--limit-time", "Like 90s or 10m.")
    memory: str | None = _limit("--limit-memory", "In MB.")
    steps: str | None = _limit("--limit-steps", "Supersteps of the graph.")
    calls: str | None = _limit("--limit-calls", "Calls of models.")
    tokens: str | None = _limit("--limit-tokens", "Of all calls together.")
    credits: str | None = _limit("--limit-credits", "Millionths of a dollar.")
    cpus: str | None = _limit("--cpus", "Reserved for it on a Ray cluster, with its memory.")
    gpus: str | None = _limit("--gpus", "Reserved likewise: a part of one, or whole ones.")

    def document(self) -> dict[str, Any]:
        """What was given, by the names of the API; `none` becomes null: the field is taken away."""
        fields: dict[str, Any] = {
            "cron": self.cron,
            "timezone": self.timezone,
            "input": self.graph_input
            if self.graph_input in (None, NONE)
            else _object(self.graph_input),
            "concurrency_policy": self.policy,
            "requires": NONE if self.requires == [NONE] else self.requires or None,
            "limits": self._limits() or None,
        }
        return _given(fields)

    def _limits(self) -> dict[str, Any]:
        counts = {name: _count(name, getattr(self, name)) for name in _LIMITS}
        counts["memory_mb"] = counts.pop("memory")
        amounts = {name: _amount(name, getattr(self, name)) for name in ("cpus", "gpus")}
        return _given({"time": self.time, **counts, **amounts})


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if value == NONE else value
        for name, value in fields.items()
        if value is not None
    }


def _count(name: str, text: str | None) -> int | str | None:
    if text in (None, NONE):
        return text
    try:
        return int(text.replace(",", "").replace("_", ""))
    except ValueError as error:
        raise usage(f"--limit-{name}: {plain(text)!r} is no whole number") from error


def _amount(name: str, text: str | None) -> float | str | None:
    if text in (None, NONE):
        return text
    try:
        return float(text)
    except ValueError as error:
        raise usage(f"--{name}: {plain(text)!r} is no number") from error


def _object(text: str) -> dict[str, Any]:
    value = read_json("--input", text)
    if not isinstance(value, dict):
        raise usage('--input: it must be a JSON object, like \'{"topic": "autumn"}\'')
    return value  # type: ignore[no-any-return]


def read_json(option: str, text: str) -> Any:
    """JSON, or that of a file: `@input.json`."""
    try:
        return json.loads(Path(text[1:]).read_text() if text.startswith("@") else text)
    except (OSError, UnicodeDecodeError) as error:
        raise usage(f"{option} {plain(text)}: it cannot be read: {plain(error)}") from error
    except (ValueError, RecursionError) as error:
        raise usage(f"{option}: it is not JSON: {plain(error)}") from error
