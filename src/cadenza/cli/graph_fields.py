"""Fields of a graph as options, of a schedule and of an endpoint alike."""

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


def option_field(panel: str, name: str, about: str) -> Any:
    return field(default=None, metadata={"option": panel_option(panel, name, about)})


_limit = partial(option_field, "Limits of a run")
_what = partial(option_field, "A graph that is run")


@dataclass(frozen=True, slots=True)
class LimitOptions:
    time: str | None = _limit("--limit-time", "The time limit of a run, such as 90s.")
    memory: str | None = _limit("--limit-memory", "The memory limit of a run, in MB.")
    steps: str | None = _limit("--limit-steps", "The maximum number of graph steps.")
    calls: str | None = _limit("--limit-calls", "The maximum number of model calls.")
    tokens: str | None = _limit("--limit-tokens", "The maximum number of tokens per run.")
    credits: str | None = _limit("--limit-credits", "The most credits (1,000,000 = $1) per run.")

    cpus: str | None = _limit("--cpus", "CPUs to reserve on a Ray cluster.")
    gpus: str | None = _limit("--gpus", "GPUs to reserve on a Ray cluster, such as 0.5 or 2.")

    def limits(self) -> dict[str, Any] | None:
        counts = {name: _count(name, getattr(self, name)) for name in _LIMITS}
        counts["memory_mb"] = counts.pop("memory")
        amounts = {name: _amount(name, getattr(self, name)) for name in ("cpus", "gpus")}
        return with_nulls({"time": self.time, **counts, **amounts}) or None


@dataclass(frozen=True, slots=True)
class GraphOptions(LimitOptions):
    """Each is an option of `endpoints create` and `edit`."""

    graph: str | None = _what("--graph", "A graph to run, such as langgraph:poet.")
    graph_input: str | None = _what("--input", "The graph's input: a JSON object, or @file.")
    grant: str | None = _what("--grant", "A grant's id. Default: create one.")
    account: str | None = _what("--account", "The account that pays. Default: the only account.")

    def document(self) -> dict[str, Any]:
        """What was given, by the names of the API; `none` becomes null."""
        return with_nulls(
            {
                "graph": self.graph,
                "input": object_of(self.graph_input),
                "grant": self.grant,
                "account": self.account,
                "limits": self.limits(),
            }
        )


def with_nulls(fields: dict[str, Any]) -> dict[str, Any]:
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


def object_of(text: str | None) -> dict[str, Any] | str | None:
    """Of `--input`."""
    if text in (None, NONE):
        return text
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
