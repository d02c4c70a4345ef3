"""A graph as the target of an endpoint: an hour of a researcher, with two stories that break.

Played by its baseline alone, or by the declared rules of examples/researcher.yaml. What the graph
answers is scripted; that it is claimed by the workers that run graphs, and by no others, is not.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from cadenza.adapters.simulated.dispatcher import Reply
from cadenza.application.planner import BETWEEN_ROUNDS, PlannerOptions
from cadenza.application.ports.brain import Brain
from cadenza.domain.definition import JobDefinition
from cadenza.domain.endpoint import Baseline, Every
from cadenza.domain.graph_target import GRAPHS, GraphTarget, Mandate
from cadenza.domain.run import Claim, Outcome, Run, RunStatus
from cadenza.sim.world import START, Check, World

LENGTH = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
# Stories in each minute of half an hour, as in examples/graphs/researcher.py.
STORIES = [0] * 8 + [1, 2, 4, 5, 5, 4, 3, 2, 1, 1] + [0] * 12
PHASES = ((0, "quiet"), (8, "a story"), (18, "quiet"), (38, "another"), (48, "quiet"))
NAME = "researcher"


async def play(world: World) -> list[Check]:
    """By its baseline alone."""
    await _add(world, Every(2 * MINUTE))
    left_alone = await _live(world)
    steady = set(world.gaps(NAME)) == {120.0}
    return [Check("every two minutes, whatever there is to find", steady), left_alone]


async def play_on_rules(world: World, brain: Brain, job: JobDefinition) -> list[Check]:
    rules = tuple(replace(rule, id=world.chance.id_of(rule.name)) for rule in job.rules)
    world.job = replace(world.job, name=job.name, rules=rules)
    (endpoint,) = job.endpoints
    assert isinstance(endpoint.target, GraphTarget)
    await _add(world, endpoint.baseline, endpoint.min_interval, endpoint.max_interval)
    async with world.planner(brain, PlannerOptions(between_rounds=BETWEEN_ROUNDS)):
        left_alone = await _live(world)
    return [*_judged(world), left_alone]


async def _add(world: World, baseline: Baseline, *guardrails: timedelta | None) -> None:
    mandate = Mandate(*(world.id_of(name) for name in ("grant", "owner", "account")))
    least, most = guardrails or (None, None)
    target = GraphTarget("langgraph:researcher", {"topic": "the tides"}, mandate=mandate)
    await world.add(NAME, baseline, least=least, most=most, target=target)


async def _live(world: World) -> Check:
    strays: list[Claim] = []

    def stray(claim: Claim, _now: datetime) -> Reply:
        strays.append(claim)
        return Reply(Outcome(RunStatus.FAILURE), MINUTE)

    def answer(claim: Claim, now: datetime) -> Reply:
        takes = world.chance.between(0.5, 3, claim.endpoint_name, claim.slot_at)
        body = {"findings": findings_at(now)}
        return Reply(Outcome(RunStatus.SUCCESS, body=body), timedelta(seconds=takes))

    async with world.worker(answer, runs_on=GRAPHS), world.worker(stray, "scheduler-1"):
        await world.live(LENGTH)
    return Check("a scheduler that runs no graphs leaves it alone", not strays)


def findings_at(now: datetime) -> int:
    return STORIES[int((now - START) / MINUTE) % len(STORIES)]


def _judged(world: World) -> list[Check]:
    runs = world.runs(NAME)
    busy = [run for run in runs if _findings(run) >= 3]
    quiet = [gap for run, gap in zip(runs, world.gaps(NAME), strict=False) if not _findings(run)]
    by_baseline = LENGTH / (2 * MINUTE)
    return [
        Check("every fifteen seconds while a story breaks", _gaps(busy) == 15.0),
        Check("it rests when there is nothing to find", max(quiet) >= 300.0, f"{max(quiet):g} s"),
        Check(
            "both stories are looked into closely",
            len(busy) > by_baseline,
            f"{len(busy)} of {len(runs)} runs",
        ),
    ]


def _findings(run: Run) -> int:
    return run.body["findings"] if isinstance(run.body, dict) else 0


def _gaps(runs: list[Run]) -> float:
    """The usual time from one to the next."""
    slots = [run.slot_at for run in runs]
    gaps = sorted((b - a).total_seconds() for a, b in pairwise(slots))
    return gaps[len(gaps) // 2]
