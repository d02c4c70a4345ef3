"""Steering by hand: pauses, hints, run now, reset, and asking for an analysis."""

from datetime import datetime, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import Body
from pydantic import Field

from cadenza.application.ports.endpoints import Act
from cadenza.domain import steering
from cadenza.domain.bounds import LONGEST_TTL, MAX_INTERVAL, MIN_INTERVAL, MIN_TTL
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import InvalidInput, Refused
from cadenza.domain.hint import Author, IntervalHint, OneShotHint
from cadenza.domain.instants import humanize
from cadenza.manifest.durations import parse_duration
from cadenza.manifest.models import Document, Duration
from cadenza.web.api.access import ApiDependencies, Operator, audit_entry
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.instants import Instant
from cadenza.web.api.jobs import Until
from cadenza.web.api.routes import router
from cadenza.web.api.schemas import EndpointShown, Shown, endpoint_shown

routes = router("Steering", "/endpoints/{endpoint_id}")
Reason = Annotated[str, Field(max_length=500)]


class IntervalWanted(Document):
    interval: Duration
    ttl: Duration = "1h"
    reason: Reason = ""


class OneShotWanted(Document):
    """One of `at` and `in`."""

    at: Instant | None = None
    within: Duration | None = Field(default=None, alias="in", description="From now.")
    ttl: Duration = "30m"
    reason: Reason = ""


async def _steer(
    dependencies: Dependencies,
    caller: Operator,
    endpoint_id: UUID,
    action: str,
    act: Act,
    **data: object,
) -> EndpointShown:
    done = audit_entry(caller, f"endpoint.{action}", **data)
    stored = await dependencies.endpoints.steer_endpoint(
        caller.tenant_id, endpoint_id, _if_not_archived(act), done
    )
    return endpoint_shown(stored)


def _if_not_archived(act: Act) -> Act:
    def guarded(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
        if endpoint.archived_at is not None:
            raise Refused("it is archived")
        return act(endpoint, now, cron)

    return guarded


@routes.post("/pause")
async def pause(
    endpoint_id: UUID, body: Until, caller: Operator, dependencies: ApiDependencies
) -> EndpointShown:
    """No scheduled run before an instant, or until it is resumed."""
    until_at, reason = body.until, body.reason

    def act(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
        return steering.pause(endpoint, until_at, Author.PERSON, reason, now, cron)

    told = {"until": str(body.until), "reason": reason}
    return await _steer(dependencies, caller, endpoint_id, "pause", act, **told)


@routes.post("/resume")
async def resume(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> EndpointShown:
    """Lift a person's pause and a planner's; that of the job stays."""

    def act(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
        return steering.resume(endpoint, Author.PERSON, now, cron)

    return await _steer(dependencies, caller, endpoint_id, "resume", act)


@routes.post("/hints/interval")
async def hint_interval(
    endpoint_id: UUID, body: IntervalWanted, caller: Operator, dependencies: ApiDependencies
) -> EndpointShown:
    """Run at another interval for a while. The guardrails hold, and the baseline returns."""
    interval = _between("interval", body.interval, MIN_INTERVAL, MAX_INTERVAL)
    ttl = _between("ttl", body.ttl, MIN_TTL, LONGEST_TTL)

    def act(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
        hint = IntervalHint(interval, now + ttl, Author.PERSON, body.reason)
        return steering.suggest_interval(endpoint, hint, now, cron)

    told = {"interval": humanize(interval), "ttl": humanize(ttl), "reason": body.reason}
    return await _steer(dependencies, caller, endpoint_id, "hint.interval", act, **told)


@routes.post("/hints/one-shot")
async def hint_one_shot(
    endpoint_id: UUID,
    body: Annotated[OneShotWanted, Body(examples=[{"in": "10m"}])],
    caller: Operator,
    dependencies: ApiDependencies,
) -> EndpointShown:
    """Run once at an instant, if the baseline does not come first."""
    if (body.at is None) == (body.within is None):
        raise InvalidInput("at", str(body.at), "give `at` or `in`, one of the two")
    at = body.at
    within = parse_duration(body.within) if body.within is not None else timedelta(0)
    ttl = _between("ttl", body.ttl, MIN_TTL, LONGEST_TTL)

    def act(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
        run_at = max(at, now) if at is not None else now + within
        hint = OneShotHint(run_at, run_at + ttl, Author.PERSON, body.reason)
        return steering.suggest_run_at(endpoint, hint, now, cron)

    told = {"at": str(body.at or body.within), "ttl": humanize(ttl), "reason": body.reason}
    return await _steer(dependencies, caller, endpoint_id, "hint.one-shot", act, **told)


@routes.delete("/hints")
async def clear_hints(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> EndpointShown:
    """Drop both hints; the baseline returns at once."""

    def act(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
        return steering.clear_hints(endpoint, Author.PERSON, now, cron)

    return await _steer(dependencies, caller, endpoint_id, "hints.clear", act)


@routes.post("/reset-failures")
async def reset_failures(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> EndpointShown:
    """Forget the failures, and with them the back-off."""
    return await _steer(
        dependencies, caller, endpoint_id, "reset-failures", steering.reset_failures
    )


class RunAsked(Shown):
    endpoint_id: UUID
    slot_at: datetime


@routes.post("/run", status_code=202)
async def run_now(endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies) -> RunAsked:
    """A run now, whatever min and pause say; 409 while one is in flight."""

    def act(endpoint: Endpoint, now: datetime, _cron: Cron) -> Endpoint:
        return steering.request_run_now(endpoint, now)

    stored = await dependencies.endpoints.steer_endpoint(
        caller.tenant_id, endpoint_id, act, audit_entry(caller, "endpoint.run")
    )
    slot_at = stored.endpoint.manual_slot_at
    assert slot_at is not None
    return RunAsked(endpoint_id=endpoint_id, slot_at=slot_at)


class AnalysisAsked(Shown):
    endpoint_id: UUID


@routes.post("/analyse", status_code=202)
async def analyse(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> AnalysisAsked:
    """Ask the planner for a look, as soon as it can."""
    done = audit_entry(caller, "endpoint.analyse")
    await dependencies.endpoints.ask_for_analysis(caller.tenant_id, endpoint_id, done)
    return AnalysisAsked(endpoint_id=endpoint_id)


def _between(field: str, given: int | str, least: timedelta, most: timedelta) -> timedelta:
    duration = parse_duration(given)
    if not least <= duration <= most:
        raise InvalidInput(field, given, f"from {humanize(least)} to {humanize(most)}")
    return duration
