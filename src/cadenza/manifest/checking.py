"""A whole manifest at the door: everything that is wrong with it, at once.

For a file and for a request alike; paths are like `jobs[0].endpoints[2].url`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from cadenza.domain.cron import Cron
from cadenza.domain.definition import (
    JobDefinition,
    ValidationPolicy,
    check_job,
    errors_in,
    rule_errors,
    rule_warnings,
    warnings_of,
)
from cadenza.domain.errors import InvalidInput
from cadenza.manifest.models import EndpointDocument, JobFields, ManifestDocument
from cadenza.manifest.reading import (
    contradictions_of,
    errors_of,
    read_endpoint,
    read_job,
    read_job_fields,
)
from cadenza.manifest.stand_ins import top_field, without
from cadenza.manifest.walking import Item, endpoints_in, jobs_in

MAX_ERRORS = 1000  # then it is time to mend something


@dataclass(frozen=True, slots=True)
class Checks:
    """What a document cannot say of itself."""

    rules: ValidationPolicy
    cron: Cron
    now: datetime


@dataclass(frozen=True, slots=True)
class Checked:
    """Jobs only where nothing is wrong; warnings are allowed, with their paths."""

    jobs: tuple[JobDefinition, ...] = ()
    errors: tuple[InvalidInput, ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()


def check_manifest(raw: object, checks: Checks) -> Checked:
    document, errors = _document(raw)
    warnings: list[tuple[str, str]] = []
    for path, job in jobs_in(raw):
        if len(errors) >= MAX_ERRORS:
            break
        found_in_job, job_warnings = _check_job(job, checks)
        errors += _prefixed(path, found_in_job)
        warnings += [(path, each) for each in job_warnings]
        for endpoint_path, endpoint in endpoints_in(job, path):
            found, said = _check_endpoint(endpoint, checks)
            errors += _prefixed(endpoint_path, found)
            if len(errors) >= MAX_ERRORS:
                break
            warnings += [(endpoint_path, each) for each in said]
    errors += _names_given_twice(raw)
    if document is None or errors:
        return Checked(errors=tuple(errors[:MAX_ERRORS]), warnings=tuple(warnings))
    return Checked(tuple(map(read_job, document.jobs)), warnings=tuple(warnings))


def _document(raw: object) -> tuple[ManifestDocument | None, list[InvalidInput]]:
    try:
        return ManifestDocument.model_validate(raw), []
    except ValidationError as error:
        return None, errors_of(error)


def _check_job(job: dict[str, Any], checks: Checks) -> tuple[list[InvalidInput], list[str]]:
    """Its own fields and rules; endpoints are looked at one by one."""
    own = {name: value for name, value in job.items() if name != "endpoints"}
    try:
        definition = read_job_fields(JobFields.model_validate(own))
        check_job(definition)
    except ValidationError:
        return [], []  # told with the document
    except InvalidInput as error:
        return [error], []
    named = [(each.get("name"), path) for path, each in endpoints_in(job, "")]
    names = frozenset(name for name, _ in named if isinstance(name, str))
    return list(rule_errors(definition.rules, checks.rules)), rule_warnings(definition.rules, names)


def _check_endpoint(raw: dict[str, Any], checks: Checks) -> tuple[list[InvalidInput], list[str]]:
    """A field that is wrong does not keep the others from being looked at."""
    told: list[InvalidInput] = []
    bad = _misshapen(raw)
    document = EndpointDocument.model_validate(without(raw, bad))
    while found := contradictions_of(document):
        told += found
        bad |= {top_field(each.field) for each in found}
        document = EndpointDocument.model_validate(without(raw, bad))
    definition = read_endpoint(document)
    told += errors_in(definition, checks.rules, checks.now, checks.cron)
    wrong = bad or told
    return told, [] if wrong else warnings_of(definition, checks.now, checks.cron)


def _misshapen(raw: dict[str, Any]) -> set[str]:
    """Fields that were told of with the document."""
    try:
        EndpointDocument.model_validate(raw)
    except ValidationError as error:
        return {top_field(each.field) for each in errors_of(error)}
    return set()


def _names_given_twice(raw: object) -> Iterator[InvalidInput]:
    jobs = list(jobs_in(raw))
    yield from _repeated(jobs, "job")
    for path, job in jobs:
        yield from _repeated(endpoints_in(job, path), "endpoint of the job")


def _repeated(items: Iterable[Item], what: str) -> Iterator[InvalidInput]:
    first: dict[str, str] = {}
    for path, item in items:
        name = item.get("name")
        if isinstance(name, str):
            if name in first:
                yield InvalidInput(f"{path}.name", name, f"another {what} has it: {first[name]}")
            first.setdefault(name, path)


def _prefixed(path: str, errors: Iterator[InvalidInput] | list[InvalidInput]) -> list[InvalidInput]:
    return [InvalidInput(f"{path}.{each.field}", each.value, each.fix) for each in errors]
