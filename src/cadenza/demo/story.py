"""What happened in a demo: each action of the planner in one line, and the sum."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Any

from cadenza.application.ports.events import Event
from cadenza.demo.stage import Stage
from cadenza.domain.endpoint import Baseline, Endpoint, Every
from cadenza.domain.instants import humanize

TIGHTENED, ACTED, RELAXED = "tightened", "acted", "relaxed"


@dataclass(frozen=True, slots=True)
class Line:
    passed: timedelta
    kind: str
    endpoint: str
    what: str
    why: str

    def __str__(self) -> str:
        return f"{clock(self.passed)}  {self.kind:9}  {self.endpoint} {self.what}. {self.why}"


def line_of(event: Event, passed: timedelta, baselines: Mapping[str, Baseline]) -> Line:
    tool, arguments, result = event.data["tool"], event.data["arguments"], event.data["result"]
    kind, what = RELAXED, "returns to its baseline"
    if tool == "propose_interval":
        interval = timedelta(milliseconds=arguments["interval_ms"])
        baseline = baselines.get(result["endpoint"])
        is_longer = isinstance(baseline, Every) and interval > baseline.interval
        kind, what = RELAXED if is_longer else TIGHTENED, f"now runs every {humanize(interval)}"
    elif tool == "propose_next_time":
        kind, what = ACTED, "runs now"
    elif tool == "pause_until":
        kind, what = ACTED, "pauses"
    return Line(passed, kind, result["endpoint"], what, str(arguments.get("reason", "")))


def summary(stage: Stage, lines: list[Line]) -> dict[str, Any]:
    return {
        "acts": [
            {
                "after_s": round(line.passed.total_seconds(), 1),
                "kind": line.kind,
                "endpoint": line.endpoint,
                "what": line.what,
                "why": line.why,
            }
            for line in lines
        ],
        "endpoints": {endpoint.name: _endpoint(stage, endpoint) for endpoint in stage.endpoints()},
    }


def _endpoint(stage: Stage, endpoint: Endpoint) -> dict[str, Any]:
    runs = stage.runs(endpoint)
    gaps = [(b.slot_at - a.slot_at).total_seconds() for a, b in pairwise(runs)]
    return {
        "runs": len(runs),
        "hinted": sum(run.source.startswith("ai-") for run in runs),
        "failed": sum(run.status != "success" for run in runs),
        "shortest_gap_s": round(min(gaps), 1) if gaps else None,
        "longest_gap_s": round(max(gaps), 1) if gaps else None,
    }


def clock(passed: timedelta) -> str:
    minutes, seconds = divmod(int(passed.total_seconds()), 60)
    return f"{minutes}:{seconds:02}"
