"""Steering by hand: pauses, hints, run now, reset, and asking for an analysis."""

from uuid import UUID

from cadenza.application.bulk import MOST_MATCHES
from cadenza.application.ports.catalogue import EndpointSearch
from cadenza.web.api.access import ApiDependencies, Operator, Reader
from cadenza.web.api.parsing.bodies import (
    BulkBody,
    IntervalHintBody,
    MatchingBody,
    NewOneShotHint,
    PauseBody,
)
from cadenza.web.api.parsing.query import Searched, State
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.endpoints import (
    BulkResponse,
    EndpointResponse,
    MatchingCountResponse,
    MatchingResponse,
    RequestedAnalysisResponse,
    RequestedRunResponse,
    bulk_response,
    endpoint_response,
    matching_response,
)

routes = router("Steering", "/endpoints/{endpoint_id}")
bulk_routes = router("Steering", "/endpoint-actions")


@bulk_routes.post("")
async def act_on_many(
    body: BulkBody, caller: Operator, dependencies: ApiDependencies
) -> BulkResponse:
    """Pause, resume, clear the hints or reset the failures of up to 1,000 endpoints: all that can
    be done, in one transaction, and what became of each."""
    results = await dependencies.bulk_steering.act(
        caller, body.endpoint_ids, body.action, body.until, body.reason
    )
    return bulk_response(results)


@bulk_routes.get("/matching")
async def count_matching(
    caller: Reader,
    dependencies: ApiDependencies,
    job_id: UUID | None = None,
    search: Searched = None,
    state: State = None,
) -> MatchingCountResponse:
    """How many endpoints fit, and how many an action may be for at most."""
    criteria = EndpointSearch(job_id=job_id, search=search, state=state)
    count = await dependencies.bulk_steering.count_matches(caller, criteria)
    return MatchingCountResponse(count=min(count, MOST_MATCHES), is_more=count > MOST_MATCHES)


@bulk_routes.post("/matching")
async def act_on_matching(
    body: MatchingBody, caller: Operator, dependencies: ApiDependencies
) -> MatchingResponse:
    """The same on every endpoint that fits, up to 10,000, a transaction for every thousand. 409
    where more fit than `expected`."""
    results = await dependencies.bulk_steering.act_on_matches(
        caller, body.criteria, body.action, body.expected, body.until, body.reason
    )
    return matching_response(results)


@routes.post("/pause")
async def pause(
    endpoint_id: UUID, body: PauseBody, caller: Operator, dependencies: ApiDependencies
) -> EndpointResponse:
    """No scheduled run before an instant, or until it is resumed."""
    steering = dependencies.steering
    return endpoint_response(await steering.pause(caller, endpoint_id, body.until, body.reason))


@routes.post("/resume")
async def resume(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> EndpointResponse:
    """Lift a person's pause and a planner's; that of the job stays."""
    return endpoint_response(await dependencies.steering.resume(caller, endpoint_id))


@routes.post("/hints/interval")
async def hint_interval(
    endpoint_id: UUID, body: IntervalHintBody, caller: Operator, dependencies: ApiDependencies
) -> EndpointResponse:
    """Run at another interval for a while. The guardrails hold, and the baseline returns."""
    interval, ttl = body.parsed()
    stored = await dependencies.steering.hint_interval(
        caller, endpoint_id, interval, ttl, body.reason
    )
    return endpoint_response(stored)


@routes.post("/hints/one-shot")
async def hint_one_shot(
    endpoint_id: UUID, body: NewOneShotHint, caller: Operator, dependencies: ApiDependencies
) -> EndpointResponse:
    """Run once at an instant, if the baseline does not come first."""
    run_at, ttl = body.parsed()
    stored = await dependencies.steering.hint_run(
        caller, endpoint_id, run_at, ttl, body.reason, body.written
    )
    return endpoint_response(stored)


@routes.delete("/hints")
async def clear_hints(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> EndpointResponse:
    """Drop both hints; the baseline returns at once."""
    return endpoint_response(await dependencies.steering.clear_hints(caller, endpoint_id))


@routes.post("/reset-failures")
async def reset_failures(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> EndpointResponse:
    """Forget the failures, and with them the back-off."""
    return endpoint_response(await dependencies.steering.reset_failures(caller, endpoint_id))


@routes.post("/run", status_code=202)
async def run_now(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> RequestedRunResponse:
    """A run now, whatever min and pause say; 409 while one is in flight."""
    slot_at = await dependencies.steering.run_now(caller, endpoint_id)
    return RequestedRunResponse(endpoint_id=endpoint_id, slot_at=slot_at)


@routes.post("/analyse", status_code=202)
async def analyse(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> RequestedAnalysisResponse:
    """Ask the planner for an analysis, as soon as it can."""
    await dependencies.analysis_requests.ask(caller, endpoint_id)
    return RequestedAnalysisResponse(endpoint_id=endpoint_id)
