"""The values that declared rules' expressions read: built once an analysis, not for each rule.

What is not known is left out and not null, so that an expression which asks for it does not hold.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from cadenza.application.descriptions import describe_baseline
from cadenza.domain.analysis import AnalysisContext, Response, SiblingState
from cadenza.domain.endpoint import Endpoint, fresh_hints
from cadenza.domain.governor import hint_floor_at
from cadenza.domain.health import Health
from cadenza.domain.instants import milliseconds

Values = dict[str, Any]


def values_of(
    context: AnalysisContext,
    answers: Sequence[Response],
    *,
    siblings: Collection[str] | None = None,
    without: Collection[str] = (),
) -> list[Values]:
    """For each answer, newest first; health, siblings and the time are those of now.

    Without all siblings where only some are named, and without what no rule asks for.
    """
    now = context.now
    by_name = {
        sibling.endpoint.name: _sibling(sibling, now)
        for sibling in context.siblings
        if siblings is None or sibling.endpoint.name in siblings
    }
    common: Values = {"siblings": by_name, "now": now}
    if "health" not in without:
        common["health"] = health_values(context.health)
    if "endpoint" in without:
        return [{**common, "response": answer.body} for answer in answers]
    endpoint = endpoint_values(context.endpoint, now)
    return [
        {**common, "response": answer.body, "endpoint": {**endpoint, **_answer(answer)}}
        for answer in answers
    ]


def _sibling(sibling: SiblingState, now: datetime) -> Values:
    values: Values = {"endpoint": endpoint_values(sibling.endpoint, now)}
    if sibling.latest is not None:
        values["response"] = sibling.latest.body
        values["endpoint"] |= _answer(sibling.latest)
    return values


def _answer(response: Response) -> Values:
    return _known(
        status=str(response.status),
        well=response.is_well,
        status_code=response.status_code,
        answered_at=response.finished_at,
        duration_ms=milliseconds(response.duration) if response.duration is not None else None,
    )


def endpoint_values(endpoint: Endpoint, now: datetime) -> Values:
    interval, one_shot = fresh_hints(endpoint, now)
    floor = hint_floor_at(endpoint, endpoint.last_run_at)
    paused_until = endpoint.paused_until(now)
    is_free = not endpoint.in_flight and paused_until is None
    return _known(
        name=endpoint.name,
        baseline=describe_baseline(endpoint),
        min_interval_ms=endpoint.min_interval and milliseconds(endpoint.min_interval),
        max_interval_ms=endpoint.max_interval and milliseconds(endpoint.max_interval),
        hinted=interval is not None or one_shot is not None,
        interval_ms=milliseconds(interval.interval) if interval is not None else None,
        paused=paused_until is not None,
        paused_until=paused_until,
        running=endpoint.in_flight,
        ready=is_free and (floor is None or floor[0] <= now),
        failure_count=endpoint.failure_count,
        last_run_at=endpoint.last_run_at,
        next_run_at=endpoint.next_run_at,
    )


def health_values(health: Health) -> Values:
    values = _known(
        failure_streak=health.failure_streak,
        outages=health.outages,
        changed_at=health.changed_at,
        mean_duration_ms=milliseconds(health.mean_duration) if health.mean_duration else None,
    )
    for window in health.windows:
        hours = int(window.length.total_seconds()) // 3600
        rate = {f"success_rate_{hours}h": window.success_rate}
        values |= _known(**{f"runs_{hours}h": window.runs}, **rate)
    return values


def _known(**values: Any) -> Values:
    return {name: value for name, value in values.items() if value is not None}
