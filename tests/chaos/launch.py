"""`cadenza`, as the harness starts it: with a mutant of its own code, or a clock that runs fast.

The product knows nothing of this; what is patched is patched here, before it starts.
"""

import os
import sys
import time

from cadenza.adapters.postgres import clock
from cadenza.roots.main import main
from tests.chaos.mutants import MUTANTS, Patch

MUTANT, DRIFT = "CHAOS_MUTANT", "CHAOS_DRIFT"


def _drifting(ppm: float) -> None:
    began = time.monotonic()
    clock.monotonic = lambda: began + (time.monotonic() - began) * (1 + ppm / 1e6)


if __name__ == "__main__":
    settings = os.environ  # noqa: TID251
    if DRIFT in settings:
        _drifting(float(settings[DRIFT]))
    if MUTANT in settings:
        MUTANTS[settings[MUTANT]].install(Patch())
    sys.argv[0] = "cadenza"
    main()
