"""The score of a job: how its runs are drawn, and how much of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from cadenza.domain.endpoint import Endpoint, EndpointState, fresh_hints, is_late

RUNS_OF_A_LANE = 2_000  # that are told one by one
RUNS_OF_A_SCORE = 20_000  # the same, of all its lanes together: more is no picture, and slow
BUCKETED_RUNS = 200_000  # that are counted for all lanes together
MOST_BUCKETS = 600
LONGEST_RANGE = timedelta(days=31)
USUAL_RANGE = timedelta(hours=1)
AHEAD = 6  # a sixth of what lies behind is shown of what lies ahead

_SECOND, _MINUTE, _HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
_WIDTHS = (
    *(n * _SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * _MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * _HOUR for n in (1, 2, 3, 6, 12)),
)


class SteeredBy(StrEnum):
    PERSON = "person"
    RULE = "rule"
    MODEL = "model"
    DETECTOR = "detector"


def bucket_width(length: timedelta, most: int = MOST_BUCKETS) -> timedelta:
    """The narrowest round one that cuts a range into no more than so many."""
    return next((width for width in _WIDTHS if length <= most * width), _WIDTHS[-1])


def shown_state(endpoint: Endpoint, next_run_at: datetime | None, now: datetime) -> EndpointState:
    """The one that matters most of those an endpoint is in."""
    if endpoint.archived_at is not None:
        return EndpointState.ARCHIVED
    if endpoint.paused_until(now) is not None:
        return EndpointState.PAUSED
    if endpoint.failure_count > 0:
        return EndpointState.FAILING
    if is_late(next_run_at, endpoint, now):
        return EndpointState.LATE
    return EndpointState.HINTED if any(fresh_hints(endpoint, now)) else EndpointState.ACTIVE


@dataclass(frozen=True, slots=True)
class Limit:
    """What a rule compares a field with."""

    op: str
    value: float
    rule: str


_NUMBER, _OP = r"(-?\d{1,15}(?:\.\d{1,9})?)", r"(<=|>=|<|>|==)"
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


def limit_in(when: str, path: Sequence[str], rule: str) -> Limit | None:
    """The number that an expression compares a field with, where it names one."""
    field = r"(?<![\w.])" + r"\s*\.\s*".join(map(re.escape, path)) + r"(?![\w.(])"
    if match := re.search(rf"{field}\s*{_OP}\s*{_NUMBER}(?![\w.])", when):
        return Limit(match[1], float(match[2]), rule)
    if match := re.search(rf"(?<![\w.]){_NUMBER}\s*{_OP}\s*{field}", when):
        return Limit(_MIRRORED[match[2]], float(match[1]), rule)
    return None
