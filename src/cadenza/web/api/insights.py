"""Why an endpoint is as it is: its hints and pauses as they were, what it answered over time, its
rules judged now; and a search over everything."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from cadenza.application.ports.steering_history import SteeringSearch
from cadenza.application.scores import EARLIEST
from cadenza.domain.errors import InvalidInput
from cadenza.domain.instants import iso
from cadenza.domain.score import LONGEST_RANGE, USUAL_RANGE
from cadenza.web.api.access import ApiDependencies, Reader
from cadenza.web.api.parsing.cursors import read_time_cursor
from cadenza.web.api.parsing.query import Cursor, Dotted, From, Limit, Text, To, check_order
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.insights import (
    RulesNowResponse,
    SearchResponse,
    SteeringEntryResponse,
    ValuesResponse,
    rules_now_response,
    search_response,
    steering_entry_response,
    values_response,
)
from cadenza.web.api.schemas.pages import TimePage, time_page_response

routes = router("Insights")
Wanted = Annotated[
    Text, Query(min_length=2, max_length=200, description="A piece of text, or a status code.")
]
OfEach = Annotated[int, Query(ge=1, le=50, description="How many of each kind at most.")]


@routes.get("/endpoints/{endpoint_id}/steering")
async def list_steering(
    endpoint_id: UUID,
    caller: Reader,
    dependencies: ApiDependencies,
    from_at: From = None,
    to: To = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> TimePage[SteeringEntryResponse]:
    """Its hints and pauses, those of the past too, newest first: who, why, and how each ended."""
    check_order(from_at, to)
    reads = dependencies.reads
    stored = await reads.endpoints.get_endpoint(caller.tenant_id, endpoint_id)
    job = await reads.jobs.get_job(caller.tenant_id, stored.endpoint.job_id)
    search = SteeringSearch(from_at, to, read_time_cursor(cursor), limit, endpoint_id)
    entries = await reads.steering.search_steering(caller.tenant_id, search)
    rules = {rule.id: rule.name for rule in job.job.rules if rule.id is not None}
    now = stored.read_at
    return time_page_response(entries, lambda named: steering_entry_response(named, rules, now))


@routes.get("/endpoints/{endpoint_id}/values")
async def get_values(
    endpoint_id: UUID,
    caller: Reader,
    dependencies: ApiDependencies,
    field: Dotted = None,
    from_at: From = None,
    to: To = None,
) -> ValuesResponse:
    """A number of its answers over time, and which numbers there are: those that rules read first,
    then those that move most. The last hour where nothing else is asked for."""
    to_at = to or dependencies.around.clock.now()
    from_at = from_at or max(to_at, EARLIEST) - USUAL_RANGE
    check_order(from_at, to_at)
    if to_at - from_at > LONGEST_RANGE:
        raise InvalidInput("from", iso(from_at), "at most 31 days before `to`")
    path = tuple(field.split(".")) if field is not None else ()
    fields, series = await dependencies.answer_values.of_endpoint(
        caller.tenant_id, endpoint_id, path, from_at, to_at
    )
    return values_response(fields, series)


@routes.get("/endpoints/{endpoint_id}/rules")
async def judge_rules(
    endpoint_id: UUID, caller: Reader, dependencies: ApiDependencies
) -> RulesNowResponse:
    """The declared rules that read it, judged now on its latest answer; nothing comes of it."""
    judged = await dependencies.rules_now.judge(caller.tenant_id, endpoint_id)
    return rules_now_response(judged)


@routes.get("/search")
async def search(
    q: Wanted, caller: Reader, dependencies: ApiDependencies, limit: OfEach = 10
) -> SearchResponse:
    """Jobs, endpoints, runs by their error or status code, and sessions by their reasoning: of runs
    and sessions those of the last seven days."""
    now = dependencies.around.clock.now()
    matches = await dependencies.search.everywhere(caller.tenant_id, q, now, limit)
    return search_response(matches, now)
