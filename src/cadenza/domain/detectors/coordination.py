"""A sibling says that it is ready: the endpoint that waits for it is started."""

from datetime import timedelta
from typing import Any

from cadenza.domain.analysis import SiblingState
from cadenza.domain.detectors.case import Case
from cadenza.domain.detectors.finding import Finding, Want
from cadenza.domain.detectors.series import fields_of, number_of
from cadenza.domain.endpoint import OnDemand

NAME = "Coordination"
_STEM = 5  # letters: `processing` is about the `processor` too


def coordination(case: Case, _: timedelta | None = None) -> Finding | None:
    """Only an endpoint that waits for being asked is started, once for each answer."""
    endpoint = case.endpoint
    if not isinstance(endpoint.baseline, OnDemand):
        return None
    if endpoint.in_flight or endpoint.one_shot_hint is not None:
        return None
    if endpoint.paused_until(case.now) is not None:
        return None
    for sibling in case.context.siblings:
        signal = _news(case, sibling)
        if signal is not None:
            sentence = f"{sibling.endpoint.name} says {signal}"
            return Finding(NAME, sentence, Want.RUN, confidence=0.9)
    return None


def _news(case: Case, sibling: SiblingState) -> str | None:
    latest = sibling.latest
    if latest is None or not latest.is_well:
        return None
    last_run_at = case.endpoint.last_slot_at
    if last_run_at is not None and latest.finished_at <= last_run_at:
        return None
    fields = fields_of(latest)
    # Asked of every sibling at every look, and most have no such field.
    for name in [each for each in fields if "ready" in each or each == "data_available"]:
        if _says_ready(name, fields[name]) and _is_meant(case, name):
            return name
    return None


def _says_ready(name: str, value: Any) -> bool:
    is_signal = name.startswith("ready_for_") or name.endswith("_ready") or name == "data_available"
    return is_signal and (value is True or (number_of(value) or 0) > 0)


def _is_meant(case: Case, name: str) -> bool:
    """The one endpoint that waits; among several, the one whose name the signal speaks of."""
    others = (each.endpoint for each in case.context.siblings)
    if not any(isinstance(each.baseline, OnDemand) for each in others):
        return True
    words = name.removeprefix("ready_for_").removesuffix("_ready").split("_")
    own = case.endpoint.name.lower()
    return any(len(word) >= _STEM - 1 and word[:_STEM].lower() in own for word in words)
