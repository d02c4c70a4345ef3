"""Whether adapting helps: `python -m benchmarks.adaptation [--traces DIR] [--json]`.

Every policy gets as many probes as the fixed interval, over all endpoints together. Half of the
given traces (by a hash of their names) is what the detectors were tuned on; the other half is
reported apart. Without --traces only the generated ones run.
"""

import json
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path

from benchmarks.adaptation.generated import generated
from benchmarks.adaptation.race import Tell, Traces, race_states, race_windows
from benchmarks.adaptation.report import Track, table
from benchmarks.adaptation.traces import load_metrics, load_uptime

BASELINES = (30, 60)
A_FEW = 2  # traces of each half, to try it out
RACES = {"states": race_states, "windows": race_windows}
Group = tuple[str, str, str, Traces]  # name, half, kind, traces


def groups(options: Namespace) -> Iterator[Group]:
    made = generated(3, 2, options.seed) if options.quick else generated(seed=options.seed)
    for kind, traces in made.items():
        yield f"generated: {kind}", "all", "states", traces
    yield "generated: ramp, as measured", "all", "windows", made["ramp"]
    if options.traces is None:
        return
    most = A_FEW if options.quick else None
    uptime, metrics = options.traces / "uptime-traces.json", options.traces / "metrics"
    if uptime.exists():
        yield from _halves("up and down", "states", load_uptime(uptime), most)
    if metrics.is_dir():
        yield from _halves("metrics", "windows", load_metrics(metrics), most)


def _halves(name: str, kind: str, traces: Traces, most: int | None) -> Iterator[Group]:
    for half, is_tuned in (("held out", False), ("tuned on", True)):
        chosen = [trace for trace in traces if trace.tuned_on is is_tuned][:most]
        if chosen:
            yield name, half, kind, chosen


def run(options: Namespace, workers: Executor, tell: Tell) -> list[Track]:
    tracks: list[Track] = []
    for name, half, kind, traces in groups(options):
        if options.only and options.only not in f"{name}, {half}":
            continue
        for minutes in BASELINES:
            where = f"{name}, {half}, {minutes} min"
            tell(where)
            rows = RACES[kind](
                traces, minutes * 60.0, workers, lambda what, where=where: tell(f"{where}: {what}")
            )
            tracks.append(Track(name, half, kind, minutes, len(traces), rows))
            if not options.json:
                print(table(tracks[-1]), flush=True)
    return tracks


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=Path, help="a folder with uptime-traces.json and metrics/")
    parser.add_argument("--only", default="", help="only the tracks whose name has this in it")
    parser.add_argument("--quick", action="store_true", help="few and small traces, to try it out")
    parser.add_argument("--seed", type=int, default=7, help="of the generated traces (7)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if options.traces is not None and not options.traces.is_dir():
        parser.error(f"--traces {options.traces}: there is no such folder")
    began = time.monotonic()

    def tell(what: str) -> None:
        print(f"[{time.monotonic() - began:5.0f} s] {what}", file=sys.stderr, flush=True)

    with ProcessPoolExecutor(os.cpu_count() or 1) as workers:
        tracks = run(options, workers, tell)
    if options.json:
        print(json.dumps({"tracks": [track.record() for track in tracks]}))


if __name__ == "__main__":
    main()
