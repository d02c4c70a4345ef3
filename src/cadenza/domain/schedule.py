"""Schedules: a graph, its input, and when it runs on behalf of a grant."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from cadenza.domain.definition import check_name
from cadenza.domain.errors import InvalidInput
from cadenza.domain.graph import MAX_INPUT_BYTES, MAX_TIME, GraphLimits, check_graph_id

_LABEL = re.compile(r"[a-z0-9][a-z0-9._/-]{0,62}(=[A-Za-z0-9._/-]{1,63})?")
MAX_LABELS = 20
MIN_MEMORY_MB, MAX_MEMORY_MB = 32, 1_048_576
MAX_STEPS = 10_000
MAX_CALLS = 1_000_000
MAX_TOKENS = 10**12
MAX_LIMIT_CREDITS = 10**15
MAX_CPUS, MAX_GPUS = 1024, 64


class Concurrency(StrEnum):
    """What happens when a slot is due while a run of the schedule is under way."""

    FORBID = "forbid"  # it waits, and is skipped when the next one is due
    ALLOW = "allow"
    REPLACE = "replace"  # the run under way is cancelled


@dataclass(frozen=True, slots=True)
class ScheduleDefinition:
    graph_id: str
    cron: str
    timezone: str = "UTC"
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    name: str | None = None
    concurrency: Concurrency = Concurrency.FORBID
    limits: GraphLimits = field(default_factory=GraphLimits)
    requires: tuple[str, ...] = ()  # labels that a worker must have
    enabled: bool = True

    @property
    def model(self) -> str | None:
        """The model that the input asks for; its price must be known."""
        model = self.input.get("model")
        return model if isinstance(model, str) else None


@dataclass(frozen=True, slots=True)
class DeclaredSchedule:
    """As a file has it: its definition has a name, and the account its name or id."""

    definition: ScheduleDefinition
    account: str | None = None  # None: whichever it has, or the tenant's only one

    @property
    def name(self) -> str:
        assert self.definition.name is not None
        return self.definition.name


@dataclass(frozen=True, slots=True)
class Schedule:
    id: UUID
    tenant_id: UUID
    user_id: UUID  # its owner, to whom its runs belong
    grant_id: UUID
    definition: ScheduleDefinition
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None
    revision: int = 1
    last_run_at: datetime | None = None
    last_ended_at: datetime | None = None
    next_run_at: datetime | None = None  # the slot that waits

    @property
    def label(self) -> str:
        return self.definition.name or self.definition.graph_id


def check_schedule(definition: ScheduleDefinition) -> None:
    """All but cron and zone, which the Cron port judges."""
    if definition.name is not None:
        check_name("name", definition.name)
    check_graph_id(definition.graph_id)
    check_size("input", definition.input)
    check_limits(definition.limits)
    check_labels("requires", definition.requires)


def check_size(path: str, value: Any) -> None:
    """Of what a graph is given."""
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except (RecursionError, ValueError) as error:  # of a file: a request is read strictly
        fix = (
            "it cannot be written as JSON: no NaN, no infinity, no half character, no endless nest"
        )
        raise InvalidInput(path, "(an object)", fix) from error
    if size > MAX_INPUT_BYTES:
        raise InvalidInput(path, f"{size} bytes", f"at most {MAX_INPUT_BYTES} bytes of JSON")


def check_labels(path: str, labels: tuple[str, ...]) -> None:
    if len(labels) > MAX_LABELS:
        raise InvalidInput(path, list(labels), f"at most {MAX_LABELS} labels")
    for number, label in enumerate(labels):
        if not _LABEL.fullmatch(label):
            raise InvalidInput(f"{path}[{number}]", label, "a label such as gpu or region=eu")


def check_limits(limits: GraphLimits) -> None:
    if not timedelta(seconds=1) <= limits.time <= MAX_TIME:
        raise InvalidInput("limits.time", str(limits.time), "from 1 second to 24 hours")
    _check_between("memory_mb", limits.memory_mb, MIN_MEMORY_MB, MAX_MEMORY_MB)
    _check_between("steps", limits.steps, 1, MAX_STEPS)
    _check_between("calls", limits.calls, 1, MAX_CALLS)
    _check_between("tokens", limits.tokens, 1, MAX_TOKENS)
    _check_between("credits", limits.credits, 1, MAX_LIMIT_CREDITS)
    _check_between("cpus", limits.cpus, 0, MAX_CPUS)
    _check_between("gpus", limits.gpus, 0, MAX_GPUS)
    if limits.gpus is not None and limits.gpus > 1 and limits.gpus % 1:
        raise InvalidInput("limits.gpus", limits.gpus, "a part of one, like 0.5, or whole ones")


def _check_between(name: str, value: float | None, least: int, most: int) -> None:
    if value is not None and not least <= value <= most:
        raise InvalidInput(f"limits.{name}", value, f"from {least:,} to {most:,}")
