"""Schedules of graphs as they are written, in requests and in files."""

from typing import Any

from cadenza.domain.schedule import Concurrency, DeclaredSchedule, ScheduleDefinition
from cadenza.manifest.limits import limits_document, read_limits
from cadenza.manifest.models import ScheduleDocument, ScheduleFields


def read_declared(document: ScheduleDocument) -> DeclaredSchedule:
    return DeclaredSchedule(read_schedule(document), document.account)


def declared_document(declared: DeclaredSchedule) -> dict[str, Any]:
    account = {} if declared.account is None else {"account": declared.account}
    return {**schedule_document(declared.definition), **account}


def read_schedule(document: ScheduleFields) -> ScheduleDefinition:
    is_enabled = document.enabled
    return ScheduleDefinition(
        graph_id=document.graph_id,
        cron=document.cron,
        timezone=document.timezone or "UTC",
        input=document.input or {},
        name=document.name,
        concurrency=document.concurrency_policy or Concurrency.FORBID,
        limits=read_limits(document.limits),
        requires=tuple(document.requires or ()),
        enabled=True if is_enabled is None else is_enabled,
    )


def schedule_document(definition: ScheduleDefinition) -> dict[str, Any]:
    """Only what differs from the defaults, beside what is always written."""
    plain = ScheduleDefinition(definition.graph_id, definition.cron)
    optional: dict[str, tuple[object, object]] = {
        "timezone": (definition.timezone, plain.timezone),
        "input": (dict(definition.input), {}),
        "concurrency_policy": (str(definition.concurrency), str(plain.concurrency)),
        "limits": (limits_document(definition.limits), {}),
        "requires": (list(definition.requires), []),
        "enabled": (definition.enabled, True),
    }
    named = {} if definition.name is None else {"name": definition.name}
    written = {name: value for name, (value, usual) in optional.items() if value != usual}
    return {**named, "graph_id": definition.graph_id, "cron": definition.cron, **written}
