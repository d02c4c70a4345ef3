"""Many lives at once, and what is told of one that went wrong."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from time import monotonic
from typing import Any

from tests.chaos.checker import Verdict, check
from tests.chaos.history import History
from tests.chaos.life import Life, drawn
from tests.chaos.simulation import live
from tests.chaos.violation import Violation

GIVES_WAY = 10  # to real programs on the same machine
CHUNK = 20  # lives that a process lives before it reports
SHOWN = 30  # lines of a trace


@dataclass(slots=True)
class Lived:
    lives: int = 0
    figures: Counter[str] = field(default_factory=Counter[str])
    faults: Counter[str] = field(default_factory=Counter[str])
    bad_seeds: list[int] = field(default_factory=list[int])

    def add(self, other: "Lived") -> None:
        self.lives += other.lives
        self.figures += other.figures
        self.faults += other.faults
        self.bad_seeds += other.bad_seeds


def live_seeds(seeds: Iterable[int]) -> Lived:
    lived = Lived()
    for seed in seeds:
        history, _ = live(drawn(seed))
        verdict = check(history)
        lived.lives += 1
        lived.faults += verdict.figures["faults"]
        lived.figures += _counts(verdict)
        if verdict.violations:
            lived.bad_seeds.append(seed)
    return lived


def _counts(verdict: Verdict) -> Counter[str]:
    counts = {k: v for k, v in verdict.figures.items() if isinstance(v, int)}
    return Counter({**counts, "violations": len(verdict.violations)})


def live_many(first_seed: int, slots: int, seconds: float, processes: int | None = None) -> Lived:
    """Until so many slots have been due, or the time is over."""
    lived, deadline = Lived(), monotonic() + seconds
    processes = processes or os.cpu_count() or 1
    context = get_context("spawn")
    with ProcessPoolExecutor(processes, context, os.nice, (GIVES_WAY,)) as pool:
        width = 2 * processes
        chunks = _chunks(first_seed)
        under_way = [pool.submit(live_seeds, next(chunks)) for _ in range(width)]
        while under_way:
            lived.add(under_way.pop(0).result())
            if lived.figures["slots_expected"] < slots and monotonic() < deadline:
                under_way.append(pool.submit(live_seeds, next(chunks)))
    return lived


def _chunks(first_seed: int) -> Iterator[range]:
    seed = first_seed
    while True:
        yield range(seed, seed + CHUNK)
        seed += CHUNK


# --- One that went wrong --------------------------------------------------------------------


def shrunk(life: Life) -> tuple[Life, tuple[Violation, ...]]:
    """The same life with as few acts as still make it go wrong."""
    violations = check(live(life)[0]).violations
    names = {violation.name for violation in violations}
    for act in life.acts if violations else ():
        less = life.without(act)
        still = check(live(less)[0]).violations
        if names & {violation.name for violation in still}:
            life, violations = less, still
    return life, violations


def trace(seed: int) -> str:
    """How to live it again, and the little that it takes; nothing where nothing goes wrong."""
    life, violations = shrunk(drawn(seed))
    if not violations:
        return ""
    history, _ = live(life)
    first = violations[0]
    lines = [f"python -m tests.chaos --life {seed}", f"{len(violations)} × {first}"]
    lines += [f"  {act.at:8.3f} s  {act.kind} of {_who(act.worker)}, {act.length:.3f} s, "
              f"{act.amount:.3f}, endpoint {act.endpoint}" for act in life.acts]  # fmt: skip
    return "\n".join([*lines, *_around(history, first)])


def _who(worker: int) -> str:
    return "everybody" if worker < 0 else f"worker {worker}"


def _around(history: History, violation: Violation) -> list[str]:
    """What the witnesses say of the endpoint about that time."""
    said: list[tuple[Any, str]] = []
    for version in history.endpoint_versions:
        if version.endpoint.id == violation.endpoint_id:
            state = version.endpoint
            text = f"epoch {version.epoch}, running {state.running_slot_at}"
            said.append((version.at, f"{text}, next {state.next_run_at}"))
    for delivery in history.deliveries_of(violation.endpoint_id):
        text = f"attempt {delivery.attempt} of {delivery.key} arrived"
        said.append((delivery.began_at, f"{text}, {delivery.ended - delivery.began:.3f} s"))
    near = sorted(said, key=lambda each: abs(each[0] - violation.at))[:SHOWN]
    return [f"  {at.isoformat()}  {text}" for at, text in sorted(near)]
