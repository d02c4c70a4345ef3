"""Declared rules of a job: written, tried on the last answers while one types, and taken away."""

from dataclasses import replace
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.ports.catalogue import EndpointOrder, EndpointSearch, StoredJob
from cadenza.application.ports.expressions import Owner
from cadenza.application.rule_fit import misfits, values_among
from cadenza.application.rule_judging import judged, why_not
from cadenza.domain.definition import rule_errors, rule_warnings
from cadenza.domain.errors import InvalidFields, InvalidInput, NotFound, Outdated, refuse
from cadenza.domain.rule import Rule
from cadenza.manifest.checking import rule_field_errors
from cadenza.manifest.models import RuleDocument
from cadenza.manifest.rules import read_rules, rule_document
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.parsing.bodies import JobMergePatch, validated
from cadenza.web.dashboard.forms import (
    MENDABLE,
    NO_PROBLEMS,
    Form,
    Problems,
    outdated,
    problems_of,
)
from cadenza.web.dashboard.pages.jobs import revisions
from cadenza.web.dashboard.pages.rule_forms import (
    ACTIONS,
    FIELDS,
    document_of,
    form_of,
    of_this_rule,
)
from cadenza.web.dashboard.rendering import done, fragment, page
from cadenza.web.dashboard.visitor import Operator, PageDependencies, Sent, Visitor

routes = APIRouter()
ENTRY = "/jobs"
_NAMES = 200  # of endpoints, that the form offers


# --- Written ----------------------------------------------------------------------------------


@routes.get("/jobs/{job_id}/rules/new")
async def show_new_rule(
    job_id: UUID, request: Request, visitor: Operator, dependencies: PageDependencies
) -> Response:
    stored = await _job(job_id, visitor, dependencies)
    form = Form({"act": "interval", "ttl": "1h", "revision": str(stored.revision)})
    return await _form(request, stored, None, form, visitor, dependencies)


