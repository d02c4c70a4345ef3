"""The scripted world: targets and chance do what they are told, and only that."""

from datetime import datetime

import pytest

from cadenza.adapters.simulated.chance import SeededChance
from cadenza.adapters.simulated.dispatcher import Reply, ScriptedDispatcher
from cadenza.adapters.simulated.time import SimulatedClock, run_simulated
from cadenza.domain.run import Claim, Outcome
from cadenza.domain.target import HttpTarget
from tests.factories import NOON, OK, make_claim, make_endpoint, seconds


@pytest.mark.parametrize(
    ("takes", "status", "after"), [(0, "success", 0), (30, "success", 30), (30.1, "timeout", 30)]
)
def test_a_scripted_target_answers_in_its_time_or_times_out(
    takes: float, status: str, after: float
) -> None:
    async def life() -> tuple[Outcome, float]:
        clock = SimulatedClock(NOON)

        def script(_: Claim, now: datetime) -> Reply:
            assert now == NOON
            return Reply(OK, seconds(takes))

        target = HttpTarget("http://probe.example/", timeout=seconds(30))
        claim = make_claim(make_endpoint(), target=target)
        outcome = await ScriptedDispatcher(clock, script).dispatch(claim)
        return outcome, (clock.now() - NOON).total_seconds()

    outcome, passed = run_simulated(life())
    assert (outcome.status, passed) == (status, after)
    assert (outcome.error_kind == "timeout") == (status == "timeout")


def test_chance_depends_on_the_seed_and_on_what_it_is_about() -> None:
    one, again, other = SeededChance(1), SeededChance(1), SeededChance(2)
    assert [one.new_id() for _ in range(3)] == [again.new_id() for _ in range(3)]
    assert one.new_id() != other.new_id()
    assert one.id_of("name") == again.id_of("name") != other.id_of("name")
    draws = [one.between(2, 5, "about", number) for number in range(1000)]
    assert draws == [again.between(2, 5, "about", number) for number in range(1000)]
    assert 2 <= min(draws) < 2.1
    assert 4.9 < max(draws) < 5
