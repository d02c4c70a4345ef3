"""Lives in simulation: nothing is lost, whatever happens and at whatever step."""

import pytest

from tests.chaos.checker import check
from tests.chaos.hunting import caught_in_simulation
from tests.chaos.life import Act, drawn
from tests.chaos.lives import live_seeds, shrunk, trace
from tests.chaos.mutants import IN_SIMULATION, installed
from tests.chaos.simulation import live

LIVES = 40


@pytest.mark.chaos
def test_nothing_is_lost_in_many_lives() -> None:
    lived = live_seeds(range(1, LIVES + 1))
    assert lived.bad_seeds == [], trace(lived.bad_seeds[0])
    assert lived.figures["slots_expected"] > 100 * LIVES
    assert lived.figures["fenced_writes"] > 0  # or fencing was not tried
    assert lived.figures["doubled_explained"] > 0


@pytest.mark.parametrize("seed", [462_550_565, 462_553_213])
def test_a_worker_that_owes_two_results_of_a_run_stores_the_newer_as_what_it_is(seed: int) -> None:
    """Its own takeover: both went into one batch, and the older one was taken for the newer."""
    history, _ = live(drawn(seed))
    assert check(history).violations == ()


def test_a_life_without_faults_doubles_and_declares_nothing_that_is_quick() -> None:
    history, _ = live(drawn(5, faults=False))
    figures = check(history).figures
    assert figures["doubled_explained"] == figures["fenced_writes"] == 0
    assert figures["lost"] == figures["early"] == 0


@pytest.mark.chaos
@pytest.mark.parametrize("half", [0, 1])
def test_a_worker_may_die_at_any_step(half: int) -> None:
    """Between any two awaits of any of its tasks, one by one, from its start on."""
    quiet = drawn(3, 8, faults=False)
    _, whole = live(quiet)
    assert whole.steps > 200
    for step in range(1 + half, whole.steps, 2):
        history, world = live(quiet, crash_at=step)
        assert world.nodes[0].dead
        assert check(history).violations == (), f"it died at step {step}"


def test_the_same_seed_is_the_same_life() -> None:
    first, second = (live(drawn(11))[0] for _ in range(2))
    assert first.deliveries == second.deliveries
    assert first.endpoint_versions == second.endpoint_versions


@pytest.mark.chaos
@pytest.mark.parametrize("name", IN_SIMULATION)
def test_a_mutant_is_caught(name: str) -> None:
    assert caught_in_simulation(name)


def test_a_life_in_which_nothing_goes_wrong_has_no_trace() -> None:
    assert trace(11) == ""


@pytest.mark.chaos
def test_a_life_that_goes_wrong_is_told_with_the_little_that_it_takes() -> None:
    with installed("no-deadline"):
        seed = next(seed for seed in range(1, 60) if live_seeds([seed]).bad_seeds)
        life, violations = shrunk(drawn(seed))
        told = trace(seed)
    assert len(life.acts) < len(drawn(seed).acts)
    assert all(isinstance(act, Act) for act in life.acts)
    assert f"python -m tests.chaos --life {seed}" in told
    assert violations[0].name in told
