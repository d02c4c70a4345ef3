"""Whatever targets answer, the rules brain moves an endpoint within its owner's limits only."""

from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cadenza.adapters.brains.rules.brain import RulesBrain
from cadenza.adapters.simulated.time import run_simulated
from cadenza.application.tools import Toolbox
from cadenza.domain.analysis import AnalysisContext, Response, SiblingState
from cadenza.domain.bounds import MAX_PAUSE, MAX_TOOL_CALLS, longest_ttl
from cadenza.domain.endpoint import CronLine, Every, Job, OnDemand
from cadenza.domain.health import WINDOWS, Health, HealthWindow
from cadenza.domain.planner_policy import PlannerPolicy
from cadenza.domain.run import RunStatus
from tests.application.bench import Bench
from tests.factories import CRON, NOON, id_of, minutes

names = st.sampled_from(
    ["q", "q_max", "q_limit", "cooldown_until", "retry_after", "dependency_status",
     "data_available", "ready_for_processing", "last_success_at",
     "x_warning_threshold", "x", "", "_max"]
)  # fmt: skip
values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from(["down", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "1e999",
                     "2026-03-02T12:30:00Z", 10**400, -(10**400)]),
)  # fmt: skip
bodies = st.one_of(st.dictionaries(names, values, max_size=5), values, st.lists(values, max_size=3))
baselines = st.sampled_from(
    [Every(minutes(1)), Every(minutes(30)), CronLine("0 3 * * *"), OnDemand()]
)


def response(body: Any, number: int, ok: bool) -> Response:
    at = NOON - number * minutes(5)
    status = RunStatus.SUCCESS if ok else RunStatus.FAILURE
    return Response(at, at, status, body, timedelta(0), 200 if ok else 503)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    baselines,
    st.lists(st.tuples(bodies, st.booleans()), max_size=20),
    bodies,
    st.integers(0, 3000),
    st.integers(0, 50),
    st.sampled_from([0.0, 0.25, 10.0]),
    st.sampled_from([1.0, 1.5, 10.0]),
)
def test_no_answer_moves_an_endpoint_out_of_its_limits(
    baseline: Any,
    answered: Any,
    of_sibling: Any,
    runs: int,
    outages: int,
    extra: float,
    relax: float,
) -> None:
    async def look() -> None:
        bench = Bench()
        endpoint = await bench.add(
            baseline=baseline, min_interval=minutes(1), max_interval=minutes(60)
        )
        sibling = await bench.add("sibling", baseline=Every(minutes(5)))
        before = bench.endpoint("sibling")
        health = Health(
            tuple(HealthWindow(window, runs, runs) for window in WINDOWS),
            None,
            outages,
            outages,
            NOON - minutes(runs % 1440) if outages else None,
        )
        recent = tuple(response(body, n, ok) for n, (body, ok) in enumerate(answered))
        siblings = (SiblingState(sibling, response(of_sibling, 0, ok=True)),)
        policy = PlannerPolicy(relax=relax, extra_runs=extra)
        job = Job(id_of("job"), id_of("tenant"), "watch", planner=policy)
        context = AnalysisContext(
            NOON, endpoint, job, health, ("sibling",), recent=recent, siblings=siblings
        )
        tools = Toolbox(context, bench.store, bench.analysis_queue, bench.clock, CRON)
        await RulesBrain(CRON).analyse(context, tools)

        after = bench.endpoint()
        assert bench.endpoint("sibling") == before
        assert len(tools.calls) <= MAX_TOOL_CALLS
        assert all(call.result["ok"] for call in tools.calls)  # it never asks for the impossible
        if after.planner_pause is not None:
            assert NOON < after.planner_pause.until_at <= NOON + MAX_PAUSE
        if after.interval_hint is not None:
            assert after.interval_hint.interval >= minutes(1)
            assert after.interval_hint.expires_at <= NOON + longest_ttl(after, NOON, CRON)

    run_simulated(look())
