"""The benchmark of adaptation: its formats, its fairness, and that it says the same twice."""

import json
from bisect import bisect_left
from concurrent.futures import Executor, Future
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.adaptation.calibrate import calibrate
from benchmarks.adaptation.generated import generated
from benchmarks.adaptation.life import (
    EPOCH,
    Life,
    Lived,
    RunningHealth,
    names_a_change,
    rules_brain,
)
from benchmarks.adaptation.policies import FLOOR, POLICIES, follow, mixed
from benchmarks.adaptation.race import OWN_BUDGET, RANDOM, RULES, Row, race_states, race_windows
from benchmarks.adaptation.report import Track, table
from benchmarks.adaptation.score import score_states, score_windows
from benchmarks.adaptation.traces import DAY, Trace, load_metrics, load_uptime
from cadenza.domain.health import health_of
from cadenza.domain.plan import Source
from cadenza.domain.run import Run, RunStatus
from cadenza.domain.spending import Budget
from tests.factories import id_of, seconds

HOUR = 3600.0
SMALL = Trace("small", 4 * DAY, outages=((30 * HOUR, 31 * HOUR), (33 * HOUR, 33.5 * HOUR)))


class InThisProcess(Executor):
    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def few(kind: str) -> list[Trace]:
    return generated(days=6, each=3)[kind]


def quiet(_: str) -> None:
    """Nobody watches."""


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    track = race_states(few("season"), 1800.0, InThisProcess(), quiet)
    return {row.policy: row for row in track}


# --- Fairness -----------------------------------------------------------------------------------


def test_every_policy_gets_as_many_probes_as_the_fixed_interval(rows: dict[str, Row]) -> None:
    named = {*POLICIES, RULES, RANDOM}
    assert named <= set(rows)
    for name in named:
        assert rows[name].ratio == pytest.approx(1.0, abs=0.01), name


def test_an_oracle_is_better_than_everybody_and_fixed_has_no_skill(rows: dict[str, Row]) -> None:
    wrong = {name: row.figures["wrong_share"] for name, row in rows.items()}
    assert min(wrong, key=lambda name: wrong[name].value) == "oracle"
    assert wrong["fixed"].skill == 0
    assert wrong["oracle"].skill > 0.8


def test_the_same_seed_says_the_same_twice(rows: dict[str, Row]) -> None:
    again = race_states(few("season"), 1800.0, InThisProcess(), quiet)
    assert [row.record() for row in again] == [row.record() for row in rows.values()]


def test_an_interval_holds_its_figure(rows: dict[str, Row]) -> None:
    for row in rows.values():
        figure = row.figures["wrong_share"]
        assert figure.low <= figure.value <= figure.high


def test_the_random_policy_has_the_same_waits_in_another_order() -> None:
    lived = follow(POLICIES["burst and decay"], SMALL, 1800.0, 100.0)
    probes = mixed(lived.probes, "seed")

    def waits(each: list[float]) -> list[int]:
        return sorted(round(b - a) for a, b in pairwise(each))

    assert probes != lived.probes
    assert waits(probes) == waits(lived.probes)


@given(st.floats(0.3, 3.0), st.floats(0.2, 1.0))
def test_a_parameter_is_found_wherever_it_is(wanted: float, steepness: float) -> None:
    def attempt(parameter: float) -> tuple[int, None]:
        return round(100_000 * (wanted / parameter) ** steepness), None

    assert calibrate(attempt, 100_000, start=1.0).ratio == pytest.approx(1.0, abs=0.01)


# --- The rules brain in a replay ----------------------------------------------------------------


@pytest.mark.parametrize("kind", ["poisson", "ramp", "season", "permanent"])
def test_with_the_default_budget_no_day_has_more_runs_than_the_baseline(kind: str) -> None:
    for trace in few(kind):
        probes = Life(trace, 1800.0, FLOOR, 0.0).live(rules_brain(Budget())).probes
        for index, at in enumerate(probes):
            assert index - bisect_left(probes, at - DAY + 1) + 1 <= 48


@pytest.mark.parametrize("kind", ["season", "ramp"])
def test_nothing_that_the_brain_does_leaves_min_and_max(kind: str) -> None:
    for trace in few(kind):
        probes = Life(trace, 1800.0, FLOOR, 0.0).live(rules_brain(Budget(factor=inf))).probes
        waits = [b - a for a, b in pairwise(probes)]
        assert min(waits) >= FLOOR - 1e-6
        assert max(waits) <= 32 * 1800


