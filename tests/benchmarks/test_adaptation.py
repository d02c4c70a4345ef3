"""The benchmark of adaptation: its formats, its fairness, and that it says the same twice."""

import json
from concurrent.futures import Executor, Future
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.adaptation import windows
from benchmarks.adaptation.generated import poisson_jobs, ramps
from benchmarks.adaptation.life import JobLife
from benchmarks.adaptation.probes import Probes, fixed, unchanged_until
from benchmarks.adaptation.race import DEFAULTS, FIXED, PLAIN, RELAX, Row, race, race_pooled
from benchmarks.adaptation.report import Track, table
from benchmarks.adaptation.score import score_states
from benchmarks.adaptation.traces import (
    DAY,
    Group,
    Trace,
    grouped,
    load_metrics,
    load_uptime,
    tuned_on,
)
from cadenza.domain.planner_policy import RELAXED, PlannerPolicy

HOUR = 3600.0
FLOOR = 300.0
RELAXING = PlannerPolicy(relax=RELAXED)


class InThisProcess(Executor):
    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def quiet(_: str) -> None:
    """Nobody watches."""


def job(*outages: tuple[tuple[float, float], ...], days: float = 12, name: str = "job") -> Group:
    return tuple(
        Trace(f"{name} {number}", days * DAY, outages=spans, group=name)
        for number, spans in enumerate(outages)
    )


TROUBLED = job(
    ((2 * DAY, 2.02 * DAY), (2.1 * DAY, 2.13 * DAY), (6 * DAY, 6.5 * DAY)),
    ((2.001 * DAY, 2.03 * DAY),),
    (),
)


def lived(group: Group, baseline: float, policy: PlannerPolicy | None, **options: Any) -> list[Any]:
    phases = [(number + 1) * 77.1 for number in range(len(group))]
    return JobLife(group, baseline, FLOOR, phases, policy, **options).live()


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    groups = [TROUBLED, *poisson_jobs(6, 7)[:1]]
    return {row.policy: row for row in race(groups, 1800.0, FLOOR, InThisProcess(), quiet, 2)}


# --- Lives ------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [PlannerPolicy(), RELAXING, None])
@pytest.mark.parametrize("baseline", [600.0, 1800.0, 3600.0])
def test_calm_that_is_skipped_is_the_calm_that_is_lived(
    policy: PlannerPolicy | None, baseline: float
) -> None:
    skipped = lived(TROUBLED, baseline, policy)
    whole = lived(TROUBLED, baseline, policy, skips=False)
    for short, long in zip(skipped, whole, strict=True):
        assert list(short.times()) == pytest.approx(list(long.times()), abs=1e-3)
        ours, theirs = (sum(each.spans_down(12 * DAY), ()) for each in (short, long))
        assert ours == pytest.approx(theirs, abs=1e-3)
        assert len(short.stretches) <= len(long.stretches)


def test_with_the_defaults_no_gap_is_longer_than_the_baseline_and_none_shorter_than_the_floor() -> (
    None
):
    for probes in lived(TROUBLED, 1800.0, PlannerPolicy()):
        gaps = [b - a for a, b in pairwise(probes.times())]
        assert max(gaps) <= 1800 + 1e-3
        assert min(gaps) >= FLOOR - 1e-3


def test_with_nothing_wrong_the_defaults_are_the_fixed_interval() -> None:
    (probes,) = lived(job(()), 1800.0, PlannerPolicy())
    assert {round(b - a, 3) for a, b in pairwise(probes.times())} == {1800}


def test_a_relaxed_job_never_has_more_runs_than_its_baseline() -> None:
    runs = sorted(at for probes in lived(TROUBLED, 1800.0, RELAXING) for at in probes.times())
    for count, at in enumerate(runs, start=1):
        assert count <= 3 * (at / 1800 + 1) + 2


def test_when_one_fails_the_others_are_looked_at() -> None:
    first, second, third = lived(TROUBLED, 3600.0, PlannerPolicy())
    seen_at = first.first_at_or_after(2 * DAY)
    assert second.first_at_or_after(seen_at) - seen_at <= FLOOR
    assert third.first_at_or_after(seen_at) - seen_at <= FLOOR


# --- Fairness ---------------------------------------------------------------------------------


def test_the_shipped_defaults_are_the_first_row_and_the_fixed_interval_has_no_skill(
    rows: dict[str, Row],
) -> None:
    assert list(rows) == [DEFAULTS, RELAX, PLAIN, FIXED]
    assert rows[FIXED].wrong_skill.value == rows[FIXED].delay_skill.value == 0
    assert rows[FIXED].probes == 1
    assert rows[RELAX].probes <= 1.01
    assert rows[DEFAULTS].probes > 1


