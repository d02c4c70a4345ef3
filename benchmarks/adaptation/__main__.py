"""Whether adapting helps: `python -m benchmarks.adaptation [--traces DIR] [--json] [--quick]`.

Groups of endpoints that one owner watches are jobs. Half of the groups (by a hash of their names)
is what the planner was fitted on; what is reported is the other half, unless --half says otherwise:
"all" for traces that nobody here has seen. Without --traces only the generated ones run.
"""

import json
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path

from benchmarks.adaptation import windows
from benchmarks.adaptation.generated import SEEDS, poisson_jobs, ramps
from benchmarks.adaptation.race import DEFAULTS, PHASES, PLAIN, RELAX, Tell, race, race_pooled
from benchmarks.adaptation.report import Track, table
from benchmarks.adaptation.traces import Group, grouped, load_metrics, load_uptime, tuned_on

BASELINES = ((1, 10.0), (5, 30.0), (30, 300.0), (60, 300.0))  # minutes, and the floor in seconds


RAMPS_AT = (5, 30)  # what measures something is lived through run by run
RELAX_SHARE, POOLED_PHASES = 6, 1  # of the phases; both take several times as long
QUICK_GROUPS, QUICK_PHASES = 4, 1
HALVES = {"held out": (False,), "tuned on": (True,), "all": (False, True)}


def tracks(options: Namespace, workers: Executor, tell: Tell) -> Iterator[Track]:
    for name, groups in _jobs(options):
        for minutes, least in BASELINES[2:] if options.quick else BASELINES:
            if "ramps" in name and minutes not in RAMPS_AT:
                continue
            where = f"{name}, {minutes} min"
            if options.only and options.only not in where:
                continue

            def tell_where(what: str, where: str = where) -> None:
                tell(f"{where}: {what}")

            yield _track(name, groups, minutes, least, options, workers, tell_where)


def _track(
    name: str,
    groups: Sequence[Group],
    minutes: int,
    least: float,
    options: Namespace,
    workers: Executor,
    tell: Tell,
) -> Track:
    is_real, place = name.startswith("up and down"), (minutes * 60.0, least)
    phases = (options.phases or PHASES) if is_real else 1
    rows = race(groups, *place, workers, tell, phases, (DEFAULTS,))
    few = max(1, phases // RELAX_SHARE)
    rows[1:1] = race(groups, *place, workers, tell, few, (RELAX,))[:1]
    rows[2:2] = race(groups, *place, workers, tell, phases, (PLAIN,))[:1]
    if is_real and not options.quick:
        tell("pooled")
        rows.append(race_pooled(groups, *place, workers, POOLED_PHASES))
    endpoints = [trace for group in groups for trace in group]
    outages = sum(len(trace.outages) for trace in endpoints)
    return Track(name, minutes, phases, len(groups), len(endpoints), outages, rows)


def _jobs(options: Namespace) -> Iterator[tuple[str, list[Group]]]:
    if options.traces is not None:
        path = options.traces / "uptime-groups.json"
        path = path if path.exists() else options.traces / "uptime-traces.json"
        if path.exists():
            everything, halves = grouped(load_uptime(path)), HALVES[options.half]
            groups = [group for group in everything if tuned_on(group[0].group) in halves]
            groups = groups[:QUICK_GROUPS] if options.quick else groups
            if groups:
                yield f"up and down, {options.half}", groups
    seeds = SEEDS[:1] if options.quick else SEEDS
    days = 6 if options.quick else 60
    yield "failures without memory", [job for seed in seeds for job in poisson_jobs(days, seed)]
    if not options.quick:
        yield "ramps that name their limit", ramps()


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument(
        "--traces", type=Path, help="a folder with uptime-groups.json (or -traces) and metrics/"
    )
    parser.add_argument(
        "--half", choices=HALVES, default="held out", help="which groups (held out)"
    )
    parser.add_argument("--phases", type=int, help=f"of the probes ({PHASES})")
    parser.add_argument("--only", default="", help="only the tracks whose name has this in it")
    parser.add_argument("--quick", action="store_true", help="few and small traces, to try it out")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if options.quick:
        options.phases = QUICK_PHASES
    if options.traces is not None and not options.traces.is_dir():
        parser.error(f"--traces {options.traces}: there is no such folder")
    began = time.monotonic()

    def tell(what: str) -> None:
        print(f"[{time.monotonic() - began:5.0f} s] {what}", file=sys.stderr, flush=True)

    records: list[object] = []
    with ProcessPoolExecutor(os.cpu_count() or 1) as workers:
        for track in tracks(options, workers, tell):
            records.append(track.record())
            if not options.json:
                print(table(track), flush=True)
        metrics = _metrics(options, workers)
    if options.json:
        rows = [row.record() for row in metrics]
        print(json.dumps({"tracks": records, "metrics": rows}))
    elif metrics:
        print(windows.table(metrics))
    tell("done")


def _metrics(options: Namespace, workers: Executor) -> list[windows.Row]:
    folder = options.traces / "metrics" if options.traces is not None else None
    if folder is None or not folder.is_dir() or options.only not in "metrics":
        return []
    halves = HALVES[options.half]
    chosen = [trace for trace in load_metrics(folder) if tuned_on(trace.name) in halves]
    chosen = chosen[:2] if options.quick else chosen
    return windows.race(chosen, workers)


if __name__ == "__main__":
    main()
