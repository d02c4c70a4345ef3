"""A whole file of jobs and schedules: applied in one transaction, answered with the difference."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Body
from pydantic import PlainValidator
from starlette.responses import Response

from cadenza.application.manifests import Wanted
from cadenza.domain.definition import JobDefinition
from cadenza.domain.errors import InvalidFields
from cadenza.domain.schedule import DeclaredSchedule
from cadenza.manifest.checking import Checked, check_manifest
from cadenza.manifest.models import JobDocument, ManifestDocument, ScheduleDocument
from cadenza.manifest.schedules import declared_document
from cadenza.manifest.writing import job_document
from cadenza.web.api.access import ApiDependencies, Operator, Reader
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.off_the_loop import off_the_loop
from cadenza.web.api.parsing.query import DryRun, Prune
from cadenza.web.api.routes import documented, router
from cadenza.web.api.schemas.manifest import AppliedManifestResponse, applied_manifest_response

routes = router("Manifest", "/manifest")

# Built and checked by our own code, off the loop, which stops after enough errors: the framework
# would have half a minute to do with a megabyte of empty endpoints.
_as_it_is = PlainValidator(lambda raw: raw, json_schema_input_type=ManifestDocument)
RawManifest = Annotated[Any, _as_it_is, Body()]


@routes.put("", responses=documented(402))
async def apply_manifest(
    body: RawManifest,
    caller: Operator,
    dependencies: ApiDependencies,
    dry_run: DryRun = False,
    prune: Prune = False,
) -> AppliedManifestResponse:
    """All of it, or, where anything is wrong, nothing."""
    # A thousand crons take a while: in a thread, so that others are served meanwhile.
    checked = await off_the_loop(_checked, body, dependencies)
    misfits = await dependencies.misfits_of(caller.tenant_id, checked.jobs)
    manifests = dependencies.manifests
    write = manifests.compare if dry_run else manifests.apply
    changes = await write(caller, Wanted(checked.jobs, checked.schedules), prune=prune)
    graphs = await dependencies.graph_warnings(
        [schedule.definition for schedule in checked.schedules]
    )
    unknown = [
        (f"schedules[{number}].graph_id", text) for number, text in enumerate(graphs) if text
    ]
    warnings = (*checked.warnings, *misfits, *unknown)
    # So does what has changed, field by field.
    return await off_the_loop(applied_manifest_response, changes, warnings, dry_run=dry_run)


@routes.get("", response_model=ManifestDocument)
async def export_manifest(caller: Reader, dependencies: ApiDependencies) -> Response:
    """Everything that has not ended, as a file that changes nothing when it is applied."""
    jobs, schedules = await dependencies.manifests.export(caller)
    content = await off_the_loop(_exported, jobs, schedules)  # thousands take a while
    return Response(content, media_type="application/json")


def _exported(jobs: Sequence[JobDefinition], schedules: Sequence[DeclaredSchedule]) -> str:
    return _document(jobs, schedules).model_dump_json(by_alias=True, exclude_unset=True)


def _document(
    jobs: Sequence[JobDefinition], schedules: Sequence[DeclaredSchedule]
) -> ManifestDocument:
    documents = [JobDocument.model_validate(job_document(job)) for job in jobs]
    declared = [
        ScheduleDocument.model_validate(declared_document(schedule)) for schedule in schedules
    ]
    if not declared:
        return ManifestDocument(jobs=documents)
    return ManifestDocument(jobs=documents, schedules=declared)


def _checked(body: object, dependencies: Dependencies) -> Checked:
    checks = dependencies.around.checks()
    checked = check_manifest(body, checks)
    if checked.errors:
        raise InvalidFields(checked.errors)
    return checked
