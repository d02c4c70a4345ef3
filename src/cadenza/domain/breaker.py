"""A circuit breaker: a provider that fails is left alone for a while, then tried with one session.

Closed, it lets every session begin. A failure opens it for a time that doubles with each failure
in a row, or for as long as the provider asked. After that it is half open: one session may try, and
its end closes the breaker or opens it for longer. Time is an argument; nothing here waits.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cadenza.domain.instants import iso

FIRST_REST = timedelta(seconds=5)
LONGEST_REST = timedelta(minutes=15)
LONGEST_ASKED = timedelta(hours=1)  # a provider that asks for more is tried again after this


@dataclass(frozen=True, slots=True)
class Breaker:
    failures: int = 0  # in a row
    rest_until: datetime | None = None  # set from the first failure to the next success
    trial_until: datetime | None = None  # while one session tries, and no longer than it may last
    reason: str = ""

    def refusal(self, now: datetime) -> str | None:
        """Why no session may begin now, for a person to read; None where one may."""
        if self.rest_until is None:
            return None
        if now < self.rest_until:
            return f"{self.reason}; it is tried again at {iso(self.rest_until)}"
        if self.trial_until is not None and now < self.trial_until:
            return f"{self.reason}; one session is trying it now"
        return None

    def begun(self, now: datetime, at_most: timedelta) -> "Breaker":
        """A session begins: after a failure it is the one that tries."""
        return self if self.rest_until is None else replace(self, trial_until=now + at_most)

    def abandoned(self) -> "Breaker":
        """The session that should have tried never asked the provider."""
        return replace(self, trial_until=None)

    def failed(self, now: datetime, reason: str, retry_after: timedelta | None = None) -> "Breaker":
        asked = min(retry_after, LONGEST_ASKED) if retry_after is not None else timedelta(0)
        if self.rest_until is not None and now < self.rest_until:
            # Sessions that were under way fail together: that is one failure, not eight.
            return replace(self, rest_until=max(self.rest_until, now + asked))
        failures = self.failures + 1
        doubled = FIRST_REST * 2 ** min(failures - 1, 20)
        return Breaker(failures, now + max(asked, min(doubled, LONGEST_REST)), None, reason)

    def answered(self, now: datetime) -> "Breaker":
        """The provider answered; an answer to a request from before the failure changes nothing."""
        return self if self.rest_until is not None and now < self.rest_until else Breaker()
