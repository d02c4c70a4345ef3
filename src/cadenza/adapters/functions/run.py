"""What a function may know about the run that it is."""

import threading
from collections.abc import Callable
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
    traceparent: str | None = None  # W3C Trace Context, where this run is traced
    cancel: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)

    @property
    def is_cancelled(self) -> bool:
        """Its time is over, its lease is lost, or the program stops: its result is not used any
        more. An async function is also cancelled."""
        return self.cancel.is_set()


class PresentRun:
    """Made on first use: most functions never ask, and there are thousands of runs a second."""

    __slots__ = ("_is_over", "_make", "_run")
    _making = threading.Lock()

    def __init__(self, make: Callable[[], Run]) -> None:
        self._make = make
        self._run: Run | None = None
        self._is_over = False

    def get(self) -> Run:
        with PresentRun._making:
            if self._run is None:
                self._run = self._make()
                if self._is_over:
                    self._run.cancel.set()
            return self._run

    def end(self) -> None:
        with PresentRun._making:
            self._is_over = True
            if self._run is not None:
                self._run.cancel.set()


present_run: ContextVar[PresentRun] = ContextVar("cadenza_run")


def current_run() -> Run:
    """The run that calls this, on the loop, in a thread or in a child."""
    try:
        return present_run.get().get()
    except LookupError:
        raise Refused(
            "there is no current run: call this in a function that Cadenza runs"
        ) from None
