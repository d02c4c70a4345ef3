"""What one run of a graph may use, as it is written."""

from typing import Any

from cadenza.domain.graph import GraphLimits
from cadenza.manifest.durations import format_duration, parse_duration
from cadenza.manifest.models import LimitsDocument


def read_limits(document: LimitsDocument | None) -> GraphLimits:
    wanted = {} if document is None else document.model_dump(exclude_none=True)
    if "time" in wanted:
        wanted["time"] = parse_duration(wanted["time"])
    return GraphLimits(**wanted)


def limits_document(limits: GraphLimits) -> dict[str, Any]:
    """Only what differs from the defaults."""
    usual, present = limits_values(GraphLimits()), limits_values(limits)
    return {name: value for name, value in present.items() if value != usual[name]}


def limits_values(limits: GraphLimits) -> dict[str, Any]:
    """All of them, with the time as it is written."""
    return {
        "time": format_duration(limits.time),
        "memory_mb": limits.memory_mb,
        "steps": limits.steps,
        "calls": limits.calls,
        "tokens": limits.tokens,
        "credits": limits.credits,
        "cpus": limits.cpus,
        "gpus": limits.gpus,
    }