def test_adapting_helps_and_a_backoff_alone_does_not(rows: dict[str, Row]) -> None:
    assert rows[DEFAULTS].wrong_skill.value > 0.2
    assert rows[PLAIN].wrong_skill.value < 0
    for row in rows.values():
        assert row.wrong_skill.low <= row.wrong_skill.value <= row.wrong_skill.high


def test_the_same_command_says_the_same_twice(rows: dict[str, Row]) -> None:
    groups = [TROUBLED, *poisson_jobs(6, 7)[:1]]
    again = race(groups, 1800.0, FLOOR, InThisProcess(), quiet, 2, (DEFAULTS,))
    assert again[0].record() == rows[DEFAULTS].record()


def test_all_groups_as_one_job_are_a_row_too() -> None:
    groups = [TROUBLED, *poisson_jobs(6, 7)[:1]]
    row = race_pooled(groups, 1800.0, FLOOR, InThisProcess(), 1)
    assert row.probes < 1.3


def test_a_track_is_a_table_and_a_record(rows: dict[str, Row]) -> None:
    track = Track("some", 30, 2, 2, 7, 9, list(rows.values()))
    assert all(f"| {name} |" in table(track) for name in rows)
    assert json.loads(json.dumps(track.record()))["rows"][0]["policy"] == DEFAULTS


def test_the_halves_are_split_by_group() -> None:
    tuned = sum(tuned_on(f"group {number}") for number in range(1000))
    assert 450 < tuned < 550


# --- Scores -------------------------------------------------------------------------------------


def test_the_wrong_state_is_counted_before_it_is_noticed_and_after_it_is_over() -> None:
    trace = Trace("t", 1000.0, outages=((100, 300), (500, 520), (800, 1000)))
    probes = Probes()
    for at, down in ((0, False), (150, True), (350, False), (600, False), (900, True)):
        probes.add(at, 0.0, 1, down)
    score = score_states(trace, probes)
    assert score.wrong * 1000 == pytest.approx(50 + 50 + 20 + 100)
    assert (score.happened, score.misses) == (3, 1)
    assert score.delay == 50 + 20 + 100
    assert (score.recoveries, score.recovery_delay) == (1, 50)


spans = st.lists(st.floats(1, 9999), min_size=0, max_size=8, unique=True).map(
    lambda edges: tuple(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False))
)


@given(spans, st.floats(20, 900), st.floats(0, 900))
def test_stretches_say_what_every_probe_says(
    outages: tuple[tuple[float, float], ...], interval: float, first: float
) -> None:
    trace = Trace("t", 10_000.0, outages=outages)
    probes, one_by_one, at = fixed(trace, interval, first), Probes(), first
    turn = 0
    while at < trace.end:
        one_by_one.add(at, 0.0, 1, trace.is_down(at))
        turn += 1
        at = first + turn * interval
    assert probes.count == one_by_one.count
    ours, theirs = score_states(trace, probes), score_states(trace, one_by_one)
    assert ours.wrong == pytest.approx(theirs.wrong, abs=1e-6)
    assert ours.delay == pytest.approx(theirs.delay, abs=1e-3)


def test_probes_are_counted_up_to_a_change() -> None:
    trace = Trace("t", 1000.0, outages=((500, 600),))
    assert unchanged_until(trace, 0.0, 100.0, down=False, before=1000.0) == 5
    assert unchanged_until(trace, 50.0, 200.0, down=False, before=1000.0) == 5  # none sees it
    assert unchanged_until(trace, 500.0, 30.0, down=True, before=1000.0) == 4


def test_edges_lie_within_the_gap_before_them() -> None:
    trace = Trace("t", DAY, outages=((1000, 5000), (5100, 9000)), gap=600.0)
    for seed in range(20):
        (a, b), (c, d) = trace.spread(seed).outages
        assert 400 <= a <= 1000
        assert 4400 <= b <= 5000 <= c <= 5100
        assert 8400 <= d <= 9000
    assert Trace("t", DAY, outages=((1, 2),)).spread(3).outages == ((1, 2),)


# --- Formats --------------------------------------------------------------------------------------


def uptime_of(days: float, *outages: tuple[str, str], **fields: Any) -> dict[str, Any]:
    to_at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=days)
    return {
        "id": f"{days} days, {outages}",
        "from_at": "2026-01-01T00:00:00Z",
        "to_at": to_at.isoformat(),
        "outages": outages,
        **fields,
    }


def stored(path: Path, version: int, *endpoints: dict[str, Any]) -> Path:
    record = {"format": f"cadenza-uptime-trace/{version}", "endpoints": endpoints}
    path.write_text(json.dumps(record))
    return path


