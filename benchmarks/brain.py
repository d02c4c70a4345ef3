"""How many analyses a second the rules brain does in memory: `python -m benchmarks.brain`."""

import json
from argparse import ArgumentParser
from collections.abc import Callable
from datetime import timedelta
from math import sin
from time import perf_counter
from typing import Any

from benchmarks.adaptation.life import CRON, EPOCH, SPACE, JumpingClock, add_to, step
from benchmarks.machine import foreign_share, load_now
from cadenza.adapters.brains.rules.brain import RulesBrain
from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import Tables
from cadenza.application.tools import Toolbox
from cadenza.domain.analysis import RECENT_RESPONSES, AnalysisContext, Response
from cadenza.domain.endpoint import Endpoint, Every, Job
from cadenza.domain.health import WINDOWS, Health, HealthWindow
from cadenza.domain.run import Body, RunStatus

PACE = timedelta(minutes=30)
KINDS: dict[str, Callable[[int], Body]] = {
    "no body": lambda _: None,
    "one number": lambda n: {"queue_depth": 100 + n % 3, "queue_max": 500, "healthy": True},
    "eight numbers": lambda n: {f"metric_{number}": 100 + sin(n * number) for number in range(8)},
}


def analyses_per_s(body: Callable[[int], Body], looks: int) -> float:
    """Each with its own session and tools; the endpoint is calm, as most are most of the time."""
    clock = JumpingClock(EPOCH)
    tables = Tables(clock, lambda: SPACE)
    memory, brain = MemoryStores(tables), RulesBrain(CRON)
    new = Endpoint(SPACE, SPACE, SPACE, "probe", Every(PACE), EPOCH - timedelta(days=9))
    step(add_to(memory.store, Job(SPACE, SPACE, "bench"), [new]))
    context = _context(tables.endpoints[SPACE].endpoint, body)
    stores = (memory.store, memory.analysis_queue)
    step(brain.analyse(context, Toolbox(context, *stores, clock, CRON)))
    context = _context(tables.endpoints[SPACE].endpoint, body)
    began = perf_counter()
    for _ in range(looks):
        step(brain.analyse(context, Toolbox(context, *stores, clock, CRON)))
    return looks / (perf_counter() - began)


def _context(endpoint: Endpoint, body: Callable[[int], Body]) -> AnalysisContext:
    recent = tuple(
        Response(EPOCH - n * PACE, EPOCH - n * PACE, RunStatus.SUCCESS, body(n), timedelta(0), 200)
        for n in range(RECENT_RESPONSES)
    )
    health = Health(
        tuple(HealthWindow(window, window // PACE, window // PACE) for window in WINDOWS), None, 0
    )
    return AnalysisContext(EPOCH, endpoint, Job(SPACE, SPACE, "bench"), health, (), recent=recent)


def main(*, quick: bool) -> dict[str, Any]:
    began = load_now()
    looks = 500 if quick else 20_000
    result: dict[str, Any] = {
        name.replace(" ", "_"): round(analyses_per_s(body, looks)) for name, body in KINDS.items()
    }
    share = foreign_share(began, load_now())
    return {**result, "looks": looks, "foreign_cpu": round(share, 3)}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    options = parser.parse_args()
    measured = main(quick=options.quick)
    if options.json:
        print(json.dumps({"analyses_per_s": measured}))
    else:
        for name, value in measured.items():
            print(f"{name:16} {value}")