@pytest.mark.parametrize("budget", [Budget(), Budget(factor=inf, relax=1.07)])
@pytest.mark.parametrize("baseline", [1800.0, 3600.0])
def test_calm_that_is_skipped_is_the_calm_that_is_lived(budget: Budget, baseline: float) -> None:
    trace = Trace("calm", 40 * DAY, outages=((9.1 * DAY, 9.2 * DAY), (30 * DAY, 30.5 * DAY)))
    short, whole = (Life(trace, baseline, FLOOR, 77.1) for _ in range(2))
    lived = short.live(rules_brain(budget))
    every_run = whole.live(rules_brain(budget), skips=False)
    assert lived.probes == pytest.approx(every_run.probes, abs=1e-3)
    assert lived.downs == every_run.downs
    assert short.skipped > 20 * DAY
    assert whole.skipped == 0


@given(st.lists(st.tuples(st.integers(1, 20_000), st.booleans()), min_size=1, max_size=40))
def test_the_running_health_is_the_health(steps: list[tuple[int, bool]]) -> None:
    running, runs, at = RunningHealth(), list[Run](), EPOCH
    for number, (wait, is_well) in enumerate(steps):
        at += seconds(wait)
        running.add(at, is_well)
        status = RunStatus.SUCCESS if is_well else RunStatus.FAILURE
        ids = (id_of(str(number)), id_of("probe"), id_of("tenant"))
        runs.append(Run(*ids, at, Source.MANUAL, status, 1, 1, at, at, at))
        assert running.health(3) == health_of(runs, 3, at)


def test_only_what_names_a_change_counts_as_noticed() -> None:
    assert names_a_change("Single anomaly: a is 1. Level shift: b rose from about 1 to 9")
    assert names_a_change("Trend: a rises from 1 to 9")
    assert not names_a_change("Possible level shift: b rose from about 1 to 9, to be confirmed")
    assert not names_a_change("")


# --- Scores ---------------------------------------------------------------------------------------


def test_the_wrong_state_is_counted_before_it_is_noticed_and_after_it_is_over() -> None:
    trace = Trace("t", 1000.0, outages=((100, 300), (500, 520), (800, 1000)))
    lived = Lived([0, 150, 350, 600, 900], [False, True, False, False, True])
    score = score_states(trace, lived)
    assert score.wrong * 1000 == pytest.approx(50 + 50 + 20 + 100)
    assert (score.happened, score.misses) == (3, 1)
    assert score.delay == 50 + 20 + 100
    assert (score.recoveries, score.recovery_delay) == (1, 50)


def test_a_change_is_noticed_inside_its_window_and_an_alarm_outside_is_false() -> None:
    trace = Trace("t", 10 * DAY, windows=((DAY, 2 * DAY), (5 * DAY, 6 * DAY)))
    lived = Lived([], [], [0.1 * DAY, 0.2 * DAY, 1.5 * DAY, 4 * DAY])
    score = score_windows(trace, lived)
    assert (score.happened, score.misses, score.false_alarms) == (2, 1, 2)
    assert score.delay == 0.5 * DAY + DAY


# --- Formats --------------------------------------------------------------------------------------


def test_traces_are_read_in_both_formats(tmp_path: Path) -> None:
    stored = {
        "format": "cadenza-uptime-trace/1",
        "endpoints": [
            {
                "id": "shop",
                "from_at": "2026-01-01T00:00:00Z",
                "to_at": "2026-01-02T00:00:00Z",
                "outages": [
                    ["2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z"],
                    ["2026-01-01T01:30:00Z", "2026-01-01T03:00:00Z"],
                    ["2026-01-01T23:00:00Z", "2026-01-09T00:00:00Z"],
                ],
            }
        ],
    }
    (tmp_path / "uptime-traces.json").write_text(json.dumps(stored))
    (shop,) = load_uptime(tmp_path / "uptime-traces.json")
    assert shop.outages == ((HOUR, 3 * HOUR), (23 * HOUR, 24 * HOUR))
    assert [shop.is_down(at * HOUR) for at in (0, 1, 2.5, 3, 23.5)] == [
        False,
        True,
        True,
        False,
        True,
    ]

    rows = "timestamp,value\n2026-01-01 00:00:00,1.5\n2026-01-01 00:05:00,2.5\n2026-01-03,3\n"
    (tmp_path / "a.csv").write_text(rows)
    windows = {"a.csv": [["2026-01-01 00:01:00.000000", "2026-01-01 00:02:00.000000"]]}
    (tmp_path / "windows.json").write_text(
        json.dumps({"format": "cadenza-metric-trace/1", "windows": windows})
    )
    (metric,) = load_metrics(tmp_path)
    assert metric.windows == ((60.0, 120.0),)
    assert metric.answer(299.0).body == {"value": 1.5}
    assert metric.answer(300.0).body == {"value": 2.5}


