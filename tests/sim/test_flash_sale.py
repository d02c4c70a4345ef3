"""The flash sale, judged once more from its runs alone, with the figures of the story written out.

Nothing here trusts the checks of the scenario: the metrics, the conditions, the cooldowns and what
must follow from them are stated again and compared with what ran.
"""

from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from cadenza.domain.instants import from_iso
from cadenza.domain.run import Run
from cadenza.sim.world import START, World
from tests.factories import minutes, seconds
from tests.sim.lives import ON_RULES, SEEDS, broken, lived

NAMES = ("traffic", "orders", "page_load_ms", "inventory_lag_ms", "db_query_ms")
STORY = {
    range(5): (1000, 40, 800, 100, 120),
    range(5, 9): (5000, 180, 1800, 250, 280),
    range(9, 13): (5500, 160, 3200, 450, 850),
    range(13, 21): (6000, 120, 4500, 600, 1200),
    range(21, 41): (1500, 50, 1100, 150, 180),
}
MIN = {
    "traffic_monitor": 15,
    "order_processor_health": 60,
    "inventory_sync_check": 30,
    "slow_page_analyzer": 30,
    "database_query_trace": 30,
    "cache_warm_up": 600,
    "scale_checkout_workers": 900,
    "slack_operations": 300,
    "slack_customer_support": 600,
    "emergency_oncall_page": 1800,
}
MAX = {"traffic_monitor": 300, "order_processor_health": 300, "inventory_sync_check": 600}
ACTIONS = {
    "cache_warm_up": lambda m: m["page_load_ms"] > 3000,
    "scale_checkout_workers": lambda m: m["orders"] < 150 and m["traffic"] >= 5000,
    "slack_operations": lambda m: m["page_load_ms"] >= 3000,
    "slack_customer_support": lambda m: m["orders"] < 130 and m["traffic"] >= 5500,
    "emergency_oncall_page": lambda m: m["page_load_ms"] >= 4000 and m["orders"] < 125,
}
HOW_OFTEN = {
    "cache_warm_up": 2,
    "scale_checkout_workers": 1,
    "slack_operations": 3,
    "slack_customer_support": 1,
    "emergency_oncall_page": 1,
}
INVESTIGATIONS = {
    "slow_page_analyzer": (
        lambda m: m["page_load_ms"] > 2000,
        lambda m: m["page_load_ms"] < 1500,
    ),
    "database_query_trace": (
        lambda m: m["db_query_ms"] > 500,
        lambda m: m["db_query_ms"] < 300,
    ),
}


class OnRules(int):
    """A seed for a life that is steered by the rules in `examples/`, and not by the script."""

    def __str__(self) -> str:
        return f"rules-{int(self)}"


pytestmark = pytest.mark.parametrize("seed", [*SEEDS, *map(OnRules, SEEDS[:3])], ids=str)


def _world(seed: int) -> World:
    name = "flash-sale" + (ON_RULES if isinstance(seed, OnRules) else "")
    return lived(name, int(seed)).world


def test_every_promise_of_the_scenario_is_kept(seed: int) -> None:
    name = "flash-sale" + (ON_RULES if isinstance(seed, OnRules) else "")
    assert broken(lived(name, int(seed))) == set()


def _metrics(at: datetime) -> dict[str, int]:
    minute = int((at - START) / minutes(1))
    (values,) = (values for span, values in STORY.items() if minute in span)
    return dict(zip(NAMES, values, strict=True))


def _seen(run: Run) -> dict[str, int]:
    assert isinstance(run.body, dict)
    return run.body


def _shown_at(run: Run) -> datetime:
    assert run.finished_at is not None
    return run.finished_at


def _as_shown(world: World, *, without: str = "") -> list[Run]:
    """All runs in the order in which their answers could be seen."""
    ids = {world.endpoint(name).id for name in world.names() if name != without}
    return sorted((run for run in world.all_runs() if run.endpoint_id in ids), key=_shown_at)


def _gaps(runs: list[Run]) -> list[tuple[Run, float]]:
    return [(a, (b.slot_at - a.slot_at).total_seconds()) for a, b in pairwise(runs)]


def test_there_are_ten_endpoints_with_the_limits_of_the_story(seed: int) -> None:
    world = _world(seed)
    assert set(world.names()) == set(MIN)
    for name, least in MIN.items():
        endpoint = world.endpoint(name)
        assert endpoint.min_interval == seconds(least)
        most = MAX.get(name)
        assert endpoint.max_interval == (None if most is None else seconds(most))


def test_every_answer_carries_all_five_metrics_of_its_minute(seed: int) -> None:
    for run in _world(seed).all_runs():
        assert run.started_at is not None
        assert _seen(run) == _metrics(run.started_at)
        assert run.status == "success"


def test_no_two_slots_are_closer_than_min_and_no_run_is_early(seed: int) -> None:
    world = _world(seed)
    for name, least in MIN.items():
        runs = world.runs(name)
        assert runs
        assert all(gap >= least for _, gap in _gaps(runs))
        assert all(run.started_at is not None and run.started_at >= run.slot_at for run in runs)
        most = MAX.get(name)
        assert most is None or all(gap <= most for _, gap in _gaps(runs))


