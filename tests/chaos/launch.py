"""`cadenza`, as the harness starts it: with a mutant of its own code, or clocks that are wrong.

The product knows nothing of this; what is patched is patched here, before it starts.
"""

import datetime
import os
import signal
import sys
import time
from typing import Any

MUTANT, DRIFT = "CHAOS_MUTANT", "CHAOS_DRIFT"
SETS_CLOCK = (signal.SIGUSR1, signal.SIGUSR2)  # the machine's, forward and back
HOURS = 2
REAL_NOW = datetime.datetime.now  # noqa: TID251


class Shifted(datetime.datetime):
    by = 0.0  # seconds

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Any:
        return REAL_NOW(tz) + datetime.timedelta(seconds=cls.by)


def _settable() -> None:
    """Whatever asks the machine for the time is told that of a clock that can be set."""
    real, real_ns = time.time, time.time_ns  # noqa: TID251
    time.time = lambda: real() + Shifted.by  # noqa: TID251
    time.time_ns = lambda: real_ns() + int(Shifted.by * 1e9)
    for number, by in zip(SETS_CLOCK, (HOURS * 3600, -HOURS * 3600), strict=True):
        signal.signal(number, lambda *_, by=by: setattr(Shifted, "by", Shifted.by + by))


def _drifting(ppm: float) -> None:
    from cadenza.adapters.postgres import clock

    began = time.monotonic()
    clock.monotonic = lambda: began + (time.monotonic() - began) * (1 + ppm / 1e6)


def _mutated(name: str) -> None:
    from tests.chaos.mutants import MUTANTS, Patch

    MUTANTS[name].install(Patch())


def launch() -> None:
    settings = os.environ  # noqa: TID251
    _settable()  # before anybody has taken the functions that it replaces
    from cadenza.adapters.system import clock
    from cadenza.roots.main import main

    clock.datetime = Shifted
    if DRIFT in settings:
        _drifting(float(settings[DRIFT]))
    if MUTANT in settings:
        _mutated(settings[MUTANT])
    sys.argv[0] = "cadenza"
    main()


if __name__ == "__main__":
    launch()
