"""A whole file of jobs: applied in one transaction, answered with the difference."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from cadenza.application.rule_fit import misfits_of_jobs
from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.difference import Change, ChangeKind, difference
from cadenza.manifest.checking import Checked, Checks, check_documents
from cadenza.manifest.difference_view import field_changes
from cadenza.manifest.models import JobDocument, ManifestDocument
from cadenza.manifest.writing import job_document
from cadenza.web.api.access import ApiDependencies, Operator, Reader, audit_entry
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.problems import Invalid
from cadenza.web.api.routes import router
from cadenza.web.api.schemas import Shown

routes = router("Manifest", "/manifest")


class FieldChangeShown(Shown):
    field: str
    before: Any = None
    after: Any = None


class ChangeShown(Shown):
    act: str = Field(description="create, update, archive or unchanged")
    job: str
    endpoint: str | None = Field(description="null: the job itself")
    fields: list[FieldChangeShown]


class WarningShown(Shown):
    field: str
    text: str


class Applied(Shown):
    dry_run: bool = Field(description="Whether nothing was written.")
    counts: dict[str, int] = Field(description="How many of each act.")
    changes: list[ChangeShown] = Field(description="What is unchanged is only counted.")
    warnings: list[WarningShown]


@routes.put("")
async def apply_manifest(
    body: ManifestDocument,
    caller: Operator,
    dependencies: ApiDependencies,
    dry_run: Annotated[bool, Query(description="Only say what would change.")] = False,
    prune: Annotated[bool, Query(description="Archive what the file does not have.")] = False,
) -> Applied:
    """All of it, or, where anything is wrong, nothing."""
    # A thousand crons take a while: in a thread, so that others are served meanwhile.
    checked = await asyncio.to_thread(_checked, body, dependencies)
    misfits = await misfits_of_jobs(
        caller.tenant_id, checked.jobs, dependencies.latest_answers, dependencies.expressions
    )
    checked = replace(checked, warnings=(*checked.warnings, *misfits))
    if dry_run:
        present = await dependencies.manifests.all_jobs(caller.tenant_id)
        return _applied(difference(present, checked.jobs, prune=prune), checked, dry_run=True)
    changes: list[Change] = []

    def rewrite(present: Sequence[JobDefinition]) -> Sequence[JobDefinition]:
        changes[:] = difference(present, checked.jobs, prune=prune)
        return _rewritten(present, changes)

    done = audit_entry(caller, "manifest.apply", jobs=len(checked.jobs), prune=prune)
    await dependencies.manifests.rewrite(caller.tenant_id, rewrite, done)
    return _applied(changes, checked, dry_run=False)


@routes.get("", response_model_exclude_unset=True)
async def export_manifest(caller: Reader, dependencies: ApiDependencies) -> ManifestDocument:
    """Everything that is not archived, as a file that changes nothing when it is applied."""
    jobs = await dependencies.manifests.all_jobs(caller.tenant_id)
    documents = [JobDocument.model_validate(job_document(each)) for each in jobs]
    return ManifestDocument(jobs=documents)


def _checked(body: ManifestDocument, dependencies: Dependencies) -> Checked:
    checks = Checks(dependencies.door, dependencies.cron, dependencies.clock.now())
    checked = check_documents(body, checks)
    if checked.errors:
        raise Invalid(checked.errors)
    return checked


def _rewritten(
    present: Sequence[JobDefinition], changes: Sequence[Change]
) -> Sequence[JobDefinition]:
    """What there is after the changes, until the store writes from the changes themselves."""
    jobs = {job.name: job for job in present}
    endpoints = {job.name: {each.name: each for each in job.endpoints} for job in present}
    for change in changes:
        if change.kind is ChangeKind.UNCHANGED:
            continue  # its secrets are masked there, and open here
        if isinstance(change.after, EndpointDefinition):
            endpoints[change.job][change.after.name] = change.after
        elif isinstance(change.after, JobDefinition):
            jobs[change.job] = change.after
            endpoints.setdefault(change.job, {})
        elif change.endpoint is not None:
            del endpoints[change.job][change.endpoint]
        else:
            del jobs[change.job]
    return [replace(job, endpoints=tuple(endpoints[job.name].values())) for job in jobs.values()]


def _applied(changes: Sequence[Change], checked: Checked, *, dry_run: bool) -> Applied:
    return Applied(
        dry_run=dry_run,
        counts=Counter(str(each.kind) for each in changes),
        changes=[_shown(each) for each in changes if each.kind is not ChangeKind.UNCHANGED],
        warnings=[WarningShown(field=field, text=text) for field, text in checked.warnings],
    )


def _shown(change: Change) -> ChangeShown:
    return ChangeShown(
        act=change.kind,
        job=change.job,
        endpoint=change.endpoint,
        fields=[
            FieldChangeShown(field=each.field, before=each.before, after=each.after)
            for each in field_changes(change)
        ],
    )
