"""Steering by hand: pauses, hints, run now, reset, and asking for an analysis."""

from datetime import datetime
from uuid import UUID

from cadenza.application.ports.endpoints import Act
from cadenza.domain import steering
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import Refused
from cadenza.domain.hint import Author, IntervalHint, OneShotHint
from cadenza.domain.instants import humanize
from cadenza.web.api.access import ApiDependencies, Operator, audit_entry
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.parsing.bodies import IntervalHintBody, NewOneShotHint, PauseBody
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.endpoints import (
    EndpointResponse,
    RequestedAnalysisResponse,
    RequestedRunResponse,
    endpoint_response,
)

routes = router("Steering", "/endpoints/{endpoint_id}")


async def _steer(
    dependencies: Dependencies,
    caller: Operator,
    endpoint_id: UUID,
    action: str,
    transition: Act,
    **data: object,
) -> EndpointResponse:
    entry = audit_entry(caller, f"endpoint.{action}", **data)
    stored = await dependencies.endpoints.steer_endpoint(
        caller.tenant_id, endpoint_id, _if_not_archived(transition), entry
    )
    return endpoint_response(stored)


def _if_not_archived(transition: Act) -> Act:
    def guarded(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
        if endpoint.archived_at is not None:
            raise Refused("it is archived")
        return transition(endpoint, now, cron)

    return guarded


@routes.post("/pause")
async def pause(
    endpoint_id: UUID, body: PauseBody, caller: Operator, dependencies: ApiDependencies
) -> EndpointResponse:
    """No scheduled run before an instant, or until it is resumed."""
    until_at, reason = body.until, body.reason

    def transition(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
        return steering.pause(endpoint, until_at, Author.PERSON, reason, now, cron)

    data = {"until": str(body.until), "reason": reason}
    return await _steer(dependencies, caller, endpoint_id, "pause", transition, **data)


@routes.post("/resume")
async def resume(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> EndpointResponse:
    """Lift a person's pause and a planner's; that of the job stays."""

    def transition(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
        return steering.resume(endpoint, Author.PERSON, now, cron)

    return await _steer(dependencies, caller, endpoint_id, "resume", transition)


@routes.post("/hints/interval")
async def hint_interval(
    endpoint_id: UUID, body: IntervalHintBody, caller: Operator, dependencies: ApiDependencies
) -> EndpointResponse:
    """Run at another interval for a while. The guardrails hold, and the baseline returns."""
    interval, ttl = body.parsed()

    def transition(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
        hint = IntervalHint(interval, now + ttl, Author.PERSON, body.reason)
        return steering.suggest_interval(endpoint, hint, now, cron)

    data = {"interval": humanize(interval), "ttl": humanize(ttl), "reason": body.reason}
    return await _steer(dependencies, caller, endpoint_id, "hint.interval", transition, **data)


@routes.post("/hints/one-shot")
async def hint_one_shot(
    endpoint_id: UUID,
    body: NewOneShotHint,
    caller: Operator,
    dependencies: ApiDependencies,
) -> EndpointResponse:
    """Run once at an instant, if the baseline does not come first."""
    when, ttl = body.parsed()

    def transition(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
        run_at = max(when, now) if isinstance(when, datetime) else now + when
        hint = OneShotHint(run_at, run_at + ttl, Author.PERSON, body.reason)
        return steering.suggest_run_at(endpoint, hint, now, cron)

    data = {"at": str(body.at or body.within), "ttl": humanize(ttl), "reason": body.reason}
    return await _steer(dependencies, caller, endpoint_id, "hint.one-shot", transition, **data)


@routes.delete("/hints")
async def clear_hints(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> EndpointResponse:
    """Drop both hints; the baseline returns at once."""

    def transition(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
        return steering.clear_hints(endpoint, Author.PERSON, now, cron)

    return await _steer(dependencies, caller, endpoint_id, "hints.clear", transition)


@routes.post("/reset-failures")
async def reset_failures(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> EndpointResponse:
    """Forget the failures, and with them the back-off."""
    return await _steer(
        dependencies, caller, endpoint_id, "reset-failures", steering.reset_failures
    )


@routes.post("/run", status_code=202)
async def run_now(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> RequestedRunResponse:
    """A run now, whatever min and pause say; 409 while one is in flight."""

    def transition(endpoint: Endpoint, now: datetime, _cron: Cron) -> Endpoint:
        return steering.request_run_now(endpoint, now)

    stored = await dependencies.endpoints.steer_endpoint(
        caller.tenant_id, endpoint_id, transition, audit_entry(caller, "endpoint.run")
    )
    slot_at = stored.endpoint.manual_slot_at
    assert slot_at is not None
    return RequestedRunResponse(endpoint_id=endpoint_id, slot_at=slot_at)


@routes.post("/analyse", status_code=202)
async def analyse(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> RequestedAnalysisResponse:
    """Ask the planner for a look, as soon as it can."""
    entry = audit_entry(caller, "endpoint.analyse")
    await dependencies.endpoints.ask_for_analysis(caller.tenant_id, endpoint_id, entry)
    return RequestedAnalysisResponse(endpoint_id=endpoint_id)
