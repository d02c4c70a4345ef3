"""A sibling says that it is ready: the endpoint that waits for it is started."""

from typing import Any

from cadenza.domain.analysis import SiblingState
from cadenza.domain.detectors.case import Case, Finding, Want
from cadenza.domain.detectors.series import fields_of, number_of
from cadenza.domain.endpoint import OnDemand

_STEM = 5  # letters: `processing` is about the `processor` too


def coordination(case: Case) -> Finding | None:
    """Only an endpoint without a schedule of its own is started, once for each answer."""
    endpoint = case.endpoint
    if not isinstance(endpoint.baseline, OnDemand) or endpoint.in_flight:
        return None
    if endpoint.one_shot_hint is not None or endpoint.paused_until(case.now) is not None:
        return None
    for sibling in case.context.siblings:
        signal = _signal(case, sibling)
        if signal is not None:
            sentence = f"{sibling.endpoint.name} says {signal}"
            return Finding("Coordination", sentence, Want.RUN, confidence=0.9)
    return None


def _signal(case: Case, sibling: SiblingState) -> str | None:
    latest = sibling.latest
    if latest is None or not latest.is_well:
        return None
    last_run_at = case.endpoint.last_slot_at
    if last_run_at is not None and latest.finished_at <= last_run_at:
        return None
    fields = fields_of(latest)
    # Every analysis asks this of every sibling, and most have no such field.
    for name in [name for name in fields if "ready" in name or name == "data_available"]:
        if _says_ready(name, fields[name]) and _is_meant(case, name):
            return name
    return None


def _says_ready(name: str, value: Any) -> bool:
    is_signal = name.startswith("ready_for_") or name.endswith("_ready") or name == "data_available"
    return is_signal and (value is True or (number_of(value) or 0) > 0)


def _is_meant(case: Case, name: str) -> bool:
    """The one endpoint that waits; among several, the one whose name is in the signal."""
    siblings = case.context.siblings
    if not any(isinstance(sibling.endpoint.baseline, OnDemand) for sibling in siblings):
        return True
    words = name.removeprefix("ready_for_").removesuffix("_ready").split("_")
    own = case.endpoint.name.lower()
    return any(len(word) >= _STEM - 1 and word[:_STEM].lower() in own for word in words)
