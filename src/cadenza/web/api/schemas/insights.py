"""Why an endpoint is as it is, as it is sent."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from pydantic import Field

from cadenza.application.ports.steering_history import NamedEntry
from cadenza.application.rules_now import JudgedNow, RuleVerdict
from cadenza.application.score_steering import window_of
from cadenza.application.score_values import Field as AnswerField
from cadenza.application.score_values import Series
from cadenza.application.search import SearchMatches
from cadenza.domain.hint import Author
from cadenza.domain.instants import milliseconds
from cadenza.web.api.schemas.base import ResponseSchema, null_if_endless
from cadenza.web.api.schemas.endpoints import EndpointResponse, endpoint_response
from cadenza.web.api.schemas.jobs import JobResponse, job_response
from cadenza.web.api.schemas.records import SessionResponse, session_response
from cadenza.web.api.schemas.runs import ListedRunResponse, listed_run_response
from cadenza.web.api.schemas.score import LimitResponse, SeriesResponse, WindowAuthorResponse
from cadenza.web.api.schemas.score import series_response as one_series


class SteeringEntryResponse(ResponseSchema):
    id: int
    kind: str = Field(description="interval, once, pause or job-pause.")
    bends: str | None = Field(description="Of an interval: tightened or relaxed.")
    from_at: datetime = Field(serialization_alias="from")
    to: datetime | None = Field(description="Its end, real or planned; null: until resumed.")
    planned_to: datetime | None = Field(description="Of one that was ended: when it would have.")
    ended_as: str = Field(description="standing, expired, cleared or replaced.")
    ended_by: Author | None
    ended_by_name: str | None = Field(description="Of the person who ended it.")
    interval_ms: int | None
    run_at: datetime | None = Field(description="Of a run that was asked for once.")
    renewals: int = Field(description="How often it was lengthened.")
    author: WindowAuthorResponse
    reason: str
    session_id: UUID | None


class AnswerFieldResponse(ResponseSchema):
    field: str = Field(examples=["queue.depth"])
    path: list[str]
    limits: list[LimitResponse] = Field(description="What declared rules compare it with.")


class ValuesResponse(ResponseSchema):
    fields: list[AnswerFieldResponse] = Field(description="The numbers in its last answers.")
    series: SeriesResponse | None = Field(description="null where it answers no number.")


class RuleVerdictResponse(ResponseSchema):
    id: UUID | None
    name: str
    when: str
    holds: bool
    why: str = Field(description="Where it does not hold.")
    is_trouble: bool = Field(description="It has no yes or no: somebody should look at it.")
    fired_at: datetime | None = Field(description="When it last did something.")
    rests_until: datetime | None = Field(description="Where it is within its cooldown.")


class RulesNowResponse(ResponseSchema):
    at: datetime
    answered_at: datetime | None = Field(description="The answer that they were judged on.")
    items: list[RuleVerdictResponse]


class SearchResponse(ResponseSchema):
    jobs: list[JobResponse]
    endpoints: list[EndpointResponse]
    runs: list[ListedRunResponse]
    sessions: list[SessionResponse]
    since: datetime = Field(description="Runs and sessions are looked for from here on.")


def steering_entry_response(
    named: NamedEntry, rules: Mapping[UUID, str], now: datetime
) -> SteeringEntryResponse:
    entry, advice = named.entry, named.entry.advice
    window = window_of(named, rules, now)
    return SteeringEntryResponse(
        id=entry.id,
        kind=window.kind,
        bends=window.bends,
        from_at=entry.begun_at,
        to=null_if_endless(entry.until_at),
        planned_to=null_if_endless(entry.planned_until_at),
        ended_as=window.ended_as,
        ended_by=entry.ended_by.author if entry.ended_by is not None else None,
        ended_by_name=named.ended_by_name,
        interval_ms=None if advice.interval is None else milliseconds(advice.interval),
        run_at=advice.run_at,
        renewals=entry.renewals,
        author=WindowAuthorResponse(kind=window.steered_by, name=window.author_name),
        reason=advice.reason,
        session_id=advice.session_id,
    )


def values_response(fields: Sequence[AnswerField], series: Series | None) -> ValuesResponse:
    return ValuesResponse(
        fields=[
            AnswerFieldResponse(
                field=".".join(field.path),
                path=list(field.path),
                limits=[LimitResponse.model_validate(limit) for limit in field.limits],
            )
            for field in fields
        ],
        series=None if series is None else one_series(series),
    )


def rules_now_response(judged: JudgedNow) -> RulesNowResponse:
    items = [_verdict(verdict) for verdict in judged.verdicts]
    return RulesNowResponse(at=judged.at, answered_at=judged.answered_at, items=items)


def _verdict(verdict: RuleVerdict) -> RuleVerdictResponse:
    return RuleVerdictResponse(
        id=verdict.rule.id,
        name=verdict.rule.name,
        when=verdict.rule.when,
        holds=verdict.holds,
        why=verdict.why,
        is_trouble=verdict.is_trouble,
        fired_at=verdict.fired_at,
        rests_until=verdict.rests_until,
    )


def search_response(matches: SearchMatches, now: datetime) -> SearchResponse:
    names = matches.names
    return SearchResponse(
        jobs=[job_response(job, now) for job in matches.jobs],
        endpoints=[endpoint_response(endpoint) for endpoint in matches.endpoints],
        runs=[listed_run_response(run, names.get(run.endpoint_id)) for run in matches.runs],
        sessions=[
            session_response(session, names.get(session.endpoint_id))
            for session in matches.sessions
        ],
        since=matches.since_at,
    )
