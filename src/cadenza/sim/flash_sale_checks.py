"""What the flash sale must show, judged from its runs."""

from datetime import datetime
from itertools import pairwise

from cadenza.domain.instants import from_iso
from cadenza.domain.run import Run
from cadenza.sim.flash_sale_story import (
    INVESTIGATIONS,
    REMEDIES,
    Investigation,
    Metrics,
    Remedy,
    metrics_at,
)
from cadenza.sim.world import START, Action, Check, World, at_minute


def judge(world: World) -> list[Check]:
    runs = sorted(world.all_runs(), key=_shown_at)
    for investigation in INVESTIGATIONS:
        world.actions[investigation.name] = _activations(world, investigation, runs)
    for remedy in REMEDIES:
        world.actions[remedy.name] = _remedies(world, remedy, runs)
    return [
        *(_prompt(world, name) for name in world.actions),
        *(_once_per_cooldown(world, remedy) for remedy in REMEDIES),
        *(_only_with_reason(world, remedy) for remedy in REMEDIES),
        *_traffic_cadence(world),
        _hints_expire(world),
    ]


def _seen(run: Run) -> Metrics:
    assert isinstance(run.body, dict)
    return run.body


def _shown_at(run: Run) -> datetime:
    """When its answer was there to be seen."""
    assert run.finished_at is not None
    return run.finished_at


def _activations(world: World, what: Investigation, runs: list[Run]) -> list[Action]:
    """The first run that shows the condition while asleep, and the run that it woke."""
    actions: list[Action] = []
    asleep = True
    for run in runs:
        if asleep and what.starts(_seen(run)):
            asleep = False
            actions.append(Action(run.slot_at, _first_run_from(world, what.name, run.slot_at)))
        elif not asleep and what.ends(_seen(run)):
            asleep = True
    return actions


def _remedies(world: World, remedy: Remedy, runs: list[Run]) -> list[Action]:
    """The first run that shows the condition once the cooldown is over, and the action's run."""
    actions: list[Action] = []
    ready_at, itself = START, world.endpoint(remedy.name).id
    for run in runs:
        shown_at = _shown_at(run)
        if shown_at < ready_at or run.endpoint_id == itself or not remedy.condition(_seen(run)):
            continue
        ran_at = _first_run_from(world, remedy.name, shown_at)
        actions.append(Action(run.slot_at, ran_at))
        ready_at = (ran_at or shown_at) + remedy.cooldown
    return actions


def _first_run_from(world: World, name: str, at: datetime) -> datetime | None:
    return next((run.started_at for run in world.runs(name) if run.slot_at >= at), None)


def _prompt(world: World, name: str) -> Check:
    """Every activation and action within ten seconds, and at least one of each in this story."""
    actions = world.actions[name]
    delays = [
        (action.ran_at - action.revealed_at).total_seconds() if action.ran_at else float("inf")
        for action in actions
    ]
    ok = bool(delays) and max(delays) <= 10
    return Check(f"{name} runs within 10 s of its reason", ok, f"{max(delays, default=0):.2f} s")


def _once_per_cooldown(world: World, remedy: Remedy) -> Check:
    gaps = world.gaps(remedy.name)
    count, wanted = len(world.runs(remedy.name)), len(world.actions[remedy.name])
    ok = count == wanted and all(gap >= remedy.cooldown.total_seconds() for gap in gaps)
    return Check(f"{remedy.name} runs once per cooldown", ok, f"{count} of {wanted}")


def _only_with_reason(world: World, remedy: Remedy) -> Check:
    ok = all(remedy.condition(metrics_at(run.slot_at)) for run in world.runs(remedy.name))
    return Check(f"{remedy.name} never runs after its condition has ended", ok)


def _traffic_cadence(world: World) -> list[Check]:
    runs = world.runs("traffic_monitor")
    critical = [run.slot_at for run in runs if _seen(run)["traffic"] >= 6000]
    strained = all((b - a).total_seconds() == 15 for a, b in pairwise(critical))
    calm = [run.slot_at for run in runs if run.slot_at >= at_minute(22)]
    relaxed = all((b - a).total_seconds() == 60 for a, b in pairwise(calm))
    return [
        Check(
            "traffic_monitor runs every 15 s while it sees 6000", strained and len(critical) > 30
        ),
        Check("traffic_monitor is back at 60 s by minute 22", relaxed and len(calm) >= 17),
    ]


def _hints_expire(world: World) -> Check:
    """Every run that a hint led to has its slot before that hint's expiry."""
    expiries: dict[str, list[tuple[datetime, datetime]]] = {name: [] for name in world.names()}
    for event in world.log.events:
        if event.kind == "planner.acted" and event.data["result"].get("expires_at"):
            result = event.data["result"]
            expiry = (event.at, from_iso(result["expires_at"]))
            expiries[result["endpoint"]].append(expiry)
    hinted = [
        (name, run)
        for name in world.names()
        for run in world.runs(name)
        if run.source.startswith("ai-")
    ]
    ok = all(
        any(written <= run.slot_at <= expires for written, expires in expiries[name])
        for name, run in hinted
    )
    return Check("no hint acts after its expiry", ok and bool(hinted), f"{len(hinted)} hinted runs")