@routes.post("/jobs/{job_id}/rules/new")
async def create_rule(
    job_id: UUID, request: Request, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    stored = await _job(job_id, visitor, dependencies)
    return await _save(request, stored, None, form, visitor, dependencies)


@routes.get("/jobs/{job_id}/rules/{rule_id}")
async def show_rule(
    job_id: UUID, rule_id: UUID, request: Request, visitor: Operator, dependencies: PageDependencies
) -> Response:
    stored = await _job(job_id, visitor, dependencies)
    rule = _rule(stored, rule_id)
    form = form_of(rule, stored.revision)
    return await _form(request, stored, rule, form, visitor, dependencies)


@routes.post("/jobs/{job_id}/rules/{rule_id}")
async def change_rule(
    job_id: UUID,
    rule_id: UUID,
    request: Request,
    form: Sent,
    visitor: Operator,
    dependencies: PageDependencies,
) -> Response:
    stored = await _job(job_id, visitor, dependencies)
    return await _save(request, stored, _rule(stored, rule_id), form, visitor, dependencies)


@routes.post("/jobs/{job_id}/rules/{rule_id}/remove")
async def remove_rule(
    job_id: UUID, rule_id: UUID, _form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    stored = await _job(job_id, visitor, dependencies)
    gone = _rule(stored, rule_id)
    left = [rule_document(rule) for rule in stored.job.rules if rule is not gone]
    patch, seen = JobMergePatch({"rules": left}), frozenset({stored.revision})
    await dependencies.jobs.change(visitor.caller, job_id, patch, seen)
    return done(f"{ENTRY}/{job_id}", f"Rule {gone.name} removed. Its hints stay until they expire.")


async def _save(
    request: Request,
    stored: StoredJob,
    rule: Rule | None,
    form: Form,
    visitor: Visitor,
    dependencies: Dependencies,
) -> Response:
    """A new one comes last: where two hold for the same endpoint, the one before it wins."""
    rules = [rule_document(present) for present in stored.job.rules]
    index = len(rules) if rule is None else stored.job.rules.index(rule)
    document = document_of(form)
    rules[index : index + 1] = [document]
    try:
        refuse(rule_field_errors(document, dependencies.around.checks()))
        patch, seen = JobMergePatch({"rules": rules}), revisions(form)
        await dependencies.jobs.change(visitor.caller, stored.job.id, patch, seen)
    except MENDABLE as error:
        problems = problems_of(of_this_rule(error, index), FIELDS)
        if isinstance(error, Outdated):
            present = {**form.values, **(form_of(rule, 0).values if rule is not None else {})}
            now = Form({**present, "revision": str(stored.revision)})
            form, problems = outdated(form, now, FIELDS)
        return await _form(request, stored, rule, form, visitor, dependencies, problems)
    return done(f"{ENTRY}/{stored.job.id}", f"Rule {form.text('name')} saved.")


# --- Tried ------------------------------------------------------------------------------------


@routes.post("/jobs/{job_id}/rules-preview")
async def preview_rule(
    job_id: UUID, request: Request, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    """On what the endpoints last answered; nothing is written."""
    stored = await _job(job_id, visitor, dependencies)
    findings, warnings, problems = list[tuple[str, bool, str]](), list[str](), Problems()
    try:
        rule = _draft(form, dependencies)
        names = await _endpoint_names(stored, visitor, dependencies)
        warnings = rule_warnings([rule], names) if len(names) < _NAMES else []
        findings = await _findings(rule, stored, visitor, dependencies)
    except (InvalidInput, InvalidFields) as error:
        problems = problems_of(of_this_rule(error, 0), FIELDS)
    return await fragment(
        request,
        "rules/trial.html",
        findings=findings,
        warnings=warnings,
        problems=problems,
        is_begun=form.optional("when") is not None,
    )


def _draft(form: Form, dependencies: Dependencies) -> Rule:
    document = {**document_of(form), "name": form.text("name") or "draft"}
    (rule,) = read_rules([validated(RuleDocument, document)])
    if errors := list(rule_errors([rule], dependencies.around.validation_policy)):
        raise InvalidFields(errors)
    return rule


async def _findings(
    rule: Rule, stored: StoredJob, visitor: Visitor, dependencies: Dependencies
) -> list[tuple[str, bool, str]]:
    """Of each endpoint whose answers it reads: its name, whether it holds, and why not."""
    reads, expressions = dependencies.reads.latest_answers, dependencies.around.expressions
    of_jobs = await reads.latest_answers(visitor.caller.tenant_id, [stored.job.name])
    answers = of_jobs.get(stored.job.name, {})
    names = [name for name in answers if rule.endpoint in (None, name)][:20]
    once, owner = replace(rule, runs=1), Owner(visitor.caller.tenant_id, stored.job.id)
    cases = [(once, [values_among(name, answers)]) for name in names]
    judgements = await judged(owner, cases, expressions)
    misfit = next((text for _, text in await misfits(owner, [rule], answers, expressions)), "")
    return [
        (name, it.holds, misfit or ("" if it.holds else why_not(it, values)))
        for name, it, (_, values) in zip(names, judgements, cases, strict=True)
    ]


# --- Forms ------------------------------------------------------------------------------------


async def _job(job_id: UUID, visitor: Visitor, dependencies: Dependencies) -> StoredJob:
    return await dependencies.reads.jobs.get_job(visitor.caller.tenant_id, job_id)


def _rule(stored: StoredJob, rule_id: UUID) -> Rule:
    for rule in stored.job.rules:
        if rule.id == rule_id:
            return rule
    raise NotFound(f"no rule {rule_id} of this job")


async def _endpoint_names(
    stored: StoredJob, visitor: Visitor, dependencies: Dependencies
) -> list[str]:
    search = EndpointSearch(job_id=stored.job.id, order=EndpointOrder.NAME, limit=_NAMES)
    rows = await dependencies.reads.endpoints.list_endpoints(visitor.caller.tenant_id, search)
    return [row.endpoint.name for row in rows]


async def _form(
    request: Request,
    stored: StoredJob,
    rule: Rule | None,
    form: Form,
    visitor: Visitor,
    dependencies: Dependencies,
    problems: Problems = NO_PROBLEMS,
) -> Response:
    return await page(
        request,
        "rules/form.html",
        entry=ENTRY,
        job=stored.job,
        rule=rule,
        form=form,
        problems=problems,
        names=await _endpoint_names(stored, visitor, dependencies),
        actions=ACTIONS,
    )
