"""An action on every endpoint that fits a filter, however many pages they fill: shown with their
number first, and refused where more fit by then."""

from collections import Counter
from collections.abc import Mapping
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.bulk import MOST_MATCHES
from cadenza.application.ports.catalogue import EndpointSearch
from cadenza.domain.endpoint import EndpointState
from cadenza.domain.errors import InvalidInput, Outdated
from cadenza.web.dashboard.forms import Form
from cadenza.web.dashboard.pages.endpoint_lists import ENTRY, action_of, counted, reason_of
from cadenza.web.dashboard.query import choice, identifier, word
from cadenza.web.dashboard.rendering import done, page
from cadenza.web.dashboard.visitor import Operator, PageDependencies, Sent

routes = APIRouter()
FILTERS = ("job", "search", "state")


@routes.get("/jobs/endpoints/matching")
async def show_matches(
    request: Request, visitor: Operator, dependencies: PageDependencies
) -> Response:
    search, tenant_id = _search(request), visitor.caller.tenant_id
    jobs = dependencies.reads.jobs
    return await page(
        request,
        "endpoints/matching.html",
        entry=ENTRY,
        search=search,
        count=await dependencies.bulk_steering.count_matches(visitor.caller, search),
        most=MOST_MATCHES,
        job=await jobs.get_job(tenant_id, search.job_id) if search.job_id else None,
        filters={name: request.query_params.get(name, "") for name in FILTERS},
        back=_list_of(dict(request.query_params)),
    )


@routes.post("/jobs/endpoints/matching")
async def act_on_matches(
    request: Request, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    back, action = _list_of(form.values), action_of(form)
    act = dependencies.bulk_steering.act_on_matches
    try:
        results = await act(
            visitor.caller, _search(request), action, _expected(form), None, reason_of(form)
        )
    except Outdated as error:
        return done(f"/jobs/endpoints/matching?{request.url.query}", str(error), is_error=True)
    return done(back, counted(action, Counter(results)))


def _search(request: Request) -> EndpointSearch:
    return EndpointSearch(
        job_id=identifier(request, "job"),
        search=word(request, "search"),
        state=choice(request, "state", EndpointState),
    )


def _list_of(values: Mapping[str, str]) -> str:
    """The list that was looked at."""
    wanted = {name: values[name] for name in (*FILTERS, "sort") if values.get(name)}
    return f"/jobs/endpoints?{urlencode(wanted)}" if wanted else "/jobs/endpoints"


def _expected(form: Form) -> int:
    text = form.text("expected")
    if not text.isdecimal() or len(text) > 6:
        raise InvalidInput("expected", text, "how many were shown")
    return int(text)
