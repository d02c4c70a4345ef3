"""A whole file of jobs: applied in one transaction, answered with the difference."""

import asyncio
from collections.abc import Sequence

from cadenza.application.rule_fit import misfits_of_jobs
from cadenza.domain.definition import JobDefinition
from cadenza.manifest.checking import Checked, Checks, check_manifest
from cadenza.manifest.difference import Change, difference, kept_secrets_missing, merged_jobs
from cadenza.manifest.models import JobDocument, ManifestDocument
from cadenza.manifest.writing import job_document
from cadenza.web.api.access import ApiDependencies, Operator, Reader, audit_entry
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.parsing.query import DryRun, Prune
from cadenza.web.api.problems import Invalid
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.manifest import AppliedManifestResponse, applied_manifest_response

routes = router("Manifest", "/manifest")


@routes.put("")
async def apply_manifest(
    body: ManifestDocument,
    caller: Operator,
    dependencies: ApiDependencies,
    dry_run: DryRun = False,
    prune: Prune = False,
) -> AppliedManifestResponse:
    """All of it, or, where anything is wrong, nothing."""
    # A thousand crons take a while: in a thread, so that others are served meanwhile.
    checked = await asyncio.to_thread(_checked, body, dependencies)
    misfits = await misfits_of_jobs(
        caller.tenant_id, checked.jobs, dependencies.latest_answers, dependencies.expressions
    )
    warnings = (*checked.warnings, *misfits)
    if dry_run:
        present = await dependencies.manifests.all_jobs(caller.tenant_id)
        changes = _changes(present, checked.jobs, prune=prune)
        return applied_manifest_response(changes, warnings, dry_run=True)
    applied: list[Change] = []

    def rewrite(present: Sequence[JobDefinition]) -> Sequence[JobDefinition]:
        applied[:] = _changes(present, checked.jobs, prune=prune)
        return merged_jobs(present, checked.jobs, prune=prune)

    entry = audit_entry(caller, "manifest.apply", jobs=len(checked.jobs), prune=prune)
    await dependencies.manifests.rewrite(caller.tenant_id, rewrite, entry)
    return applied_manifest_response(applied, warnings, dry_run=False)


@routes.get("", response_model_exclude_unset=True)
async def export_manifest(caller: Reader, dependencies: ApiDependencies) -> ManifestDocument:
    """Everything that is not archived, as a file that changes nothing when it is applied."""
    jobs = await dependencies.manifests.all_jobs(caller.tenant_id)
    documents = [JobDocument.model_validate(job_document(job)) for job in jobs]
    return ManifestDocument(jobs=documents)


def _checked(body: ManifestDocument, dependencies: Dependencies) -> Checked:
    checks = Checks(dependencies.validation_policy, dependencies.cron, dependencies.clock.now())
    checked = check_manifest(body.model_dump(exclude_unset=True), checks)
    if checked.errors:
        raise Invalid(checked.errors)
    return checked


def _changes(
    present: Sequence[JobDefinition], wanted: Sequence[JobDefinition], *, prune: bool
) -> list[Change]:
    if missing := kept_secrets_missing(present, wanted):
        raise Invalid(missing)
    return difference(present, wanted, prune=prune)
