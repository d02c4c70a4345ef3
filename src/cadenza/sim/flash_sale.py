"""A flash sale: forty minutes, ten endpoints in four tiers, and a brain that reacts.

Health checks tighten as the shop strains, investigations wake, recovery actions and alerts fire
once per cooldown while there is a reason, and everything returns when it is over.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from cadenza.adapters.simulated.brains import FunctionBrain
from cadenza.adapters.simulated.dispatcher import Reply
from cadenza.application.planner import BETWEEN_ROUNDS, PlannerOptions
from cadenza.application.ports.brain import Brain, Tools
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.definition import JobDefinition
from cadenza.domain.endpoint import Every, OnDemand
from cadenza.domain.instants import from_iso
from cadenza.domain.run import Claim, Outcome, Run, RunStatus
from cadenza.sim.world import START, Action, Check, World, at_minute

Metrics = dict[str, int]
LENGTH = timedelta(minutes=40)
METRIC_NAMES = ("traffic", "orders", "page_load_ms", "inventory_lag_ms", "db_query_ms")
PHASES: tuple[tuple[int, str, tuple[int, ...]], ...] = (
    (0, "calm", (1000, 40, 800, 100, 120)),
    (5, "surge", (5000, 180, 1800, 250, 280)),
    (9, "strain", (5500, 160, 3200, 450, 850)),
    (13, "critical", (6000, 120, 4500, 600, 1200)),
    (21, "recovery", (1500, 50, 1100, 150, 180)),
)

STORY = tuple((begins, label) for begins, label, _ in PHASES)


def metrics_at(at: datetime) -> Metrics:
    """What every endpoint of the shop answers in this minute."""
    minute = (at - START) / timedelta(minutes=1)
    values = [values for begins, _, values in PHASES if begins <= minute][-1]
    return dict(zip(METRIC_NAMES, values, strict=True))


@dataclass(frozen=True, slots=True)
class Investigation:
    """Wakes while something is wrong, and runs every half minute until it is over."""

    name: str
    starts: Callable[[Metrics], bool]
    ends: Callable[[Metrics], bool]


@dataclass(frozen=True, slots=True)
class Remedy:
    """Runs once per cooldown while its condition holds; the cooldown is its min."""

    name: str
    cooldown: timedelta
    condition: Callable[[Metrics], bool]


INVESTIGATIONS = (
    Investigation(
        "slow_page_analyzer",
        lambda seen: seen["page_load_ms"] > 2000,
        lambda seen: seen["page_load_ms"] < 1500,
    ),
    Investigation(
        "database_query_trace",
        lambda seen: seen["db_query_ms"] > 500,
        lambda seen: seen["db_query_ms"] < 300,
    ),
)
REMEDIES = (
    Remedy("cache_warm_up", timedelta(minutes=10), lambda seen: seen["page_load_ms"] > 3000),
    Remedy(
        "scale_checkout_workers",
        timedelta(minutes=15),
        lambda seen: seen["orders"] < 150 and seen["traffic"] >= 5000,
    ),
    Remedy("slack_operations", timedelta(minutes=5), lambda seen: seen["page_load_ms"] >= 3000),
    Remedy(
        "slack_customer_support",
        timedelta(minutes=10),
        lambda seen: seen["orders"] < 130 and seen["traffic"] >= 5500,
    ),
    Remedy(
        "emergency_oncall_page",
        timedelta(minutes=30),
        lambda seen: seen["page_load_ms"] >= 4000 and seen["orders"] < 125,
    ),
)
HALF_MINUTE = timedelta(seconds=30)
HALF_TTL = timedelta(minutes=5)  # a hint is renewed when half of its life is over


async def play(world: World) -> list[Check]:
    await build(world)
    return await _live(world, FunctionBrain(think, name="flash-sale"))


async def play_on_rules(world: World, brain: Brain, job: JobDefinition) -> list[Check]:
    """The same life with the rules brain, and endpoints and rules as they stand in a file."""
    rules = tuple(replace(rule, id=world.chance.id_of(rule.name)) for rule in job.rules)
    world.job = replace(world.job, name=job.name, rules=rules)
    for each in job.endpoints:
        await world.add(each.name, each.baseline, least=each.min_interval, most=each.max_interval)
    world.cooldowns |= {remedy.name: remedy.cooldown for remedy in REMEDIES}
    gathering = PlannerOptions(between_rounds=BETWEEN_ROUNDS)  # as `cadenza planner` does
    return await _live(world, brain, gathering)


async def _live(world: World, brain: Brain, options: PlannerOptions | None = None) -> list[Check]:

    def answer(claim: Claim, now: datetime) -> Reply:
        takes = world.chance.between(0.02, 0.3, claim.endpoint_name, claim.slot_at)
        body: dict[str, Any] = {**metrics_at(now)}
        return Reply(
            Outcome(RunStatus.SUCCESS, status_code=200, body=body), timedelta(seconds=takes)
        )

    async with world.planner(brain, options), world.worker(answer):
        await world.live(LENGTH)
    return judge(world)


async def build(world: World) -> None:
    minute = timedelta(minutes=1)
    await world.add("traffic_monitor", Every(minute), least=timedelta(seconds=15), most=5 * minute)
    await world.add("order_processor_health", Every(2 * minute), least=minute, most=5 * minute)
    await world.add("inventory_sync_check", Every(3 * minute), least=HALF_MINUTE, most=10 * minute)
    for investigation in INVESTIGATIONS:
        await world.add(investigation.name, OnDemand(), least=HALF_MINUTE)
    for remedy in REMEDIES:
        await world.add(remedy.name, OnDemand(), least=remedy.cooldown)
        world.cooldowns[remedy.name] = remedy.cooldown


# --- The brain ------------------------------------------------------------------------------


async def think(context: AnalysisContext, tools: Tools) -> None:
    """After each run: adapt the endpoint itself, then wake, end or fire what the metrics ask."""
    history = await tools.call("get_response_history", {"limit": 5})
    seen: Metrics = history["responses"][0]["body"]
    await _adapt(context, tools, seen, history["responses"])
    if not _worth_a_look_around(seen, history["responses"]):
        return
    answer = await tools.call("get_sibling_latest_responses", {})
    siblings = {each["endpoint"]: each for each in answer["siblings"]}
    for investigation in INVESTIGATIONS:
        await _investigate(investigation, context, siblings, tools, seen)
    for remedy in REMEDIES:
        await _remedy(remedy, context, siblings, tools, seen)


def _worth_a_look_around(seen: Metrics, responses: list[dict[str, Any]]) -> bool:
    """Something is wrong, or this answer differs from the one before it."""
    wrong = any(each.starts(seen) for each in INVESTIGATIONS)
    wrong = wrong or any(each.condition(seen) for each in REMEDIES)
    return wrong or len(responses) < 2 or isinstance(responses[1]["body"], dict)


async def _adapt(
    context: AnalysisContext, tools: Tools, seen: Metrics, responses: list[dict[str, Any]]
) -> None:
    name = context.endpoint.name
    if name == "traffic_monitor":
        wanted = 15 if seen["traffic"] >= 6000 else 20 if seen["traffic"] >= 4000 else None
        await _set_pace(context, tools, wanted, clear=seen["traffic"] < 2000)
    elif name == "inventory_sync_check":
        lag = seen["inventory_lag_ms"]
        wanted = 30 if lag >= 600 else 60 if lag >= 400 else None
        await _set_pace(context, tools, wanted, clear=lag < 200)
    elif name == "order_processor_health":
        orders = _orders(responses)
        if len(orders) == 5 and max(orders) <= 1.1 * min(orders):
            await _set_pace(context, tools, 300, clear=False)


async def _set_pace(
    context: AnalysisContext, tools: Tools, seconds: int | None, *, clear: bool
) -> None:
    hint = context.endpoint.interval_hint
    if seconds is not None:
        wanted = timedelta(seconds=seconds)
        if hint is None or hint.interval != wanted or hint.expires_at < context.now + HALF_TTL:
            arguments = {"interval_ms": seconds * 1000, "ttl_minutes": 10, "reason": "load"}
            await tools.call("propose_interval", arguments)
    elif clear and hint is not None:
        await tools.call("clear_hints", {"reason": "the load is over"})


def _orders(responses: list[dict[str, Any]]) -> list[int]:
    """The orders of each response; a body marked as repeated is that of the one before it."""
    orders: list[int] = []
    for response in responses:
        body: Metrics | str = response["body"]
        orders.append(orders[-1] if isinstance(body, str) else body["orders"])
    return orders


async def _investigate(
    investigation: Investigation,
    context: AnalysisContext,
    siblings: dict[str, Any],
    tools: Tools,
    seen: Metrics,
) -> None:
    name = investigation.name
    expires_at = _pace_expires_at(name, context, siblings)
    if investigation.starts(seen):
        if expires_at is None:
            now = {"next_run_in_ms": 0, "ttl_minutes": 1, "endpoint": name, "reason": "slow"}
            await tools.call("propose_next_time", now)
        if expires_at is None or expires_at < context.now + HALF_TTL:
            every = {"interval_ms": 30_000, "ttl_minutes": 10, "endpoint": name, "reason": "slow"}
            await tools.call("propose_interval", every)
    elif investigation.ends(seen) and expires_at is not None:
        await tools.call("clear_hints", {"endpoint": name, "reason": "it is fast again"})


def _pace_expires_at(
    name: str, context: AnalysisContext, siblings: dict[str, Any]
) -> datetime | None:
    """When the interval hint that is in force for an endpoint ends."""
    if name == context.endpoint.name:
        hint = context.endpoint.interval_hint
        return hint.expires_at if hint else None
    hints = (hint for hint in siblings[name]["hints"] if "interval_ms" in hint)
    return next((from_iso(hint["expires_at"]) for hint in hints), None)


async def _remedy(
    remedy: Remedy, context: AnalysisContext, siblings: dict[str, Any], tools: Tools, seen: Metrics
) -> None:
    if remedy.name == context.endpoint.name:
        return  # it has just run: its cooldown begins
    sibling = siblings[remedy.name]
    last_run_at = sibling["schedule"]["last_run_at"]
    cooling = last_run_at is not None and context.now < from_iso(last_run_at) + remedy.cooldown
    waiting = bool(sibling["hints"]) or sibling["schedule"]["in_flight"]
    if not remedy.condition(seen):
        if sibling["hints"]:
            await tools.call("clear_hints", {"endpoint": remedy.name, "reason": "no longer true"})
    elif not cooling and not waiting:
        now = {"next_run_in_ms": 0, "ttl_minutes": 1, "endpoint": remedy.name, "reason": "needed"}
        await tools.call("propose_next_time", now)


# --- What it must show ----------------------------------------------------------------------


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
        (each.ran_at - each.revealed_at).total_seconds() if each.ran_at else float("inf")
        for each in actions
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
