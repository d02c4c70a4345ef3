"""Lives that several tests look back at, each lived once."""

from functools import cache

from cadenza.roots.brain import rules_brain
from cadenza.roots.examples import example_job
from cadenza.sim.play import Played, play
from cadenza.sim.scenarios import SCENARIOS, DeclaredRules, Scenario, on_rules

ON_RULES = " on rules"
RULES = DeclaredRules(rules_brain, example_job)
SEEDS = (1, 2, 3, 42, 20_251_029)


@cache
def lived(name: str, seed: int) -> Played:
    return live(name, seed)


def live(name: str, seed: int = 1) -> Played:
    return play(_scenario(name), seed)


def _scenario(name: str) -> Scenario:
    if not name.endswith(ON_RULES):
        return SCENARIOS[name]
    scenario = on_rules(SCENARIOS[name.removesuffix(ON_RULES)], RULES)
    assert scenario is not None
    return scenario


def broken(played: Played) -> set[str]:
    """The promises that were not kept."""
    return {check.name for check in played.checks if not check.ok}
