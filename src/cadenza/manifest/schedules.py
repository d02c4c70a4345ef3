"""Schedules of graphs as they are written, in requests and in files."""

from typing import Annotated, Any

from pydantic import Field

from cadenza.domain.graph import GraphLimits
from cadenza.domain.schedule import (
    MAX_CALLS,
    MAX_LABELS,
    MAX_LIMIT_CREDITS,
    MAX_MEMORY_MB,
    MAX_STEPS,
    MAX_TOKENS,
    MIN_MEMORY_MB,
    Concurrency,
    ScheduleDefinition,
)
from cadenza.manifest.durations import format_duration, parse_duration
from cadenza.manifest.models import Document, Duration, Name

Label = Annotated[str, Field(min_length=1, max_length=127)]


class LimitsDocument(Document):
    """What one run may use."""

    time: Duration | None = Field(default=None, description="10m where it is left out.")
    memory_mb: Annotated[int, Field(ge=MIN_MEMORY_MB, le=MAX_MEMORY_MB)] | None = Field(
        default=None, description="512 where it is left out."
    )
    steps: Annotated[int, Field(ge=1, le=MAX_STEPS)] | None = Field(
        default=None, description="Supersteps of the graph; 25 where it is left out."
    )
    calls: Annotated[int, Field(ge=1, le=MAX_CALLS)] | None = Field(
        default=None, description="Of models; left out, the account's credits are the limit."
    )
    tokens: Annotated[int, Field(ge=1, le=MAX_TOKENS)] | None = None
    credits: Annotated[int, Field(ge=1, le=MAX_LIMIT_CREDITS)] | None = None


class ScheduleFields(Document):
    """A graph, its input, and when it runs."""

    graph_id: Annotated[str, Field(min_length=3, max_length=240)] = Field(
        description="provider:name.", examples=["langgraph:poet", "python:shop.jobs:digest"]
    )
    cron: Annotated[str, Field(min_length=1, max_length=128)] = Field(
        description="Five fields, or @hourly and the like.", examples=["0 9 * * mon-fri"]
    )
    timezone: Annotated[str, Field(min_length=1, max_length=64)] | None = Field(
        default=None,
        description="Of the cron; UTC where it is left out.",
        examples=["Europe/Paris"],
    )
    name: Name | None = None
    input: dict[str, Any] | None = Field(
        default=None,
        description="What the graph is given; at most 64 KiB. The price of its `model` is known.",
        examples=[{"topic": "autumn"}],
    )
    concurrency_policy: Annotated[Concurrency, Field(strict=False)] | None = Field(
        default=None,
        description="Of a slot that is due while a run is under way: forbid (it waits, and is "
        "skipped when the next one is due) where left out, allow, replace (the run is cancelled).",
    )
    limits: LimitsDocument | None = None
    requires: Annotated[list[Label], Field(max_length=MAX_LABELS)] | None = Field(
        default=None,
        description="Labels that a worker must have.",
        examples=[["gpu", "region=eu"]],
    )
    enabled: bool | None = Field(default=None, description="true where it is left out.")


def read_schedule(document: ScheduleFields) -> ScheduleDefinition:
    is_enabled = document.enabled
    return ScheduleDefinition(
        graph_id=document.graph_id,
        cron=document.cron,
        timezone=document.timezone or "UTC",
        input=document.input or {},
        name=document.name,
        concurrency=document.concurrency_policy or Concurrency.FORBID,
        limits=_limits(document.limits),
        requires=tuple(document.requires or ()),
        enabled=True if is_enabled is None else is_enabled,
    )


def _limits(document: LimitsDocument | None) -> GraphLimits:
    wanted = {} if document is None else document.model_dump(exclude_none=True)
    if "time" in wanted:
        wanted["time"] = parse_duration(wanted["time"])
    return GraphLimits(**wanted)


def schedule_document(definition: ScheduleDefinition) -> dict[str, Any]:
    """Only what differs from the defaults, beside what is always written."""
    plain = ScheduleDefinition(definition.graph_id, definition.cron)
    optional: dict[str, tuple[object, object]] = {
        "timezone": (definition.timezone, plain.timezone),
        "input": (dict(definition.input), {}),
        "concurrency_policy": (str(definition.concurrency), str(plain.concurrency)),
        "limits": (_limits_document(definition.limits), {}),
        "requires": (list(definition.requires), []),
        "enabled": (definition.enabled, True),
    }
    named = {} if definition.name is None else {"name": definition.name}
    written = {name: value for name, (value, usual) in optional.items() if value != usual}
    return {**named, "graph_id": definition.graph_id, "cron": definition.cron, **written}


def _limits_document(limits: GraphLimits) -> dict[str, Any]:
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
    }
