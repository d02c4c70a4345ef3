"""Play a scenario, judge it, and sum it up."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import perf_counter
from typing import Any

from cadenza.adapters.simulated.time import run_simulated
from cadenza.domain.instants import iso, iso_or_none
from cadenza.sim.scenarios import Scenario
from cadenza.sim.world import Check, Progress, World, always_true


@dataclass(frozen=True, slots=True)
class Played:
    scenario: Scenario
    world: World
    checks: list[Check]
    wall: timedelta

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)


def play(scenario: Scenario, seed: int, on_progress: Progress = lambda _: None) -> Played:
    """Live it once and judge it; live it again to see that the same seed gives the same log."""
    world, checks, wall = _live(scenario, seed, on_progress)
    again, _, wall_again = _live(scenario, seed, lambda _: None)
    wall = min(wall, wall_again)  # the first one also warms up
    checks = [
        *checks,
        *always_true(world),
        Check("the same seed gives the same log", world.log.lines() == again.log.lines()),
    ]
    return Played(scenario, world, checks, wall)


def _live(
    scenario: Scenario, seed: int, on_progress: Progress
) -> tuple[World, list[Check], timedelta]:
    world = World(seed, scenario.length, on_progress)
    began = perf_counter()
    checks = run_simulated(scenario.play(world))
    return world, checks, timedelta(seconds=perf_counter() - began)


def summary(played: Played) -> dict[str, Any]:
    """The whole life as one JSON object."""
    world = played.world
    return {
        "scenario": played.scenario.name,
        "seed": world.seed,
        "ok": played.ok,
        "wall_ms": round(played.wall / timedelta(milliseconds=1), 1),
        "simulated_s": played.scenario.length.total_seconds(),
        "log_sha256": world.log.sha256(),
        "endpoints": {name: _endpoint_summary(world, name) for name in world.names()},
        "checks": [
            {"name": check.name, "ok": check.ok, "detail": check.detail} for check in played.checks
        ],
    }


def _endpoint_summary(world: World, name: str) -> dict[str, Any]:
    runs, gaps = world.runs(name), world.gaps(name)
    return {
        "runs": len(runs),
        "runs_by_source": dict(sorted(Counter(str(run.source) for run in runs).items())),
        "min_gap_s": min(gaps, default=None),
        "max_gap_s": max(gaps, default=None),
        "actions": [
            {"revealed_at": iso(action.revealed_at), "ran_at": iso_or_none(action.ran_at)}
            for action in world.actions.get(name, [])
        ],
        "cooldown_kept": cooldown_kept(world, name),
    }


def cooldown_kept(world: World, name: str) -> bool | None:
    """None for an endpoint that has no cooldown."""
    cooldown = world.cooldowns.get(name)
    if cooldown is None:
        return None
    return all(gap >= cooldown.total_seconds() for gap in world.gaps(name))


def first_action(world: World, name: str) -> datetime | None:
    actions = world.actions.get(name, [])
    return actions[0].ran_at if actions else None
