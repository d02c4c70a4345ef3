"""Schedules: a graph, its input, and when it runs on behalf of a grant."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from cadenza.domain.definition import check_name
from cadenza.domain.errors import InvalidInput
from cadenza.domain.graph import GraphLimits, check_graph_id, check_limits, check_size, model_of

_LABEL = re.compile(r"[a-z0-9][a-z0-9._/-]{0,62}(=[A-Za-z0-9._/-]{1,63})?")
MAX_LABELS = 20


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
        return model_of(self.input)


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


def check_labels(path: str, labels: tuple[str, ...]) -> None:
    if len(labels) > MAX_LABELS:
        raise InvalidInput(path, list(labels), f"at most {MAX_LABELS} labels")
    for number, label in enumerate(labels):
        if not _LABEL.fullmatch(label):
            raise InvalidInput(f"{path}[{number}]", label, "a label such as gpu or region=eu")
