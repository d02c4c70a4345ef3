"""Real programs under real faults, for a minute of what `make chaos` does."""

import pytest

from tests.chaos.hunting import caught_in_programs
from tests.chaos.mutants import IN_PROGRAMS
from tests.chaos.real import Plan, run
from tests.chaos.report import programs_figures
from tests.chaos.stage import BOUND

pytestmark = pytest.mark.chaos

SEED = 20_251_029
# Of every sort one: a result that comes too late, a process, the server, an answer, clocks.
KINDS = (
    *("outlive", "kill", "crash_in_commit", "lose_claim", "terminate"),
    *("clock_back", "clock_forward", "worker_clock"),
)


async def test_nothing_is_lost_or_doubled_without_a_reason() -> None:
    ran = await run(Plan(SEED, kinds=KINDS))
    assert ran.verdict.violations == ()
    assert ran.troubles == []
    figures = programs_figures([ran])
    assert figures["lost"] == figures["doubled_unexplained"] == figures["early"] == 0
    assert figures["slots_expected"] > 300
    assert figures["faults"] == dict.fromkeys(KINDS, 1)
    assert figures["fenced_writes"] > 0
    assert 0 < figures["charges"] <= figures["model_calls"] <= figures["graph_starts"]
    # `make chaos` holds it to the bound; here other tests run beside it.
    assert figures["longest_standstill_s"] < 2 * BOUND


@pytest.mark.parametrize("name", IN_PROGRAMS)
async def test_a_mutant_is_caught(name: str) -> None:
    assert await caught_in_programs(name)
