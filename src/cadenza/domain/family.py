"""The families that runs are drawn and counted in: by what chose their slot."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from cadenza.domain.endpoint import Endpoint
from cadenza.domain.instants import from_iso
from cadenza.domain.plan import Source
from cadenza.domain.steering_history import tightens


class Family(StrEnum):
    BASELINE = "baseline"
    TIGHTENED = "tightened"  # a hint's interval, sooner than the baseline alone
    RELAXED = "relaxed"  # a hint's interval, later than the baseline alone
    ONCE = "once"  # a single run that a rule, a planner or a person asked for
    MANUAL = "manual"
    HELD = "held"  # moved by min, max, a pause or Retry-After


FAMILIES = {str(family): family for family in Family}  # faster than the enum's own look-up

_OF_SOURCE = {
    Source.BASELINE_CRON: Family.BASELINE,
    Source.BASELINE_INTERVAL: Family.BASELINE,
    Source.AI_ONESHOT: Family.ONCE,
    Source.MANUAL: Family.MANUAL,
}


def family_of(source: Source, plan: Mapping[str, Any] | None, *, is_manual: bool = False) -> Family:
    """Of a run, by its source and the record of the plan that led to it."""
    if is_manual:
        return Family.MANUAL
    if source is not Source.AI_INTERVAL:
        return _OF_SOURCE.get(source, Family.HELD)
    candidates = plan.get("candidates", ()) if plan is not None else ()
    at = {candidate["source"]: from_iso(candidate["at"]) for candidate in candidates}
    hinted = at.pop(Source.AI_INTERVAL, None)
    plain = [instant for name, instant in at.items() if name.startswith("baseline-")]
    is_later = hinted is not None and bool(plain) and hinted > max(plain)
    return Family.RELAXED if is_later else Family.TIGHTENED


def planned_family(endpoint: Endpoint, source: Source) -> Family:
    """Of a run ahead, under the hints that are in force."""
    hint = endpoint.interval_hint
    if source is Source.AI_INTERVAL and hint is not None and not tightens(endpoint, hint):
        return Family.RELAXED
    return family_of(source, None)
