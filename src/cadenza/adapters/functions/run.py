"""What a function may know about the run that it is."""

import threading
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime

from cadenza.domain.errors import Refused


@dataclass(frozen=True, slots=True)
class Run:
    """One slot of a function. Where a process was lost, the same slot comes again under the same
    key, with the next attempt."""

    id: str
    slot_at: datetime
    attempt: int
    idempotency_key: str
    deadline_at: datetime
    source: str  # why it runs now: baseline-interval, ai-interval, manual …
    cancel: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)

    @property
    def is_cancelled(self) -> bool:
        """Its time is over, its lease is lost, or the program stops: what it returns is of no use
        any more. An async function is cancelled besides."""
        return self.cancel.is_set()


present_run: ContextVar[Run] = ContextVar("cadenza_run")


def current_run() -> Run:
    """The run that calls this, on the loop, in a thread or in a child."""
    try:
        return present_run.get()
    except LookupError:
        raise Refused("there is no run here: only a function that Cadenza runs has one") from None