@pytest.mark.parametrize("name", ACTIONS)
def test_each_action_runs_soon_after_its_reason_and_once_per_cooldown(name: str, seed: int) -> None:
    world, condition, cooldown = _world(seed), ACTIONS[name], seconds(MIN[name])
    ready_at, expected = START, []
    left = world.runs(name)
    for run in _as_shown(world, without=name):
        if _shown_at(run) < ready_at or not condition(_seen(run)):
            continue
        assert left, f"{name} never ran though {run.slot_at} showed a reason"
        action = left.pop(0)
        assert action.started_at is not None
        assert run.slot_at <= action.started_at <= run.slot_at + seconds(10)
        expected.append(action.slot_at)
        ready_at = action.slot_at + cooldown
    assert left == [], f"{name} ran more often than it had a reason to"
    assert len(expected) == HOW_OFTEN[name]
    assert all(b - a >= cooldown for a, b in pairwise(expected))


@pytest.mark.parametrize("name", ACTIONS)
def test_no_action_runs_after_its_condition_has_ended(name: str, seed: int) -> None:
    for run in _world(seed).runs(name):
        assert ACTIONS[name](_metrics(run.slot_at))
        assert run.source == "ai-oneshot"


@pytest.mark.parametrize("name", INVESTIGATIONS)
def test_each_investigation_wakes_at_once_runs_every_half_minute_and_sleeps_again(
    name: str, seed: int
) -> None:
    world, (starts, ends) = _world(seed), INVESTIGATIONS[name]
    runs, others = world.runs(name), _as_shown(world, without=name)
    reason = next(run for run in others if starts(_seen(run)))
    over = next(
        run for run in _as_shown(world) if run.slot_at > reason.slot_at and ends(_seen(run))
    )
    assert runs[0].started_at is not None
    assert reason.slot_at <= runs[0].started_at <= reason.slot_at + seconds(10)
    assert {gap for _, gap in _gaps(runs)} == {30.0}
    # One that a worker already held for its slot, a quarter of a second ahead, still runs.
    assert runs[-1].slot_at <= _shown_at(over) + timedelta(milliseconds=250)
    assert _shown_at(over) - runs[-1].slot_at <= seconds(31)
    assert world.endpoint(name).next_run_at is None
    assert world.endpoint(name).interval_hint is None


def test_traffic_is_watched_as_closely_as_it_is_high(seed: int) -> None:
    runs = _world(seed).runs("traffic_monitor")
    for run, gap in _gaps(runs):
        traffic = _seen(run)["traffic"]
        wanted = 15 if traffic >= 6000 else 20 if traffic >= 4000 else 60
        assert gap == wanted, f"{gap} s after {traffic} at {run.slot_at - START}"
    first = next(run for run in runs if _seen(run)["traffic"] >= 6000)
    assert first.slot_at <= START + minutes(13) + seconds(20)
    late = [run for run in runs if run.slot_at >= START + minutes(22)]
    assert {gap for _, gap in _gaps(late)} == {60.0}
    assert len(late) >= 17
    assert {run.source for run in late} == {"baseline-interval"}


def test_inventory_is_checked_as_often_as_it_lags(seed: int) -> None:
    for run, gap in _gaps(_world(seed).runs("inventory_sync_check")):
        lag = _seen(run)["inventory_lag_ms"]
        assert gap == (30 if lag >= 600 else 60 if lag >= 400 else 180)


def test_orders_are_checked_less_often_once_five_answers_lie_within_a_tenth(seed: int) -> None:
    """The run that was planned when the hint came is not pushed back; those after it are."""
    runs = _world(seed).runs("order_processor_health")
    orders = [_seen(run)["orders"] for run in runs]
    steady = [
        number >= 4
        and max(orders[number - 4 : number + 1]) <= 1.1 * min(orders[number - 4 : number + 1])
        for number in range(len(orders))
    ]
    gaps = [gap for _, gap in _gaps(runs)]
    hinted_at = steady.index(True)
    assert set(gaps[: hinted_at + 1]) == {120.0}
    assert gaps[hinted_at + 1] == 300.0
    assert runs[hinted_at + 2].source == "ai-interval"


def test_no_hint_acts_after_its_expiry_and_none_is_left_over(seed: int) -> None:
    world = _world(seed)
    lives: dict[str, list[tuple[datetime, datetime]]] = {name: [] for name in MIN}
    for session in world.tables.sessions.values():
        for call in session.tool_calls:
            if call.took_effect and call.result.get("expires_at"):
                life = (session.started_at, from_iso(call.result["expires_at"]))
                lives[call.result["endpoint"]].append(life)
    hinted = 0
    for name in MIN:
        for run in world.runs(name):
            if run.source.startswith("ai-"):
                hinted += 1
                assert any(begin <= run.slot_at <= end for begin, end in lives[name])
    assert hinted > 100
    for name in ACTIONS:
        assert all(end - begin == minutes(1) for begin, end in lives[name])


def test_every_session_kept_to_its_limits_and_every_act_was_wanted(seed: int) -> None:
    sessions = list(_world(seed).tables.sessions.values())
    assert sessions
    for session in sessions:
        assert len(session.tool_calls) <= 15
        assert session.warnings == ()
        assert session.duration == timedelta(0)


def test_the_actions_of_the_summary_are_the_runs_that_happened(seed: int) -> None:
    world = _world(seed)
    for name in ACTIONS:
        told = [action.ran_at for action in world.actions[name]]
        assert told == [run.started_at for run in world.runs(name)]
    for name in INVESTIGATIONS:
        (action,) = world.actions[name]
        assert action.ran_at == world.runs(name)[0].started_at
    for name, actions in world.actions.items():
        revealing = {run.slot_at for run in _as_shown(world, without=name)}
        for action in actions:
            assert action.revealed_at in revealing
            assert action.ran_at is not None
            assert timedelta(0) <= action.ran_at - action.revealed_at <= seconds(10)
