"""From what is there to what is wanted: what `apply` would do, and does."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.errors import InvalidInput
from cadenza.domain.target import HttpTarget, Secret
from cadenza.manifest.models import KEPT
from cadenza.manifest.writing import endpoint_document, job_document

CHANGED_SECRET = f"{KEPT} (another value)"
_HEADERS = ("headers", "secret_headers")


class Act(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    ARCHIVE = "archive"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """As documents have it; None where the field is not there. Secrets are masked."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Change:
    act: Act
    job: str
    endpoint: str | None = None  # None: the job itself
    fields: tuple[FieldChange, ...] = ()


def difference(
    present: Sequence[JobDefinition], wanted: Sequence[JobDefinition], *, prune: bool
) -> list[Change]:
    """What is wanted in its order, a job before its endpoints; then what is archived."""
    stored = {job.name: job for job in present}
    named = {job.name for job in wanted}
    changes = [
        change for job in wanted for change in _job_changes(stored.get(job.name), job, prune=prune)
    ]
    if prune:
        for job in present:
            if job.name not in named:
                changes += _archived(job)
    return changes


def merged_jobs(
    present: Sequence[JobDefinition], wanted: Sequence[JobDefinition], *, prune: bool
) -> list[JobDefinition]:
    """What there is after `wanted` was applied; InvalidInput where there is no secret to keep."""
    filled = with_stored_secrets(present, wanted)
    if prune:
        return filled
    stored = {job.name: job for job in present}
    named = {job.name for job in filled}
    merged = [_with_others(stored.get(job.name), job) for job in filled]
    return merged + [job for job in present if job.name not in named]


def _with_others(present: JobDefinition | None, wanted: JobDefinition) -> JobDefinition:
    named = {each.name for each in wanted.endpoints}
    others = tuple(each for each in present.endpoints if each.name not in named) if present else ()
    return replace(wanted, endpoints=wanted.endpoints + others)


def kept_secrets_missing(
    present: Sequence[JobDefinition], wanted: Sequence[JobDefinition]
) -> list[InvalidInput]:
    """Every secret that should be kept although none is stored."""
    stored = _endpoints(present)
    errors: list[InvalidInput] = []
    for job_place, job in enumerate(wanted):
        for place, endpoint in enumerate(job.endpoints):
            known = _by_lower_name(stored.get((job.name, endpoint.name)))
            path = f"jobs[{job_place}].endpoints[{place}].secret_headers"
            for name, secret in _secrets(endpoint).items():
                if secret.value == KEPT and name.lower() not in known:
                    fix = "there is no stored secret to keep; write the secret, or ${NAME}"
                    errors.append(InvalidInput(f"{path}.{name}", Secret(""), fix))
    return errors


def with_stored_secrets(
    present: Sequence[JobDefinition], wanted: Sequence[JobDefinition]
) -> list[JobDefinition]:
    """The wanted ones as they are to be stored; InvalidInput where there is nothing to keep."""
    for error in kept_secrets_missing(present, wanted):
        raise error
    stored = _endpoints(present)
    return [
        replace(
            job,
            endpoints=tuple(
                _filled(each, _by_lower_name(stored.get((job.name, each.name))))
                for each in job.endpoints
            ),
        )
        for job in wanted
    ]


def _filled(wanted: EndpointDefinition, stored: Mapping[str, Secret]) -> EndpointDefinition:
    target = wanted.target
    if not isinstance(target, HttpTarget):
        return wanted
    secrets = {
        name: stored[name.lower()] if secret.value == KEPT else secret
        for name, secret in target.secret_headers.items()
    }
    return replace(wanted, target=replace(target, secret_headers=secrets))


def _endpoints(jobs: Sequence[JobDefinition]) -> dict[tuple[str, str], EndpointDefinition]:
    return {(job.name, each.name): each for job in jobs for each in job.endpoints}


def _secrets(endpoint: EndpointDefinition | None) -> Mapping[str, Secret]:
    if endpoint is None or not isinstance(endpoint.target, HttpTarget):
        return {}
    return endpoint.target.secret_headers


def _by_lower_name(endpoint: EndpointDefinition | None) -> Mapping[str, Secret]:
    """Upper and lower case are the same in the name of a header."""
    return {name.lower(): secret for name, secret in _secrets(endpoint).items()}


# --- Changes --------------------------------------------------------------------------------


def _job_changes(
    before: JobDefinition | None, after: JobDefinition, *, prune: bool
) -> Iterator[Change]:
    fields = _changed(_declared(before) if before else {}, _declared(after))
    yield Change(_act(before is None, fields), after.name, None, fields)
    stored = {each.name: each for each in before.endpoints} if before else {}
    for endpoint in after.endpoints:
        yield _endpoint_change(after.name, stored.get(endpoint.name), endpoint)
    named = {each.name for each in after.endpoints}
    for name in stored if prune else ():
        if name not in named:
            yield Change(Act.ARCHIVE, after.name, name)


def _declared(job: JobDefinition) -> dict[str, Any]:
    """The document without its name and its endpoints."""
    document = job_document(replace(job, endpoints=()))
    return {field: value for field, value in document.items() if field != "name"}


def _archived(job: JobDefinition) -> list[Change]:
    own = Change(Act.ARCHIVE, job.name)
    return [own, *(Change(Act.ARCHIVE, job.name, each.name) for each in job.endpoints)]


def _endpoint_change(
    job: str, before: EndpointDefinition | None, after: EndpointDefinition
) -> Change:
    known = _flat(before) if before else {}
    fields = _changed(known, _flat(after)) + _changed_secrets(before, after)
    return Change(_act(before is None, fields), job, after.name, fields)


def _act(is_new: bool, fields: tuple[FieldChange, ...]) -> Act:
    if is_new:
        return Act.CREATE
    return Act.UPDATE if fields else Act.UNCHANGED


def _flat(endpoint: EndpointDefinition) -> dict[str, Any]:
    """The document without its name, each header a field of its own."""
    flat: dict[str, Any] = {}
    for name, value in endpoint_document(endpoint).items():
        if name in _HEADERS:
            flat.update({f"{name}.{header}": text for header, text in value.items()})
        elif name != "name":
            flat[name] = value
    return flat


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[FieldChange, ...]:
    fields = dict.fromkeys([*before, *after])
    return tuple(
        FieldChange(field, before.get(field), after.get(field))
        for field in fields
        if before.get(field) != after.get(field)
    )


def _changed_secrets(
    before: EndpointDefinition | None, after: EndpointDefinition
) -> tuple[FieldChange, ...]:
    """Those that are on both sides; that one comes or goes is seen without looking into it."""
    stored = _secrets(before)
    return tuple(
        FieldChange(f"secret_headers.{name}", KEPT, CHANGED_SECRET)
        for name, secret in _secrets(after).items()
        if name in stored and secret.value not in (KEPT, stored[name].value)
    )
