"""Documents from what may be wrong in every way: everything that pydantic refuses, at once.

Each document is built once. Only where some of its fields are refused, the rest is built again
without them, so that the rest can be checked, too.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from pydantic import ValidationError

from cadenza.domain.errors import InvalidInput
from cadenza.manifest.models import (
    MAX_ENDPOINTS,
    Document,
    EndpointDocument,
    JobFields,
    JobOfRawEndpoints,
    ManifestOfRawJobs,
    RuleDocument,
    ScheduleDocument,
)
from cadenza.manifest.reading import (
    OF_BASELINE,
    TARGETS,
    Location,
    errors_of,
    path_of,
)

MAX_ERRORS = 1000  # with more than that, the first ones need fixing before the rest is of use
_BASELINE = frozenset((*OF_BASELINE, "timezone"))
D_co = TypeVar("D_co", bound=Document, covariant=True)


@dataclass(frozen=True, slots=True)
class Built(Generic[D_co]):
    """A document, and which of its fields were refused: it has harmless values instead."""

    path: str
    document: D_co
    refused: AbstractSet[str] = frozenset()


BuiltJob = tuple[Built[JobFields], list[Built[EndpointDocument]]]


def build_jobs(raw: object, errors: list[InvalidInput]) -> Iterator[BuiltJob]:
    """One by one; what is refused is added to the errors."""
    manifest = build(ManifestOfRawJobs, raw, (), errors)
    count = 0
    for job_index, raw_job in enumerate(manifest.document.jobs if manifest else ()):
        location: Location = ("jobs", job_index)
        job = build(JobOfRawEndpoints, raw_job, location, errors)
        if job is None:
            continue
        count += len(job.document.endpoints)
        if count > MAX_ENDPOINTS:
            fix = f"{MAX_ENDPOINTS:,} in all jobs of a file are the most; use several files"
            errors.append(InvalidInput("jobs", f"{count:,} endpoints or more", fix))
            return
        endpoints = [
            build(EndpointDocument, raw_endpoint, (*location, "endpoints", index), errors)
            for index, raw_endpoint in enumerate(job.document.endpoints)
            if len(errors) < MAX_ERRORS
        ]
        yield job, [endpoint for endpoint in endpoints if endpoint is not None]


def build_schedules(raw: object, errors: list[InvalidInput]) -> Iterator[Built[ScheduleDocument]]:
    """What is no list of them is among the errors of the jobs."""
    raw_schedules = cast("dict[str, Any]", raw).get("schedules") if isinstance(raw, dict) else None
    if not isinstance(raw_schedules, list):
        return
    for index, item in enumerate(cast("list[Any]", raw_schedules)):
        if len(errors) >= MAX_ERRORS:
            return
        if (built := build(ScheduleDocument, item, ("schedules", index), errors)) is not None:
            yield built


def build(
    model: type[D_co], raw: object, location: Location, errors: list[InvalidInput]
) -> Built[D_co] | None:
    """None where there is no object of fields at all."""
    path = path_of(location)
    try:
        return Built(path, model.model_validate(raw))
    except ValidationError as error:
        errors += errors_of(error, location)
        if not isinstance(raw, dict):
            return None
        lines = error.errors(include_url=False)
        refused = {str(line["loc"][0]) for line in lines}
        raw = cast("dict[str, Any]", raw)
        if planner := _right_fields(raw, "planner", lines):
            raw, refused = {**raw, "planner": planner}, refused - {"planner"}
    gone, instead = replaced_fields(model, refused)
    left = model.field_names() - gone
    rest = {name: value for name, value in raw.items() if name in left}
    return Built(path, model.model_validate(rest | instead), refused)


def _right_fields(raw: dict[str, Any], name: str, lines: Sequence[Any]) -> dict[str, Any] | None:
    """What is left of an object without its wrong fields, where single fields are wrong."""
    inner = raw.get(name)
    wrong = {part for line in lines if line["loc"][0] == name for part in line["loc"][1:]}
    if not isinstance(inner, dict):
        return None
    fields = cast("dict[str, Any]", inner)
    return {n: fields[n] for n in fields if n not in wrong} if wrong & fields.keys() else None


def replaced_fields(
    model: type[Document], refused: AbstractSet[str]
) -> tuple[AbstractSet[str], dict[str, Any]]:
    """The fields to leave out because of the refused ones, and harmless values for them."""
    if model is ManifestOfRawJobs:
        return refused, {"jobs": []} if "jobs" in refused else {}
    gone = set(refused)
    instead: dict[str, Any] = {"name": "x"} if "name" in refused else {}
    if model is ScheduleDocument:
        instead |= {"graph_id": "python:x"} if "graph_id" in refused else {}
        instead |= {"cron": "@daily"} if "cron" in refused else {}
    if model is RuleDocument:
        instead |= {"when": "true"} if "when" in refused else {}
        instead |= {"then": {"clear": True}} if "then" in refused else {}
    if model is EndpointDocument:
        if not gone.isdisjoint(_BASELINE):
            gone |= _BASELINE
            instead["on_demand"] = True
        if not gone.isdisjoint(TARGETS):
            gone.update(*TARGETS.values())
            instead["url"] = "https://example.com/"
    return gone, instead
