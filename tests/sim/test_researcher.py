"""The researcher of the examples: run more often while there is something to find."""

import re
from pathlib import Path

import pytest

from cadenza.sim import researcher
from tests.sim.lives import ON_RULES, SEEDS, broken, lived

EXAMPLE = Path(__file__).parents[2] / "examples" / "graphs" / "researcher.py"


@pytest.mark.parametrize("seed", SEEDS)
def test_declared_rules_keep_its_promises_with_every_seed(seed: int) -> None:
    played = lived(f"researcher{ON_RULES}", seed)
    assert broken(played) == set()
    assert len(played.checks) >= 9


def test_rules_bring_runs_to_where_there_is_something_to_find() -> None:
    def share(name: str) -> float:
        runs = lived(name, 1).world.runs(researcher.NAME)
        fruitful = [run for run in runs if researcher.findings_at(run.slot_at)]
        return len(fruitful) / len(runs)

    assert share("researcher") < 0.4
    assert share(f"researcher{ON_RULES}") > 0.7


def test_the_wire_is_that_of_the_example() -> None:
    (written,) = re.findall(r"^STORIES = (.*)$", EXAMPLE.read_text(), re.MULTILINE)
    assert eval(written) == researcher.STORIES
