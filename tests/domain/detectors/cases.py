"""Cases for detectors: an endpoint every ten minutes, with the answers that a test names."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from cadenza.domain.analysis import AnalysisContext, Response, SiblingState
from cadenza.domain.detectors.case import Case
from cadenza.domain.endpoint import Endpoint, Every, Job, OnDemand
from cadenza.domain.health import Health, HealthWindow
from cadenza.domain.run import RunStatus
from cadenza.domain.spending import Purse
from tests.factories import NOON, id_of, make_endpoint, minutes

PACE = minutes(10)
FULL = Purse(1000.0, 1000.0)


def answer(body: Any = None, *, at: datetime = NOON, ok: bool = True, code: int = 200) -> Response:
    status = RunStatus.SUCCESS if ok else RunStatus.FAILURE
    return Response(at, at, status, body, timedelta(0), code)


def answers(bodies: Sequence[Any], *, every: timedelta = PACE) -> tuple[Response, ...]:
    """Oldest first as they are given, newest first as a brain gets them; the last one is now."""
    count = len(bodies)
    spaced = [
        answer(body, at=NOON - (count - 1 - n) * every) if not isinstance(body, Response) else body
        for n, body in enumerate(bodies)
    ]
    return tuple(reversed(spaced))


def health(
    runs: int = 0, outages: int = 0, changed_ago: timedelta | None = None, streak: int = 0
) -> Health:
    windows = tuple(HealthWindow(timedelta(hours=n), runs, runs) for n in (1, 4, 24))
    changed_at = None if changed_ago is None else NOON - changed_ago
    return Health(windows, None, streak, outages, changed_at)


def sibling(name: str, body: Any, at: datetime = NOON, **fields: Any) -> SiblingState:
    return SiblingState(make_endpoint(name, **fields), answer(body, at=at))


def case(
    bodies: Sequence[Any] = (),
    *,
    of: Health | None = None,
    every: timedelta = PACE,
    purse: Purse = FULL,
    relax: float = 1.0,
    siblings: Sequence[SiblingState] = (),
    memory: Mapping[str, Any] | None = None,
    only_reads: bool = True,
    **fields: Any,
) -> Case:
    endpoint: Endpoint = make_endpoint(
        **{"baseline": Every(PACE), "created_at": NOON - timedelta(days=9), **fields}
    )
    context = AnalysisContext(
        NOON,
        endpoint,
        Job(id_of("job"), id_of("tenant"), "watch"),
        of or health(),
        tuple(each.endpoint.name for each in siblings),
        recent=answers(bodies, every=every),
        siblings=tuple(siblings),
        memory=memory,
        only_reads=only_reads,
    )
    pace = None if isinstance(endpoint.baseline, OnDemand) else PACE
    return Case(context, pace, lambda: purse, relax)


def down(code: int = 500) -> Response:
    return answer(ok=False, code=code)


def failing(count: int = 12) -> list[Response]:
    return [replace(down(), slot_at=NOON - n * PACE) for n in reversed(range(count))]
