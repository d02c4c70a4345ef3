"""Traces, in the formats that they come in: when targets were down, and what they measured."""

import csv
import json
import sys
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from math import isfinite
from pathlib import Path
from random import Random
from typing import Any

from cadenza.domain.run import Body, Outcome, RunStatus

Span = tuple[float, float]  # seconds since the start of the group
DAY = 86_400.0
SHORTEST = DAY  # of a trace: with less, no detector has anything to go by
_DOWN = Outcome(RunStatus.FAILURE, "status", "HTTP 503", status_code=500)
_WELL = Outcome(RunStatus.SUCCESS, status_code=200)


@dataclass(frozen=True, slots=True)
class Trace:
    """What one target does over time: it is down in the outages, and measures something."""

    name: str
    length: float
    outages: tuple[Span, ...] = ()
    windows: tuple[Span, ...] = ()  # in which something was wrong with what it measured
    times: tuple[float, ...] = ()
    values: tuple[float, ...] = ()
    field_name: str = "value"
    limits: dict[str, float] = field(default_factory=dict[str, float])
    group: str = ""  # whose endpoints one owner watches together, as a job does
    begin: float = 0.0  # when it is first watched
    gap: float = 0.0  # how often the history itself looked: an edge lies within it

    @property
    def end(self) -> float:
        return self.begin + self.length

    def is_down(self, at: float) -> bool:
        index = bisect_right(self.outages, (at, float("inf"))) - 1
        return index >= 0 and at < self.outages[index][1]

    def next_change(self, at: float) -> float:
        """When it next goes down or comes back."""
        index = bisect_right(self.outages, (at, float("inf"))) - 1
        if index >= 0 and at < self.outages[index][1]:
            return self.outages[index][1]
        return self.outages[index + 1][0] if index + 1 < len(self.outages) else float("inf")

    def answer(self, at: float) -> Outcome:
        """What a probe sees at this moment, and all that it sees."""
        if self.is_down(at):
            return _DOWN
        if not self.times:
            return _WELL
        return Outcome(RunStatus.SUCCESS, status_code=200, body=self._body(at))

    def _body(self, at: float) -> Body:
        index = max(0, bisect_right(self.times, at) - 1)
        return {self.field_name: self.values[index], **self.limits}

    def spread(self, seed: int) -> "Trace":
        """Each edge somewhere within the gap before it: the history looked only so often."""
        if not self.gap:
            return self
        chance, spans, before = Random(f"{self.name} {seed}"), list[Span](), self.begin
        for begin, end in self.outages:
            earlier = begin - chance.random() * min(self.gap, begin - before)
            spans.append((earlier, end - chance.random() * min(self.gap, end - begin)))
            before = end
        return replace(self, outages=tuple(spans))


Group = tuple[Trace, ...]


def tuned_on(name: str) -> bool:
    """Half of the groups (or metrics), by their name: the other half is only reported."""
    return sha256(name.encode()).digest()[-1] % 2 == 0


def load_uptime(path: Path) -> list[Trace]:
    stored = json.loads(path.read_text())
    _check_format(stored, ("cadenza-uptime-trace/1", "cadenza-uptime-trace/2"), path)
    return _worth_replaying([_uptime_trace(endpoint) for endpoint in stored["endpoints"]])


def grouped(traces: Iterable[Trace]) -> list[Group]:
    """By group, in the order of their names; time begins with the first endpoint of a group."""
    by_name: dict[str, list[Trace]] = {}
    for trace in traces:
        by_name.setdefault(trace.group, []).append(trace)
    return [_from_zero(by_name[name]) for name in sorted(by_name)]


def _from_zero(traces: list[Trace]) -> Group:
    start = min(trace.begin for trace in traces)
    return tuple(moved(trace, -start) for trace in traces)


def moved(trace: Trace, by: float) -> Trace:
    outages = tuple((begin + by, end + by) for begin, end in trace.outages)
    return replace(trace, begin=trace.begin + by, outages=outages)


def _uptime_trace(stored: dict[str, Any]) -> Trace:
    begin, end = _instant(str(stored["from_at"])), _instant(str(stored["to_at"]))
    spans = sorted((_instant(a) - begin, _instant(b) - begin) for a, b in stored["outages"])
    name = str(stored["id"])
    trace = Trace(
        name,
        end - begin,
        outages=_clipped(spans, end - begin),
        group=str(stored.get("group") or name),  # one that nobody else belongs to
        gap=float(stored.get("sampling_gap_s") or 0.0),
    )
    return moved(trace, begin)


def load_metrics(folder: Path) -> list[Trace]:
    stored = json.loads((folder / "windows.json").read_text())
    _check_format(stored, ("cadenza-metric-trace/1",), folder)
    named = {folder / name: spans for name, spans in stored["windows"].items()}
    for path in named:
        if not path.exists():
            print(f"{path}: there is no such file; it is left out", file=sys.stderr)
    return _worth_replaying([_metric_trace(*item) for item in named.items() if item[0].exists()])


def _worth_replaying(traces: list[Trace]) -> list[Trace]:
    for trace in traces:
        if trace.length < SHORTEST:
            print(f"{trace.name}: shorter than a day; it is left out", file=sys.stderr)
    return [trace for trace in traces if trace.length >= SHORTEST]


def _metric_trace(path: Path, windows: list[list[str]]) -> Trace:
    with path.open(newline="") as file:
        pairs = ((row["timestamp"], _number(row["value"])) for row in csv.DictReader(file))
        rows = sorted((_instant(at), value) for at, value in pairs if value is not None)
    if not rows:
        return Trace(path.name, 0.0)
    begin, length = rows[0][0], rows[-1][0] - rows[0][0]
    spans = sorted((_instant(a) - begin, _instant(b) - begin) for a, b in windows)
    return Trace(
        path.name,
        length,
        windows=_clipped(spans, length),
        times=tuple(at - begin for at, _ in rows),
        values=tuple(value for _, value in rows),
        group=path.name,
    )


def _clipped(spans: Iterable[Span], length: float) -> tuple[Span, ...]:
    """Inside the trace, in order, and apart: what overlaps is one."""
    merged: list[Span] = []
    for begin, end in ((max(0.0, a), min(b, length)) for a, b in spans):
        if end <= begin:
            continue
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return tuple(merged)


def _check_format(stored: dict[str, object], expected: tuple[str, ...], path: Path) -> None:
    present = stored.get("format")
    if present not in expected:
        wanted = " or ".join(map(repr, expected))
        raise SystemExit(f"{path}: its format is {present!r}, expected {wanted}")


def _number(text: str | None) -> float | None:
    """What a row measured; a row without a number (an empty cell, nan) measured nothing."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if isfinite(value) else None


def _instant(text: str) -> float:
    instant = datetime.fromisoformat(text)
    return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()
