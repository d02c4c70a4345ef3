"""An endpoint: how it is, what comes next and why; created and changed."""

from uuid import UUID
from zoneinfo import available_timezones

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.ports.catalogue import StoredEndpoint, StoredJob
from cadenza.application.ports.records import SessionSearch
from cadenza.application.ports.run_search import RunSearch
from cadenza.application.ports.steering_history import SteeringSearch
from cadenza.application.score_steering import window_of
from cadenza.domain.errors import Outdated, refuse
from cadenza.manifest.checking import endpoint_errors
from cadenza.manifest.models import EndpointDocument
from cadenza.manifest.reading import merged, read_endpoint
from cadenza.manifest.writing import endpoint_document
from cadenza.web.api.parsing.bodies import EndpointMergePatch, validated
from cadenza.web.dashboard.authorship import authors_of
from cadenza.web.dashboard.charts import charts_of_endpoint
from cadenza.web.dashboard.forms import MENDABLE, Form, Problems, outdated, problems_of
from cadenza.web.dashboard.pages.endpoint_forms import FIELDS, document_of, form_of, patch_of
from cadenza.web.dashboard.pages.jobs import revisions
from cadenza.web.dashboard.rendering import done, page
from cadenza.web.dashboard.visitor import Operator, PageDependencies, Reader, Sent
from cadenza.web.dashboard.words import hints_in_force

routes = APIRouter()
ENTRY = "/jobs"
AHEAD, LAST_RUNS, LAST_SESSIONS, LAST_WINDOWS = 8, 10, 5, 8
ZONES = sorted(available_timezones())


@routes.get("/endpoints/{endpoint_id}")
async def show_endpoint(
    endpoint_id: UUID, request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads
    stored, explanation = await dependencies.outlook.explain(tenant_id, endpoint_id)
    _, planned, baseline = await dependencies.outlook.preview(tenant_id, endpoint_id, AHEAD)
    runs = await reads.runs.search_runs(
        tenant_id, RunSearch(endpoint_id=endpoint_id, limit=LAST_RUNS)
    )
    sessions = await reads.records.search_sessions(
        tenant_id, SessionSearch(endpoint_id=endpoint_id, limit=LAST_SESSIONS)
    )
    endpoint = stored.endpoint
    job = await reads.jobs.get_job(tenant_id, endpoint.job_id)
    bent = await reads.steering.search_steering(
        tenant_id, SteeringSearch(endpoint_id=endpoint_id, limit=LAST_WINDOWS)
    )
    judge = dependencies.rules_now.judge
    judged = await judge(tenant_id, endpoint_id) if job.job.rules else None
    rule_names = {rule.id: rule.name for rule in job.job.rules if rule.id is not None}
    return await page(
        request,
        "endpoints/show.html",
        entry=ENTRY,
        stored=stored,
        endpoint=endpoint,
        explanation=explanation,
        planned=planned,
        baseline_alone=baseline,
        hints=hints_in_force(stored),
        paused_until=endpoint.paused_until(stored.read_at),
        runs=runs.items,
        authors=await authors_of(dependencies, runs.items),
        sessions=sessions.items,
        windows=[window_of(named, rule_names, stored.read_at) for named in bent.items],
        health=await reads.runs.health_of(tenant_id, endpoint_id),
        warnings=dependencies.outlook.next_runs(stored)[1],
        judged=judged,
        pictures=await charts_of_endpoint(dependencies, visitor, stored),
    )


# --- Created and changed ----------------------------------------------------------------------


@routes.get("/jobs/{job_id}/endpoints/new")
async def show_new_endpoint(
    job_id: UUID, request: Request, visitor: Operator, dependencies: PageDependencies
) -> Response:
    job = await dependencies.reads.jobs.get_job(visitor.caller.tenant_id, job_id)
    form = Form({"baseline": "every", "every": "5m", "method": "GET", "timezone": "UTC"})
    return await _form(request, dependencies, form, Problems(), job=job)


@routes.post("/jobs/{job_id}/endpoints/new")
async def create_endpoint(
    job_id: UUID, request: Request, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    try:
        document, unread = document_of(form)
        refuse([*unread, *endpoint_errors(document, dependencies.around.checks())])
        definition = read_endpoint(validated(EndpointDocument, document))
        stored, _ = await dependencies.endpoints.create(visitor.caller, job_id, definition)
    except MENDABLE as error:
        job = await dependencies.reads.jobs.get_job(visitor.caller.tenant_id, job_id)
        return await _form(request, dependencies, form, problems_of(error, FIELDS), job=job)
    return done(f"/endpoints/{stored.endpoint.id}", "Endpoint created.")


@routes.get("/endpoints/{endpoint_id}/edit")
async def show_edit_endpoint(
    endpoint_id: UUID, request: Request, visitor: Operator, dependencies: PageDependencies
) -> Response:
    reads = dependencies.reads.endpoints
    stored = await reads.get_endpoint(visitor.caller.tenant_id, endpoint_id)
    form = form_of(stored.definition, stored.revision)
    return await _form(request, dependencies, form, Problems(), stored=stored)


@routes.post("/endpoints/{endpoint_id}/edit")
async def change_endpoint(
    endpoint_id: UUID,
    request: Request,
    form: Sent,
    visitor: Operator,
    dependencies: PageDependencies,
) -> Response:
    reads = dependencies.reads.endpoints
    stored = await reads.get_endpoint(visitor.caller.tenant_id, endpoint_id)
    try:
        document, unread = document_of(form)
        patch, seen = patch_of(document, stored.definition), revisions(form)
        changed = merged(endpoint_document(stored.definition), patch)
        refuse([*unread, *endpoint_errors(changed, dependencies.around.checks())])
        redefine = dependencies.endpoints.redefine
        _, warnings = await redefine(visitor.caller, endpoint_id, EndpointMergePatch(patch), seen)
    except Outdated:
        present = form_of(stored.definition, stored.revision)
        form, problems = outdated(form, present, FIELDS)
        return await _form(request, dependencies, form, problems, stored=stored)
    except MENDABLE as error:
        return await _form(request, dependencies, form, problems_of(error, FIELDS), stored=stored)
    return done(f"/endpoints/{endpoint_id}", " ".join(["Endpoint saved.", *warnings]))


async def _form(
    request: Request,
    dependencies: PageDependencies,
    form: Form,
    problems: Problems,
    *,
    job: StoredJob | None = None,
    stored: StoredEndpoint | None = None,
) -> Response:
    return await page(
        request,
        "endpoints/form.html",
        entry=ENTRY,
        form=form,
        problems=problems,
        job=job,
        stored=stored,
        zones=ZONES,
        shell_allowed=dependencies.around.validation_policy.shell_allowed,
    )
