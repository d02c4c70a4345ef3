"""docs/reference/metrics.md, from the code: `python -m tests.observability.metrics_page`."""

from pathlib import Path

from cadenza.adapters.telemetry.catalogue import METRICS, Metric, Part

PAGE = Path(__file__).parent.parent.parent / "docs/reference/metrics.md"
HEAD = """# Metrics

Every program shows its metrics in the format of Prometheus; [how to monitor](../how-to/monitor.md)
says where and for whom. This page is made from the code.

No label is an endpoint, a job, a URL or anything else that a tenant can make more of. Histograms
have the series `_bucket`, `_sum` and `_count`. Beside these there are the usual `process_*` and
`python_*` of the process itself.
"""
VALUES = {
    "source": "baseline-cron, baseline-interval, ai-interval, ai-oneshot, clamped-min, "
    "clamped-max, paused, retry-after, resumed, manual; schedule for slots of graphs",
    "outcome": "success, failure, timeout, cancelled; of graphs success, error, skipped, waiting, "
    "cancelled; of deliveries delivered, retried, failed",
    "severity": "info, warning, error, critical",
    "operation": "claim, sweep, renew, finish, give-back",
    "kind": "scheduler, planner, graph-worker, notifier, program; of deliveries notification, "
    "event, test",
    "state": "alive, gone; of connections used, idle",
    "unit": "tokens, dollars",
    "tenant": "names in CADENZA_METRICS_TENANTS",
    "brain": "rules, llm",
    "end": "submitted, unfinished, out-of-calls, failed, skipped",
    "result": "done, suggested, refused",
    "reason": "over-quota, unpaid",
    "use": "planning, graphs",
    "direction": "input, output",
    "method": "GET, POST, …, other",
    "status": "2xx, 3xx, 4xx, 5xx",
    "program": "api, scheduler, planner, graph-worker, notifier, up, program",
    "version": "of Cadenza",
    "python": "of Python",
}


def written() -> str:
    parts = [HEAD]
    for part in Part:
        metrics = [metric for metric in METRICS if metric.part is part]
        rows = "\n".join(map(_row, metrics))
        title = part[0].upper() + part[1:]
        parts.append(
            f"## {title}\n\n| metric | kind | labels | what it says |\n|---|---|---|---|\n{rows}\n"
        )
    used = {label for metric in METRICS for label in metric.labels}
    rows = "\n".join(f"| `{name}` | {values} |" for name, values in VALUES.items() if name in used)
    assert used == set(VALUES)
    parts.append(f"## Labels\n\n| label | values |\n|---|---|\n{rows}\n")
    return "\n".join(parts)


def _row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"| `{metric.name}` | {metric.kind} | {labels} | {metric.about} |"


if __name__ == "__main__":
    PAGE.write_text(written())
