"""Jobs as YAML: seen, edited with what is wrong at its line, and applied once its difference was
seen."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.manifests import Wanted
from cadenza.application.ports.catalogue import EndpointOrder, EndpointSearch, StoredJob
from cadenza.domain.definition import JobDefinition, declared
from cadenza.domain.errors import InvalidFields, InvalidInput, Refused
from cadenza.domain.schedule import DeclaredSchedule
from cadenza.manifest.files import Manifest, manifest_of
from cadenza.manifest.models import MAX_ENDPOINTS_PER_JOB
from cadenza.manifest.problems import Problem, SourceLocation
from cadenza.manifest.schedules import declared_document
from cadenza.manifest.writing import job_document
from cadenza.manifest.yaml_writing import documents_to_yaml
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.off_the_loop import off_the_loop
from cadenza.web.api.schemas.manifest import AppliedManifestResponse, applied_manifest_response
from cadenza.web.dashboard.forms import Form
from cadenza.web.dashboard.policy import HEADERS
from cadenza.web.dashboard.rendering import done, fragment, page
from cadenza.web.dashboard.visitor import (
    Operator,
    PageDependencies,
    Reader,
    Sent,
    Visitor,
)

routes = APIRouter()
ENTRY = "/jobs"
FILE = "cadenza.yaml"
MOST_PROBLEMS = 50
LARGE = 500_000  # bytes; a form may have twice as many, and escapes some of them
MANY = 2_000  # endpoints, whose text is about as large: to write more of them takes seconds


@dataclass(frozen=True, slots=True)
class Review:
    """What is wrong with a text, or what applying it would change."""

    problems: Sequence[Problem] = ()
    warnings: Sequence[str] = ()
    changes: AppliedManifestResponse | None = None
    wanted: Wanted = field(default_factory=Wanted)

    @property
    def mark(self) -> str:
        """Another one as soon as applying would do something else than what was seen."""
        text = self.changes.model_dump_json() if self.changes else ""
        return sha256(text.encode()).hexdigest()[:16]


# --- Of one job -------------------------------------------------------------------------------


@routes.get("/jobs/{job_id}/yaml")
async def show_job_yaml(
    job_id: UUID, request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    stored = await dependencies.reads.jobs.get_job(visitor.caller.tenant_id, job_id)
    text = await _yaml_of(stored, visitor, dependencies)
    return await _editor(request, stored, Form({"yaml": text}))


@routes.post("/jobs/{job_id}/yaml")
async def review_job_yaml(
    job_id: UUID, request: Request, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    stored = await dependencies.reads.jobs.get_job(visitor.caller.tenant_id, job_id)
    return await _review_or_apply(request, stored, form, visitor, dependencies)


async def _yaml_of(stored: StoredJob, visitor: Visitor, dependencies: Dependencies) -> str:
    search = EndpointSearch(
        job_id=stored.job.id, order=EndpointOrder.NAME, limit=MAX_ENDPOINTS_PER_JOB
    )
    endpoints = await dependencies.reads.endpoints.list_endpoints(visitor.caller.tenant_id, search)
    definitions = tuple(row.definition for row in endpoints)
    return documents_to_yaml([job_document(replace(declared(stored.job), endpoints=definitions))])


# --- Of everything ----------------------------------------------------------------------------


@routes.get("/jobs/yaml")
async def show_yaml(request: Request, visitor: Reader, dependencies: PageDependencies) -> Response:
    counts = await dependencies.reads.activity.count_states(visitor.caller.tenant_id)
    if counts.total > MANY:
        return await _editor(request, None, Form({}), endpoint_count=counts.total)
    return await _editor(request, None, Form({"yaml": await _whole(visitor, dependencies)}))


@routes.post("/jobs/yaml")
async def review_yaml(
    request: Request, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    return await _review_or_apply(request, None, form, visitor, dependencies)


@routes.get("/jobs/cadenza.yaml")
async def download(visitor: Reader, dependencies: PageDependencies) -> Response:
    text = await _whole(visitor, dependencies)
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{FILE}"'}
    return Response(text, 200, headers, "application/yaml")


async def _whole(visitor: Visitor, dependencies: Dependencies) -> str:
    jobs, schedules = await dependencies.manifests.export(visitor.caller)
    return await off_the_loop(_text, jobs, schedules)


def _text(jobs: Sequence[JobDefinition], schedules: Sequence[DeclaredSchedule]) -> str:
    documents = [job_document(job) for job in jobs]
    return documents_to_yaml(documents, [declared_document(schedule) for schedule in schedules])


# --- What a text would change -----------------------------------------------------------------


async def _review_or_apply(
    request: Request,
    stored: StoredJob | None,
    form: Form,
    visitor: Visitor,
    dependencies: Dependencies,
) -> Response:
    review = await _review(stored, form, visitor, dependencies)
    if "hx-request" in request.headers:
        return await fragment(request, "manifest/outcome.html", review=review)
    if form.text("act") != "apply" or review.changes is None:
        return await _editor(request, stored, form, review)
    if form.text("seen") != review.mark:
        why = "Something has changed since you reviewed this. These are the changes now."
        return await _editor(request, stored, form, review, why)
    changes = await dependencies.manifests.apply(
        visitor.caller, review.wanted, prune=_prunes(stored, form)
    )
    applied = applied_manifest_response(changes, (), dry_run=False)
    count = sum(number for kind, number in applied.counts.items() if kind != "unchanged")
    message = f"Applied: {count} {'change' if count == 1 else 'changes'}."
    return done(ENTRY if stored is None else f"{ENTRY}/{stored.job.id}", message)


async def _review(
    stored: StoredJob | None, form: Form, visitor: Visitor, dependencies: Dependencies
) -> Review:
    checks = dependencies.around.checks()
    # A thousand crons take a while: in a thread, so that others are served meanwhile.
    manifest = await off_the_loop(manifest_of, FILE, form.values.get("yaml", ""), checks)
    problems = [*manifest.problems, *(_not_about(stored, manifest) if stored else ())]
    warnings = [f"Line {warning.location.line}: {warning.text}" for warning in manifest.warnings]
    if problems:
        return Review(problems[:MOST_PROBLEMS], warnings)
    about = None if stored is None else frozenset({stored.job.name})
    wanted = Wanted(manifest.jobs, manifest.schedules, about)
    try:
        changes = await dependencies.manifests.compare(
            visitor.caller, wanted, prune=_prunes(stored, form)
        )
    except (InvalidInput, InvalidFields, Refused) as error:
        return Review([Problem(SourceLocation(FILE), "", str(error))], warnings)
    misfits = await dependencies.misfits_of(visitor.caller.tenant_id, manifest.jobs)
    warnings += [f"{path}: {text}" for path, text in misfits]
    difference = applied_manifest_response(changes, (), dry_run=True)
    return Review((), warnings, difference, wanted)


def _not_about(stored: StoredJob, manifest: Manifest) -> list[Problem]:
    """The text of a job is about that job, and the whole of it."""
    names = [job.name for job in manifest.jobs]
    if manifest.problems or (names == [stored.job.name] and not manifest.schedules):
        return []
    fix = (
        f"this text is about the job {stored.job.name!r} alone: rename it on its own form, and "
        "write other jobs and schedules in the YAML of everything"
    )
    return [Problem(SourceLocation(FILE, 1, 1), "jobs", fix)]


def _prunes(stored: StoredJob | None, form: Form) -> bool:
    """What the text of one job leaves out is archived; of everything, only where that is asked."""
    return stored is not None or form.optional("prune") is not None


async def _editor(
    request: Request,
    stored: StoredJob | None,
    form: Form,
    review: Review | None = None,
    why: str = "",
    endpoint_count: int = 0,
) -> Response:
    text = form.values.get("yaml", "")
    return await page(
        request,
        "manifest/edit.html",
        status=422 if review and review.problems else 200,
        entry=ENTRY,
        stored=stored,
        form=form,
        review=review,
        why=why,
        is_large=endpoint_count > MANY or len(text.encode()) > LARGE,
        endpoint_count=endpoint_count,
    )