def uptime_of(days: float, *outages: tuple[str, str]) -> dict[str, Any]:
    to_at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=days)
    return {
        "id": f"{days} days, {outages}",
        "from_at": "2026-01-01T00:00:00Z",
        "to_at": to_at.isoformat(),
        "outages": outages,
    }


def test_odd_outages_are_raced_all_the_same(tmp_path: Path) -> None:
    always = ("2025-12-01T00:00:00Z", "2026-02-01T00:00:00Z")
    outside, backwards = (("2027-01-01T00:00:00Z", day) for day in ("2027-02-01", "2026-01-02"))
    twice = ("2026-01-02T00:00:00Z", "2026-01-02T03:00:00Z")
    endpoints = [
        uptime_of(0),
        uptime_of(0.01),
        uptime_of(3),
        uptime_of(3, always),
        uptime_of(3, outside, backwards),
        uptime_of(3, twice, twice),
    ]
    stored = {"format": "cadenza-uptime-trace/1", "endpoints": endpoints}
    (tmp_path / "uptime-traces.json").write_text(json.dumps(stored))
    traces = load_uptime(tmp_path / "uptime-traces.json")
    down = [sum(end - begin for begin, end in trace.outages) / HOUR for trace in traces]
    assert down == [0, 72, 0, 3]  # those of less than a day are left out
    for chosen in (traces, traces[:1], traces[1:2]):
        rows = race_states(chosen, 3600.0, InThisProcess(), quiet)
        assert {*POLICIES, RULES, RANDOM} <= {row.policy for row in rows}
        assert all(row.probes > 0 for row in rows)


def test_odd_metrics_are_raced_all_the_same(tmp_path: Path) -> None:
    def at(hours: float) -> str:
        moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hours)
        return moment.replace(tzinfo=None).isoformat(sep=" ")

    hourly = [f"{at(hour)},{hour % 7}" for hour in range(60)]
    files = {
        "none.csv": [],
        "one.csv": [f"{at(0)},1"],
        "gap.csv": [*hourly, *(f"{at(200 + hour)},{hour % 5}" for hour in range(30))],
        "twice.csv": [value for value in hourly for _ in range(2)],
        "flat.csv": [f"{at(hour)},5" for hour in range(60)],
        "holes.csv": [*hourly, f"{at(60)},", f"{at(61)},nan", f"{at(62)},4", f"{at(63)},-"],
    }
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(["timestamp,value", *lines, ""]))
    windows = {name: [[at(-9), at(-8)], [at(40), at(45)], [at(900), at(901)]] for name in files}
    stored = {"format": "cadenza-metric-trace/1", "windows": {**windows, "missing.csv": []}}
    (tmp_path / "windows.json").write_text(json.dumps(stored))
    traces = load_metrics(tmp_path)
    assert [trace.name for trace in traces] == ["gap.csv", "twice.csv", "flat.csv", "holes.csv"]
    assert all(trace.windows == ((40 * HOUR, 45 * HOUR),) for trace in traces)
    assert traces[-1].length == 62 * HOUR
    rows = race_windows(traces, 3600.0, InThisProcess(), quiet)
    assert {*POLICIES, RULES, RANDOM} <= {row.policy for row in rows}


def test_another_format_is_refused_with_both_names(tmp_path: Path) -> None:
    path = tmp_path / "uptime-traces.json"
    path.write_text('{"format": "other/2", "endpoints": []}')
    with pytest.raises(SystemExit, match=r"'other/2', expected 'cadenza-uptime-trace/1'"):
        load_uptime(path)


def test_a_track_is_a_table_and_a_record(rows: dict[str, Row]) -> None:
    track = Track("season", "all", "states", 30, 3, list(rows.values()))
    text = table(track)
    assert all(f"| {name} |" in text for name in rows)
    assert json.loads(json.dumps(track.record()))["rows"][0]["policy"] == "fixed"


def test_no_more_than_half_of_many_traces_is_tuned_on() -> None:
    tuned = sum(Trace(f"endpoint {number}", DAY).tuned_on for number in range(1000))
    assert 450 < tuned < 550


def test_metrics_are_raced_with_the_same_eyes() -> None:
    track = race_windows(few("ramp")[:2], 1800.0, InThisProcess(), quiet)
    by_name = {row.policy: row for row in track}
    assert by_name[RULES].ratio == pytest.approx(1.0, abs=0.01)
    assert by_name["fixed"].figures["miss_share"].value < 1
    assert list(by_name) == [*POLICIES, RANDOM, RULES, OWN_BUDGET]
    assert "no better detectors" in table(Track("ramp", "all", "windows", 30, 2, track))
