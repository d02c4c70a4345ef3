"""Runs: what happened, and for each what was sent, what came back, and why then."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.ports.activity import ActivitySearch
from cadenza.application.ports.run_search import ListedRun, RunSearch
from cadenza.application.ports.search_result import SearchResult
from cadenza.application.sent_requests import sent_request
from cadenza.domain.errors import InvalidInput
from cadenza.domain.plan import Plan, Source
from cadenza.domain.run import RunStatus
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.parsing.cursors import read_time_cursor
from cadenza.web.dashboard.authorship import authors_of
from cadenza.web.dashboard.pages.jobs import word_or_none
from cadenza.web.dashboard.pages.lists import endpoint_names, rows_by_time
from cadenza.web.dashboard.query import choice, identifier, since, word
from cadenza.web.dashboard.rendering import page
from cadenza.web.dashboard.visitor import PageDependencies, Reader, Visitor
from cadenza.web.dashboard.words import SOURCES

routes = APIRouter()
ENTRY = "/runs"


@routes.get("/runs")
async def list_runs(request: Request, visitor: Reader, dependencies: PageDependencies) -> Response:
    status, source = choice(request, "status", RunStatus), choice(request, "source", Source)
    search = RunSearch(
        from_at=since(request, dependencies.around.clock.now()),
        after=read_time_cursor(word_or_none(request, "cursor")),
        endpoint_id=identifier(request, "endpoint"),
        job_id=identifier(request, "job"),
        statuses=(status,) if status else (),
        sources=(source,) if source else (),
        error=word(request, "error"),
        status_code=_code(word(request, "code")),
    )
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads
    runs = await reads.runs.search_runs(tenant_id, search)
    last = None if runs.items else await _last_before(search, visitor, dependencies)
    ids = {run.endpoint_id for run in runs.items}
    if search.endpoint_id is not None:
        ids.add(search.endpoint_id)
    return await page(
        request,
        "runs/list.html",
        entry=ENTRY,
        rows=rows_by_time(request, runs),
        names=await endpoint_names(dependencies, visitor, ids),
        authors=await authors_of(dependencies, runs.items),
        search=search,
        job=await reads.jobs.get_job(tenant_id, search.job_id) if search.job_id else None,
        chosen_status=status,
        chosen_source=source,
        range=request.query_params.get("range", ""),
        statuses=list(RunStatus),
        sources=SOURCES,
        ends_early=_ends_early(runs, search),
        last=last,
        **await _counts(search, visitor, dependencies),
    )


def _code(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or len(text) != 3:
        raise InvalidInput("code", text, "a status code, like 503")
    return int(text)


async def _counts(
    search: RunSearch, visitor: Visitor, dependencies: Dependencies
) -> dict[str, Any]:
    """How many of a range there are, failed and timed out; of everything there may be too many to
    count."""
    if search.from_at is None:
        return {"all_count": None, "counts": {}}
    now = dependencies.around.clock.now()
    wanted = ActivitySearch(
        search.from_at, now, now - search.from_at, search.job_id, search.endpoint_id
    )
    reads = dependencies.reads.activity
    activity = await reads.run_activity(visitor.caller.tenant_id, wanted)
    counts = {
        RunStatus.FAILURE: sum(bucket.failed for bucket in activity.buckets),
        RunStatus.TIMEOUT: sum(bucket.timed_out for bucket in activity.buckets),
    }
    all_count = sum(sum(bucket.counts.values()) for bucket in activity.buckets)
    return {"all_count": all_count, "counts": counts}


async def _last_before(
    search: RunSearch, visitor: Visitor, dependencies: Dependencies
) -> ListedRun | None:
    """Where a range has none: the last that there was, with the same filters."""
    if search.from_at is None:
        return None
    anywhen = replace(search, from_at=None, after=None, limit=1)
    runs = await dependencies.reads.runs.search_runs(visitor.caller.tenant_id, anywhen)
    return runs.items[0] if runs.items else None


def _ends_early(runs: SearchResult[ListedRun], search: RunSearch) -> bool:
    """Only so many rows are looked at: with filters that match rarely, a page may be short."""
    return runs.reached is not None and len(runs.items) < search.limit


@routes.get("/runs/{run_id}")
async def show_run(
    run_id: UUID, request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads
    stored = await reads.runs.get_run(tenant_id, run_id)
    run = stored.run
    return await page(
        request,
        "runs/show.html",
        entry=ENTRY,
        run=run,
        authors=await authors_of(dependencies, [run]),
        in_full=stored,
        plan=Plan.from_record(run.plan) if run.plan else None,
        stored=await reads.endpoints.get_endpoint(tenant_id, run.endpoint_id),
        around=stored.around,
        sent=sent_request(run, stored.around),
    )
