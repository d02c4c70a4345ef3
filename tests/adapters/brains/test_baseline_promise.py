"""The baseline is a promise: with nothing wrong, every gap is what the owner wrote."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cadenza.adapters.brains.rules.brain import RulesBrain
from cadenza.adapters.simulated.time import run_simulated
from cadenza.domain.endpoint import CronLine, Every, OnDemand
from cadenza.domain.plan import Source
from cadenza.domain.run import Claim, Outcome, RunStatus
from tests.application.bench import Bench
from tests.factories import CRON, minutes, seconds

LENGTH = minutes(240)
baselines = st.one_of(
    st.integers(20, 3600).map(lambda each: Every(seconds(each))),
    st.sampled_from(["* * * * *", "*/7 * * * *", "3,10 * * * *"]).map(CronLine),
    st.just(OnDemand()),
)
# Whatever is measured; a signal that something is ready would be a request.
names = st.sampled_from(
    ["load", "queue_depth", "queue_max", "retry_after", "cooldown_until", "last_success_at"]
)
values = st.one_of(
    st.integers(-1000, 10**6), st.floats(), st.text(max_size=5), st.none(),
    st.sampled_from(["2026-03-02T20:00:00Z", "2026-03-02T11:00:00Z"]),
)  # fmt: skip
bodies = st.lists(st.dictionaries(names, values, max_size=4), min_size=1, max_size=30)
methods = st.sampled_from(["GET", "HEAD", "POST"])
members = st.lists(st.tuples(baselines, bodies, methods, st.integers(0, 5)), min_size=1, max_size=3)


calmer = baselines.filter(lambda each: not isinstance(each, Every) or each.interval >= minutes(2))
# Whether it is well or down, and for how many runs.
stretches = st.lists(st.tuples(st.booleans(), st.integers(1, 30)), min_size=1, max_size=12)
troubled = st.lists(
    st.tuples(calmer, stretches.map(lambda all_of_it: [well for well, runs in all_of_it
                                                          for _ in range(runs)]),
              methods, st.integers(0, 5)), min_size=1, max_size=2,
)  # fmt: skip


async def lived(
    job: list[Any], outcome_of: Callable[[Any], Outcome], length: timedelta = LENGTH
) -> Bench:
    """A job under the rules brain alone; each member has a baseline, what comes of its runs, one
    after the other and from the beginning again, a method, and how long a run takes."""
    bench = Bench()
    for number, (baseline, _, method, _) in enumerate(job):
        await bench.add(str(number), baseline=baseline, method=method)
    planner = bench.planner(RulesBrain(CRON))

    async def reply(claim: Claim) -> Outcome:
        _, story, _, takes = job[int(claim.endpoint_name)]
        await bench.sleep(takes)
        return outcome_of(story[len(bench.runs(claim.endpoint_name)) % len(story)])

    looking = asyncio.create_task(planner.run())
    async with bench.worker(reply):
        await bench.sleep(length.total_seconds())
    planner.stop()
    await looking
    return bench


def answers(body: Any) -> Outcome:
    return Outcome(RunStatus.SUCCESS, body=body, status_code=200)


def ends(well: bool) -> Outcome:
    return answers({}) if well else Outcome(RunStatus.FAILURE, status_code=500)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(members)
def test_with_nothing_wrong_every_gap_is_the_baselines(job: list[Any]) -> None:
    bench = run_simulated(lived(job, answers))
    for number, (baseline, *_) in enumerate(job):
        runs = bench.runs(str(number))
        assert {run.source for run in runs} <= {Source.BASELINE_INTERVAL, Source.BASELINE_CRON}
        gaps = [b.slot_at - a.slot_at for a, b in pairwise(runs)]
        assert gaps == [expected(baseline, run.slot_at) for run in runs[:-1]]
        assert bench.endpoint(str(number)).interval_hint is None
        assert bench.endpoint(str(number)).planner_pause is None
    assert bench.sessions == []


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(troubled)
def test_whatever_fails_nothing_runs_later_than_its_owner_wrote(job: list[Any]) -> None:
    """What reads never later than its baseline, what does something never later than its backoff;
    a cron stays on its grid."""
    bench = run_simulated(lived(job, ends, minutes(120)))
    for number, (baseline, _, method, takes) in enumerate(job):
        failures = 0
        for run, later in pairwise(bench.runs(str(number))):
            failures = 0 if run.status is RunStatus.SUCCESS else failures + 1
            longest = expected(baseline, run.slot_at)
            if isinstance(baseline, Every):
                reads = method != "POST"
                jitter = seconds(takes + 1) if reads else seconds(4)
                longest = longest * (1 if reads else 2 ** min(failures, 5)) + jitter
            assert later.slot_at - run.slot_at <= longest


def expected(baseline: Any, at: Any) -> timedelta:
    if isinstance(baseline, Every):
        return baseline.interval
    return CRON.next_after(baseline.expression, baseline.timezone, at) - at