def test_groups_are_read_with_their_gaps_and_begin_together(tmp_path: Path) -> None:
    early = uptime_of(9, ("2026-01-02T00:00:00Z", "2026-01-02T01:00:00Z"), group="a")
    late = {**uptime_of(9, group="a", sampling_gap_s=60), "from_at": "2026-01-03T00:00:00Z"}
    other = uptime_of(2.5, group="b", sampling_gap_s=None)
    path = stored(tmp_path / "uptime-groups.json", 2, early, late, other)
    (first, second), (third,) = grouped(load_uptime(path))
    assert first.outages == ((DAY, DAY + HOUR),)
    assert (second.begin, second.length, second.gap) == (2 * DAY, 7 * DAY, 60)
    assert (third.group, third.gap) == ("b", 0)


def test_without_groups_each_endpoint_is_its_own_job_and_odd_outages_are_raced(
    tmp_path: Path,
) -> None:
    always = ("2025-12-01T00:00:00Z", "2026-02-01T00:00:00Z")
    outside, backwards = (("2027-01-01T00:00:00Z", day) for day in ("2027-02-01", "2026-01-02"))
    twice = ("2026-01-02T00:00:00Z", "2026-01-02T03:00:00Z")
    odd = [(), (always,), (outside, backwards), (twice, twice)]
    endpoints = [uptime_of(0), uptime_of(0.01), *(uptime_of(3, *each) for each in odd)]
    groups = grouped(load_uptime(stored(tmp_path / "uptime-traces.json", 1, *endpoints)))
    down = sorted(sum(end - begin for begin, end in trace.outages) / HOUR for (trace,) in groups)
    assert down == [0, 0, 3, 72]  # those of less than a day are left out
    rows = race(groups, 3600.0, FLOOR, InThisProcess(), quiet, 1)
    assert all(row.probes > 0 for row in rows)


def test_another_format_is_refused_with_its_name(tmp_path: Path) -> None:
    path = stored(tmp_path / "uptime-traces.json", 3)
    with pytest.raises(SystemExit, match="its format is 'cadenza-uptime-trace/3', expected"):
        load_uptime(path)


# --- What is measured ---------------------------------------------------------------------------


def test_a_ramp_that_names_its_limit_is_no_reason_to_look_more_often() -> None:
    (trace,) = ramps(2, 1)[0]
    assert trace.limits
    (named,) = lived((trace,), 1800.0, PlannerPolicy())
    (unnamed,) = lived((replace(trace, limits={}),), 1800.0, PlannerPolicy())
    assert list(named.times()) == list(unnamed.times())


def test_odd_metrics_are_raced_all_the_same_and_both_controls_are_rows(tmp_path: Path) -> None:
    def at(hours: float) -> str:
        moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hours)
        return moment.replace(tzinfo=None).isoformat(sep=" ")

    hourly = [f"{at(hour)},{hour % 7}" for hour in range(60)]
    files = {
        "none.csv": [],
        "one.csv": [f"{at(0)},1"],
        "gap.csv": [*hourly, *(f"{at(200 + hour)},{hour % 5}" for hour in range(30))],
        "flat.csv": [f"{at(hour)},5" for hour in range(60)],
        "holes.csv": [*hourly, f"{at(60)},", f"{at(61)},nan", f"{at(62)},4", f"{at(63)},-"],
    }
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(["timestamp,value", *lines, ""]))
    named = {name: [[at(-9), at(-8)], [at(40), at(45)], [at(900), at(901)]] for name in files}
    record = {"format": "cadenza-metric-trace/1", "windows": {**named, "missing.csv": []}}
    (tmp_path / "windows.json").write_text(json.dumps(record))
    traces = load_metrics(tmp_path)
    assert [trace.name for trace in traces] == ["gap.csv", "flat.csv", "holes.csv"]
    rows = windows.race(traces, InThisProcess())
    by_name = {(row.detector, row.baseline_min): row for row in rows}
    always = by_name[windows.ALWAYS, 30]
    assert always.miss_share == 0
    assert always.false_share > 0.9
    assert f"{windows.MOVED} of Trend" in windows.table(rows)


def test_a_false_alarm_counts_for_as_long_as_it_lasts() -> None:
    trace = Trace("t", 1000.0, windows=((500.0, 600.0),))
    short = windows.noticed(trace, [(100.0, 110.0), (550.0, 560.0)])
    long = windows.noticed(trace, [(100.0, 460.0), (550.0, 560.0)])
    assert short.delay == long.delay == 50
    assert (short.false_share, long.false_share) == pytest.approx((10 / 900, 360 / 900))
