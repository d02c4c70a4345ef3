"""A whole manifest, checked: everything that is wrong with it, at once.

For a file and for a request alike; paths are like `jobs[0].endpoints[2].url`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from cadenza.domain.cron import Cron
from cadenza.domain.definition import (
    EndpointDefinition,
    JobDefinition,
    ValidationPolicy,
    errors_in,
    job_errors,
    model_errors,
    rule_errors,
    rule_warnings,
    warnings_of,
)
from cadenza.domain.endpoint import OnDemand
from cadenza.domain.errors import InvalidInput
from cadenza.domain.schedule import DeclaredSchedule, ScheduleDefinition, check_schedule
from cadenza.domain.target import HttpTarget
from cadenza.manifest.building import (
    MAX_ERRORS,
    Built,
    BuiltJob,
    build,
    build_jobs,
    build_schedules,
    replaced_fields,
)
from cadenza.manifest.models import (
    EndpointDocument,
    JobFields,
    RuleDocument,
    ScheduleDocument,
)
from cadenza.manifest.reading import contradictions_of, read_endpoint, read_job_fields
from cadenza.manifest.rules import read_rules
from cadenza.manifest.schedules import read_declared

Named = JobFields | EndpointDocument | ScheduleDocument


@dataclass(frozen=True, slots=True)
class Checks:
    """What a document cannot say of itself."""

    policy: ValidationPolicy
    cron: Cron
    now: datetime


@dataclass(frozen=True, slots=True)
class Checked:
    """Jobs and schedules only where nothing is wrong; warnings are allowed, with their paths."""

    jobs: tuple[JobDefinition, ...] = ()
    schedules: tuple[DeclaredSchedule, ...] = ()
    errors: tuple[InvalidInput, ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()


def check_manifest(raw: object, checks: Checks) -> Checked:
    """A file, or the body of a request: either may be wrong in every way."""
    errors: list[InvalidInput] = []
    jobs = list(build_jobs(raw, errors))
    schedules = list(build_schedules(raw, errors))
    return _Check(checks, errors).run(jobs, schedules)


def endpoint_errors(document: Mapping[str, object], checks: Checks) -> list[InvalidInput]:
    """Everything that is wrong with one endpoint alone, by its own fields."""
    raw = {"jobs": [{"name": "x", "endpoints": [document]}]}
    return _within("jobs[0].endpoints[0].", check_manifest(raw, checks).errors)


def job_field_errors(document: Mapping[str, object], checks: Checks) -> list[InvalidInput]:
    """The same of one job's fields."""
    return _within("jobs[0].", check_manifest({"jobs": [document]}, checks).errors)


def rule_field_errors(document: Mapping[str, object], checks: Checks) -> list[InvalidInput]:
    """The same of one declared rule."""
    errors: list[InvalidInput] = []
    built = build(RuleDocument, document, (), errors)
    try:
        rules = read_rules([built.document]) if built is not None else ()
        errors += rule_errors(rules, checks.policy)
    except InvalidInput as error:
        errors.append(error)
    return _within("rules[0].", errors)


def _within(path: str, errors: Iterable[InvalidInput]) -> list[InvalidInput]:
    return [
        InvalidInput(error.field.removeprefix(path), error.value, error.fix) for error in errors
    ]


