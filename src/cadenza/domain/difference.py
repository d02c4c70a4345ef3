"""From what is stored to what is wanted: computed once, then displayed and written as it is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.errors import InvalidFields, InvalidInput
from cadenza.domain.target import keeping_stored, masking_secrets, secrets_missing

Definition = JobDefinition | EndpointDefinition


class ChangeKind(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    ARCHIVE = "archive"
    DELETE = "delete"  # of a schedule
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Change:
    """Of one endpoint, or of a job's own fields (then without its endpoints, which have their own).

    Secrets in `before` are masked. In `after`, `Secret(KEPT)` leaves the stored ciphertext of this
    header as it is, and every other secret is to be sealed.
    """

    kind: ChangeKind
    job: str
    endpoint: str | None  # None: the job itself
    before: Definition | None
    after: Definition | None


def difference(
    stored: Sequence[JobDefinition], wanted: Sequence[JobDefinition], *, prune: bool
) -> tuple[Change, ...]:
    """What is wanted in its order, a job before its endpoints; then what is archived.

    Stored secrets are open, or `Secret(KEPT)` where they do not open. InvalidFields with every
    secret that should be kept and is not stored.
    """
    return tuple(differences(stored, wanted, prune=prune))


def differences(
    stored: Sequence[JobDefinition], wanted: Sequence[JobDefinition], *, prune: bool
) -> Iterator[Change]:
    """The same, one after the other."""
    if missing := list(_secrets_missing(stored, wanted)):
        raise InvalidFields(missing)
    present = {job.name: job for job in stored}
    for job in wanted:
        yield from _job_changes(present.pop(job.name, None), job, prune=prune)
    for job in present.values() if prune else ():
        yield from _job_changes(job, None, prune=True)


def _secrets_missing(
    stored: Sequence[JobDefinition], wanted: Sequence[JobDefinition]
) -> Iterator[InvalidInput]:
    targets = {
        (job.name, endpoint.name): endpoint.target for job in stored for endpoint in job.endpoints
    }
    for job_index, job in enumerate(wanted):
        for index, endpoint in enumerate(job.endpoints):
            path = f"jobs[{job_index}].endpoints[{index}].secret_headers"
            present = targets.get((job.name, endpoint.name))
            yield from secrets_missing(endpoint.target, present, path)


def _job_changes(
    before: JobDefinition | None, after: JobDefinition | None, *, prune: bool
) -> Iterator[Change]:
    job = after or before
    assert job is not None
    yield _change(job.name, None, _own_fields(before), _own_fields(after))
    stored = {endpoint.name: endpoint for endpoint in before.endpoints} if before else {}
    for endpoint in after.endpoints if after else ():
        present = stored.pop(endpoint.name, None)
        target = keeping_stored(endpoint.target, present.target if present else None)
        yield _change(job.name, endpoint.name, _masked(present), replace(endpoint, target=target))
    for endpoint in stored.values() if prune else ():
        yield _change(job.name, endpoint.name, _masked(endpoint), None)


def _change(
    job: str, endpoint: str | None, before: Definition | None, after: Definition | None
) -> Change:
    if before is None:
        kind = ChangeKind.CREATE
    elif after is None:
        kind = ChangeKind.ARCHIVE
    else:
        kind = ChangeKind.UNCHANGED if before == after else ChangeKind.UPDATE
    return Change(kind, job, endpoint, before, after)


def _own_fields(job: JobDefinition | None) -> JobDefinition | None:
    return replace(job, endpoints=()) if job else None


def _masked(endpoint: EndpointDefinition | None) -> EndpointDefinition | None:
    return replace(endpoint, target=masking_secrets(endpoint.target)) if endpoint else None
