"""A change as people read it: each field that differs, as documents have it; secrets are masked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.difference import Change, ChangeKind, Definition
from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.rule import Rule
from cadenza.domain.schedule import DeclaredSchedule
from cadenza.domain.schedule_difference import ScheduleChange
from cadenza.domain.target import KEPT, secrets_of
from cadenza.manifest.rules import rule_document
from cadenza.manifest.schedules import declared_document
from cadenza.manifest.writing import endpoint_document, job_document

CHANGED_SECRET = f"{KEPT} (another value)"
_HEADERS = ("headers", "secret_headers")


@dataclass(frozen=True, slots=True)
class FieldChange:
    """None where the field is not there."""

    field: str
    before: Any
    after: Any


def schedule_field_changes(change: ScheduleChange) -> tuple[FieldChange, ...]:
    """None of what is deleted."""
    if change.after is None:
        return ()
    return tuple(_differing(_declared_fields(change.before), _declared_fields(change.after)))


def _declared_fields(declared: DeclaredSchedule | None) -> dict[str, Any]:
    document = {} if declared is None else declared_document(declared)
    return {name: value for name, value in document.items() if name != "name"}


def field_changes(change: Change) -> tuple[FieldChange, ...]:
    """None of what is archived: it goes as a whole."""
    if change.kind is ChangeKind.ARCHIVE:
        return ()
    changes = list(_differing(_fields(change.before), _fields(change.after)))
    if isinstance(change.after, JobDefinition):
        before = change.before.rules if isinstance(change.before, JobDefinition) else ()
        changes += _rule_changes(before, change.after.rules)
    elif isinstance(change.after, EndpointDefinition):
        changes += _changed_secrets(change.before, change.after)
    return tuple(changes)


def _fields(definition: Definition | None) -> dict[str, Any]:
    """The document without its name, each header a field of its own, and without its rules."""
    if definition is None:
        return {}
    if isinstance(definition, JobDefinition):
        document = job_document(definition)
        return {name: value for name, value in document.items() if name not in ("name", "rules")}
    fields: dict[str, Any] = {}
    for name, value in endpoint_document(definition).items():
        if name in _HEADERS:
            fields |= {f"{name}.{header}": text for header, text in value.items()}
        elif name != "name":
            fields[name] = value
    return fields


def _differing(
    before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = ""
) -> Iterator[FieldChange]:
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            yield FieldChange(f"{prefix}{name}", before.get(name), after.get(name))


def _rule_changes(before: Sequence[Rule], after: Sequence[Rule]) -> Iterator[FieldChange]:
    """By the name of the rule: a changed one part by part, a new or removed one as a whole."""
    stored, wanted = (
        {document.pop("name"): document for document in map(rule_document, rules)}
        for rules in (before, after)
    )
    for name in dict.fromkeys([*stored, *wanted]):
        if name in stored and name in wanted:
            yield from _differing(stored[name], wanted[name], f"rules.{name}.")
        else:
            yield FieldChange(f"rules.{name}", stored.get(name), wanted.get(name))
    in_present_order = [name for name in stored if name in wanted]
    new = [name for name in wanted if name not in stored]
    if [*in_present_order, *new] != list(wanted):
        yield FieldChange("rules", list(stored), list(wanted))


def _changed_secrets(before: Definition | None, after: EndpointDefinition) -> Iterator[FieldChange]:
    """Those that are on both sides; that one comes or goes is seen by its masked field."""
    stored = secrets_of(before.target if isinstance(before, EndpointDefinition) else None)
    for name, secret in secrets_of(after.target).items():
        if name in stored and secret.value != KEPT:
            is_header = not isinstance(after.target, QueueTarget)
            path = f"secret_headers.{name}" if is_header else name
            yield FieldChange(path, KEPT, CHANGED_SECRET)
