"""Every benchmark, one after the other, and the table of the performance page: `make bench`."""

import json

import uvloop

from benchmarks import graphs, growth, lateness, observability, planner, reads, throughput, wake
from benchmarks.stage import arguments

ROWS = (
    ("runs a second, one worker", "throughput", "runs_per_s"),
    ("the bare loop, same run", "throughput", "bare_runs_per_s"),
    ("share of the bare loop", "throughput", "ratio"),
    ("runs a second, two workers", "throughput", "two_workers_runs_per_s"),
    ("share of it that the guard costs", "throughput", "guard_cost"),
    ("duplicates", "throughput", "duplicates"),
    ("lost", "throughput", "lost"),
    ("start after slot at 500 runs/s, p50 ms", "lateness", "p50_ms"),
    ("start after slot at 500 runs/s, p99 ms", "lateness", "p99_ms"),
    ("start after slot at 500 runs/s, max ms", "lateness", "max_ms"),
    ("runs before their slot", "lateness", "early"),
    ("nudge to start, p50 ms", "wake", "wake_p50_ms"),
    ("claim p50 ms by endpoints", "growth", "claim_p50_ms"),
    ("worker memory MB by endpoints", "growth", "worker_memory_mb"),
    ("endpoints a second that a planner looks at", "planner", "looks_per_s"),
    ("the same where it acts on each", "planner", "acting_looks_per_s"),
    ("share by which it slows a busy scheduler", "planner", "slowed_by"),
    ("runs listed among 5 million, slowest way, p50 ms", "reads", "worst_p50_ms"),
    ("mixed reads a second beside a worker", "reads", "reads_per_s"),
    ("errors among them", "reads", "errors"),
    ("seconds until 1,000 graphs due at once have started", "graphs", "all_started_s"),
    ("the same number of bare forks, seconds", "graphs", "bare_forks_s"),
    ("graphs started twice", "graphs", "doubled"),
    ("slot to first event of a graph, p50 ms", "graphs", "p50_ms"),
    ("slot to first event of a graph, p99 ms", "graphs", "p99_ms"),
    ("tokens in the ledger", "graphs", "ledger_tokens"),
    ("tokens that the provider counted", "graphs", "server_tokens"),
    ("share of runs a second that metrics cost", "observability", "metrics_cost"),
    ("the same in processor time", "observability", "metrics_cpu_cost"),
    ("share of runs a second that traces of 1 % cost", "observability", "tracing_cost"),
    ("the same in processor time", "observability", "tracing_cpu_cost"),
)


def main() -> None:
    options = arguments(__doc__ or "")
    modules = {
        "throughput": throughput,
        "lateness": lateness,
        "wake": wake,
        "growth": growth,
        "reads": reads,
        "planner": planner,
        "graphs": graphs,
        "observability": observability,
    }
    results = {
        name: uvloop.run(module.main(quick=options.quick)) for name, module in modules.items()
    }
    if options.json:
        print(json.dumps(results))
        return
    print("| what | measured |\n|---|---|")
    for label, name, key in ROWS:
        value = results[name][key]
        text = (
            ", ".join(f"{k}: {v}" for k, v in value.items()) if isinstance(value, dict) else value
        )
        print(f"| {label} | {text} |")
    noisy = [name for name, result in results.items() if result["noisy"]]
    if noisy:
        print(
            f"\nOther processes took more than a tenth of the machine during: {', '.join(noisy)}."
        )


if __name__ == "__main__":
    main()
