"""A flash sale: forty minutes, ten endpoints in four tiers, and a brain that reacts.

Health checks tighten as the shop strains, investigations wake, recovery actions and alerts fire
once per cooldown while there is a reason, and everything returns when it is over.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from cadenza.adapters.simulated.brains import FunctionBrain
from cadenza.adapters.simulated.dispatcher import Reply
from cadenza.application.planner import BETWEEN_ROUNDS, PlannerOptions
from cadenza.application.ports.brain import Brain, Tools
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.definition import JobDefinition
from cadenza.domain.endpoint import Every, OnDemand
from cadenza.domain.instants import from_iso
from cadenza.domain.run import Claim, Outcome, RunStatus
from cadenza.sim.flash_sale_checks import judge
from cadenza.sim.flash_sale_story import (
    INVESTIGATIONS,
    REMEDIES,
    Investigation,
    Metrics,
    Remedy,
    metrics_at,
)
from cadenza.sim.world import Check, World

LENGTH = timedelta(minutes=40)
HALF_MINUTE = timedelta(seconds=30)
HALF_TTL = timedelta(minutes=5)  # a hint is renewed when half of its life is over


async def play(world: World) -> list[Check]:
    await build(world)
    return await _live(world, FunctionBrain(think, name="flash-sale"))


async def play_on_rules(world: World, brain: Brain, job: JobDefinition) -> list[Check]:
    """The same life with the rules brain, and endpoints and rules as they stand in a file."""
    rules = tuple(replace(rule, id=world.chance.id_of(rule.name)) for rule in job.rules)
    world.job = replace(world.job, name=job.name, rules=rules)
    for endpoint in job.endpoints:
        await world.add(
            endpoint.name,
            endpoint.baseline,
            least=endpoint.min_interval,
            most=endpoint.max_interval,
        )
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
    wrong = any(investigation.starts(seen) for investigation in INVESTIGATIONS)
    wrong = wrong or any(remedy.condition(seen) for remedy in REMEDIES)
    previous = history["responses"][1:2]
    if not wrong and previous and not isinstance(previous[0]["body"], dict):
        return  # nothing is wrong, and this answer is the same as the one before it
    answer = await tools.call("get_sibling_latest_responses", {})
    siblings = {sibling["endpoint"]: sibling for sibling in answer["siblings"]}
    for investigation in INVESTIGATIONS:
        await _investigate(investigation, context, siblings, tools, seen)
    for remedy in REMEDIES:
        await _remedy(remedy, context, siblings, tools, seen)


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