class _Check:
    def __init__(self, checks: Checks, errors: list[InvalidInput]) -> None:
        self._checks = checks
        self._errors = errors
        self._warnings: list[tuple[str, str]] = []

    def run(
        self, jobs: Sequence[BuiltJob], schedules: Sequence[Built[ScheduleDocument]]
    ) -> Checked:
        definitions: list[JobDefinition] = []
        for job, endpoints in jobs:
            definition = self._job(job, endpoints)
            read = tuple(self._endpoint(endpoint) for endpoint in endpoints if not self._is_enough)
            definitions.append(replace(definition, endpoints=read))
            if self._is_enough:
                break
        declared = tuple(self._schedule(schedule) for schedule in schedules if not self._is_enough)
        self._errors += _repeated_names(jobs)
        self._errors += _repeated(schedules, "schedule")
        errors, warnings = tuple(self._errors[:MAX_ERRORS]), tuple(self._warnings)
        if errors:
            return Checked(errors=errors, warnings=warnings)
        return Checked(tuple(definitions), declared, warnings=warnings)

    @property
    def _is_enough(self) -> bool:
        return len(self._errors) >= MAX_ERRORS

    def _job(
        self, job: Built[JobFields], endpoints: Sequence[Built[EndpointDocument]]
    ) -> JobDefinition:
        """Its own fields and rules."""
        try:
            definition = read_job_fields(job.document)
        except InvalidInput as error:
            self._add(job.path, [error])
            return JobDefinition(job.document.name)
        self._add(job.path, job_errors(definition))
        self._add(job.path, rule_errors(definition.rules, self._checks.policy))
        self._add(job.path, model_errors(definition.planner, self._checks.policy))
        if not job.refused:
            names = {name for endpoint in endpoints if (name := _name(endpoint)) is not None}
            warnings = rule_warnings(definition.rules, names)
            self._warnings += [(job.path, warning) for warning in warnings]
        return definition

    def _endpoint(self, endpoint: Built[EndpointDocument]) -> EndpointDefinition:
        """A field that is wrong does not keep the others from being checked."""
        errors: list[InvalidInput] = []
        document, definition, known = endpoint.document, None, set[str]()
        while definition is None:
            try:
                definition = read_endpoint(document)
            except InvalidInput as error:
                errors += contradictions_of(document) or [error]
                wrong = {re.split(r"[.\[]", error.field, maxsplit=1)[0] for error in errors}
                if wrong <= known:  # what stands in their place does not fit the others either
                    self._add(endpoint.path, {str(error): error for error in errors}.values())
                    return EndpointDefinition(document.name, OnDemand(), HttpTarget(""))
                known = wrong
                gone, instead = replaced_fields(EndpointDocument, wrong)
                document = document.model_copy(update=dict.fromkeys(gone) | instead)
        checks = self._checks
        errors += errors_in(definition, checks.policy, checks.now, checks.cron)
        self._add(endpoint.path, errors)
        if not errors and not endpoint.refused:
            warnings = warnings_of(definition, checks.now, checks.cron)
            self._warnings += [(endpoint.path, warning) for warning in warnings]
        return definition

    def _schedule(self, schedule: Built[ScheduleDocument]) -> DeclaredSchedule:
        declared = read_declared(schedule.document)
        for check in (check_schedule, self._check_cron):
            try:
                check(declared.definition)
            except InvalidInput as error:
                self._add(schedule.path, [error])
        return declared

    def _check_cron(self, definition: ScheduleDefinition) -> None:
        self._checks.cron.next_after(definition.cron, definition.timezone, self._checks.now)

    def _add(self, path: str, errors: Iterable[InvalidInput]) -> None:
        self._errors += [
            InvalidInput(f"{path}.{error.field}", error.value, error.fix) for error in errors
        ]


def _name(built: Built[Named]) -> str | None:
    return None if "name" in built.refused else built.document.name


def _repeated_names(jobs: Sequence[BuiltJob]) -> Iterator[InvalidInput]:
    yield from _repeated([job for job, _ in jobs], "job")
    for _, endpoints in jobs:
        yield from _repeated(endpoints, "endpoint of the job")


def _repeated(items: Sequence[Built[Named]], kind: str) -> Iterator[InvalidInput]:
    first: dict[str, str] = {}
    for item in items:
        name = _name(item)
        if name in first:
            yield InvalidInput(f"{item.path}.name", name, f"another {kind} has it: {first[name]}")
        elif name is not None:
            first[name] = item.path
