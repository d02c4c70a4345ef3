"""What an answer asks for: a cooldown, a wait, a dependency that is away.

A failing endpoint is paused only where the answer asks to come back later (429 and 503), never
because something is broken: the end of a failure has to be noticed.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from cadenza.domain.bounds import MAX_PAUSE
from cadenza.domain.detectors.case import Case, Finding, Want
from cadenza.domain.detectors.series import instant_of, number_of
from cadenza.domain.instants import iso
from cadenza.domain.outcome import MAX_RETRY_AFTER

_UNTIL = ("cooldown_until", "not_before", "next_allowed_at", "retry_at", "maintenance_until")
_IN_SECONDS = frozenset({"retry_after", "retry_after_seconds", "cooldown_seconds"})
_DEPENDENCIES = frozenset({"dependency_status", "upstream_status", "dependency_state"})
_AWAY = frozenset({"unavailable", "down", "offline", "failed", "failing", "maintenance", "error"})
_COME_BACK_LATER = (429, 503)
A_WHILE = 2  # baseline intervals for which an absent dependency is left alone


def waiting(case: Case, pace: timedelta | None) -> Finding | None:
    """The longest wait that the newest answer asks for, where it may be asked of this endpoint."""
    if not case.body or not (case.is_well or case.recent[0].status_code in _COME_BACK_LATER):
        return None
    waits = [*_instants(case), *_waits(case), *_dependencies(case, pace)]
    if not waits:
        return None
    until_at, why = max(waits)
    until_at = min(until_at, case.now + MAX_PAUSE)
    sentence = f"{why}, so it waits until {iso(until_at)}"
    return Finding("Waiting", sentence, Want.PAUSE, until_at=until_at, confidence=0.9)


def _instants(case: Case) -> Iterator[tuple[datetime, str]]:
    for name, value in case.body.items():
        if name.endswith(_UNTIL):
            until_at = instant_of(value)
            if until_at is not None and until_at > case.now:
                yield until_at, f"the answer says {name}"


def _waits(case: Case) -> Iterator[tuple[datetime, str]]:
    """Counted from the answer, and no longer than a `Retry-After` is obeyed."""
    for name in _IN_SECONDS & case.body.keys():
        wait = number_of(case.body[name])
        if wait is not None and wait > 0:
            length = timedelta(seconds=min(wait, MAX_RETRY_AFTER.total_seconds()))
            until_at = case.recent[0].finished_at + length
            if until_at > case.now:
                yield until_at, f"the answer says {name}"


def _dependencies(case: Case, pace: timedelta | None) -> Iterator[tuple[datetime, str]]:
    if pace is None or not case.is_well:
        return
    for name in _DEPENDENCIES & case.body.keys():
        status = case.body[name]
        if isinstance(status, str) and status.lower() in _AWAY:
            length = min(A_WHILE * pace, MAX_RETRY_AFTER)
            until_at = case.recent[0].finished_at + length
            if until_at > case.now:
                yield until_at, f"{name} is {status.lower()}"
