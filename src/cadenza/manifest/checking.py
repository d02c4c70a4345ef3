"""A whole manifest, checked: everything that is wrong with it, at once.

For a file and for a request alike; paths are like `jobs[0].endpoints[2].url`. Pydantic builds each
document once. Only where it refuses some fields, it builds the rest again without them, so that the
rest is checked, too.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from pydantic import ValidationError

from cadenza.domain.cron import Cron
from cadenza.domain.definition import (
    EndpointDefinition,
    JobDefinition,
    ValidationPolicy,
    check_job,
    errors_in,
    rule_errors,
    rule_warnings,
    warnings_of,
)
from cadenza.domain.errors import InvalidInput
from cadenza.manifest.models import (
    Document,
    EndpointDocument,
    JobFields,
    JobOfRawEndpoints,
    ManifestDocument,
    ManifestOfRawJobs,
)
from cadenza.manifest.reading import (
    OF_BASELINE,
    OF_HTTP,
    OF_SHELL,
    Location,
    contradictions_of,
    errors_of,
    path_of,
    read_endpoint,
    read_job_fields,
)

MAX_ERRORS = 1000  # with more than that, the first ones need fixing before the rest is of use
_BASELINE = frozenset((*OF_BASELINE, "timezone"))
_D_co = TypeVar("_D_co", bound=Document, covariant=True)


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


@dataclass(frozen=True, slots=True)
class _Built(Generic[_D_co]):
    """A document, and which of its fields were refused: harmless values stand in for those."""

    path: str
    document: _D_co
    refused: AbstractSet[str] = frozenset()


_Job = tuple[_Built[JobFields], list[_Built[EndpointDocument]]]


def check_documents(document: ManifestDocument, checks: Checks) -> Checked:
    """For the server, whose request was built into documents already."""
    jobs: list[_Job] = [
        (
            _Built(f"jobs[{job_index}]", job),
            [
                _Built(f"jobs[{job_index}].endpoints[{index}]", endpoint)
                for index, endpoint in enumerate(job.endpoints)
            ],
        )
        for job_index, job in enumerate(document.jobs)
    ]
    return _Check(checks).run(jobs)


def check_manifest(raw: object, checks: Checks) -> Checked:
    """For what may be wrong in every way, like the content of a file."""
    check = _Check(checks)
    return check.run(list(check.build(raw)))


class _Check:
    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self._errors: list[InvalidInput] = []
        self._warnings: list[tuple[str, str]] = []

    def run(self, jobs: Sequence[_Job]) -> Checked:
        definitions: list[JobDefinition] = []
        for job, endpoints in jobs:
            if self._is_enough:
                break
            definition = self._job(job, endpoints)
            read = tuple(self._endpoint(each) for each in endpoints if not self._is_enough)
            if definition is not None:
                definitions.append(replace(definition, endpoints=read))
        self._errors += _repeated_names(jobs)
        errors, warnings = tuple(self._errors[:MAX_ERRORS]), tuple(self._warnings)
        return Checked(() if errors else tuple(definitions), errors, warnings)

    @property
    def _is_enough(self) -> bool:
        return len(self._errors) >= MAX_ERRORS

    # --- Documents ------------------------------------------------------------------------

    def build(self, raw: object) -> Iterator[_Job]:
        manifest = self._built(ManifestOfRawJobs, raw, ())
        for job_index, raw_job in enumerate(manifest.document.jobs if manifest else ()):
            job = self._built(JobOfRawEndpoints, raw_job, ("jobs", job_index))
            if job is None:
                continue
            endpoints = [
                self._built(EndpointDocument, each, ("jobs", job_index, "endpoints", index))
                for index, each in enumerate(job.document.endpoints)
                if not self._is_enough
            ]
            yield job, [endpoint for endpoint in endpoints if endpoint is not None]

    def _built(self, model: type[_D_co], raw: object, location: Location) -> _Built[_D_co] | None:
        """None where there is no object of fields at all."""
        path = path_of(location)
        try:
            return _Built(path, model.model_validate(raw))
        except ValidationError as error:
            self._errors += errors_of(error, location)
            if not isinstance(raw, dict):
                return None
            refused = {str(each["loc"][0]) for each in error.errors(include_url=False)}
        gone, stand_ins = _replaced(model, refused)
        fields = cast("dict[str, Any]", raw)
        rest = {name: value for name, value in fields.items() if name not in gone}
        return _Built(path, model.model_validate(rest | stand_ins), refused)

    # --- What documents say ---------------------------------------------------------------

    def _job(
        self, job: _Built[JobFields], endpoints: Sequence[_Built[EndpointDocument]]
    ) -> JobDefinition | None:
        """Its own fields and rules; None where they contradict each other."""
        try:
            definition = read_job_fields(job.document)
            check_job(definition)
        except InvalidInput as error:
            self._add(job.path, [error])
            return None
        rules = definition.rules
        self._add(job.path, rule_errors(rules, self._checks.rules))
        if not job.refused:
            names = {name for each in endpoints if (name := _name(each)) is not None}
            self._warnings += [(job.path, text) for text in rule_warnings(rules, names)]
        return definition

    def _endpoint(self, endpoint: _Built[EndpointDocument]) -> EndpointDefinition:
        """A field that is wrong does not keep the others from being checked."""
        errors: list[InvalidInput] = []
        document = endpoint.document
        while (definition := _read(document, errors)) is None:
            gone, stand_ins = _replaced(EndpointDocument, {_top_field(each) for each in errors})
            document = document.model_copy(update=dict.fromkeys(gone) | stand_ins)
        checks = self._checks
        errors += errors_in(definition, checks.rules, checks.now, checks.cron)
        self._add(endpoint.path, errors)
        if not errors and not endpoint.refused:
            warnings = warnings_of(definition, checks.now, checks.cron)
            self._warnings += [(endpoint.path, text) for text in warnings]
        return definition

    def _add(self, path: str, errors: Iterable[InvalidInput]) -> None:
        self._errors += [
            InvalidInput(f"{path}.{error.field}", error.value, error.fix) for error in errors
        ]


def _read(document: EndpointDocument, errors: list[InvalidInput]) -> EndpointDefinition | None:
    """None where fields contradict each other; which ones is added to the errors."""
    try:
        return read_endpoint(document)
    except InvalidInput:
        errors += contradictions_of(document)
        return None


def _replaced(model: type[Document], refused: AbstractSet[str]) -> tuple[set[str], dict[str, Any]]:
    """The fields to leave out with those that were refused, and what stands in for them."""
    gone = set(refused)
    stand_ins: dict[str, Any] = {"name": "x"} if "name" in gone else {}
    if model is ManifestOfRawJobs:
        stand_ins = {"jobs": []} if "jobs" in gone else {}
    if model is EndpointDocument:
        if not gone.isdisjoint(_BASELINE):
            gone |= _BASELINE
            stand_ins["on_demand"] = True
        if not gone.isdisjoint(("url", "command")):
            gone.update(OF_HTTP, OF_SHELL)
            stand_ins["url"] = "https://example.com/"
    return gone, stand_ins


def _top_field(error: InvalidInput) -> str:
    """`headers` of `headers.X-Key`, `command` of `command[2]`."""
    return re.split(r"[.\[]", error.field, maxsplit=1)[0]


def _name(built: _Built[JobFields] | _Built[EndpointDocument]) -> str | None:
    return None if "name" in built.refused else built.document.name


def _repeated_names(jobs: Sequence[_Job]) -> Iterator[InvalidInput]:
    yield from _repeated([job for job, _ in jobs], "job")
    for _, endpoints in jobs:
        yield from _repeated(endpoints, "endpoint of the job")


def _repeated(
    items: Sequence[_Built[JobFields]] | Sequence[_Built[EndpointDocument]], kind: str
) -> Iterator[InvalidInput]:
    first: dict[str, str] = {}
    for item in items:
        name = _name(item)
        if name is None:
            continue
        if name in first:
            yield InvalidInput(f"{item.path}.name", name, f"another {kind} has it: {first[name]}")
        first.setdefault(name, item.path)
