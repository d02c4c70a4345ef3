"""How long anybody stood still, by the receivers: from the end of a request to the next one."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from tests.chaos.history import Delivery, History, Spec


@dataclass(frozen=True, slots=True, order=True)
class Standstill:
    seconds: float = 0.0
    about: str = ""


def longest_standstill(history: History) -> Standstill:
    """Of plain endpoints, but those whose rows somebody held."""
    free = (spec for spec in history.plain if spec.endpoint_id not in history.locked)
    return max((each for spec in free for each in _of(history, spec)), default=Standstill())


def _of(history: History, spec: Spec) -> Iterator[Standstill]:
    deliveries = sorted(history.deliveries_of(spec.endpoint_id), key=lambda one: one.began)
    for earlier, later in pairwise(deliveries) if spec.every is not None else ():
        if (seconds := _seconds(history, spec, earlier, later)) > 0:
            faults = {
                fault.kind
                for fault in history.faults
                if fault.began < later.began and earlier.ended < fault.ended
            }
            yield Standstill(seconds, f"{spec.name}: {', '.join(sorted(faults)) or 'no fault'}")


def _seconds(history: History, spec: Spec, earlier: Delivery, later: Delivery) -> float:
    """Beyond its interval, and what the machine itself stood still in that time."""
    assert spec.every is not None
    began, ended = min(earlier.ended, later.began), later.began
    # By a clock that was set back its interval may begin anew.
    anew = any(
        step.is_back and earlier.began <= step.ended <= ended for step in history.clock_steps
    )
    intervals = spec.every.total_seconds() * (1 + anew)
    return ended - began - intervals - history.stalled_between(began, ended)
