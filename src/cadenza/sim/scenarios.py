"""The other lives worth living through, each a few lines over the same engine."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from cadenza.adapters.simulated.brains import FunctionBrain
from cadenza.adapters.simulated.dispatcher import Reply
from cadenza.application.ports.brain import Brain, Tools
from cadenza.application.ports.claims import ClaimRequest
from cadenza.cli.errors import usage
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.definition import JobDefinition
from cadenza.domain.endpoint import Every
from cadenza.domain.run import Claim, FinishedRun, Outcome, RunStatus
from cadenza.sim import flash_sale, flash_sale_story, researcher
from cadenza.sim.world import Check, Script, World, at_minute

MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
OK = Outcome(RunStatus.SUCCESS, status_code=200)
DOWN = Outcome(RunStatus.FAILURE, "status", "HTTP 503", status_code=503)


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    about: str
    length: timedelta
    play: Callable[[World], Coroutine[Any, Any, list[Check]]]
    phases: tuple[tuple[int, str], ...] = ()  # the minute at which each part of the story begins
    on_rules: Callable[[World, Brain, JobDefinition], Coroutine[Any, Any, list[Check]]] | None = (
        None
    )


@dataclass(frozen=True, slots=True)
class DeclaredRules:
    """What a scenario needs to be played by the rules brain: the brain, and a job of examples/."""

    new_brain: Callable[[], Brain]
    example_job: Callable[[str], JobDefinition]


def on_rules(scenario: Scenario, rules: DeclaredRules) -> Scenario:
    """The same life with the rules brain, within the same real time, though it looks at every
    sibling of what has run, which is eight times as many looks."""
    by_rules = scenario.on_rules
    if by_rules is None:
        able = ", ".join(other.name for other in SCENARIOS.values() if other.on_rules)
        raise usage(f"{scenario.name} has no declared rules; --brain rules goes with: {able}")
    job = rules.example_job(f"{scenario.name}.yaml")

    async def play(world: World) -> list[Check]:
        return await by_rules(world, rules.new_brain(), job)

    return replace(scenario, play=play)


def _always(reply: Reply) -> Script:
    return lambda _claim, _now: reply


async def queue_spike(world: World) -> list[Check]:
    """A payment queue grows; an interval hint of one minute lives 15 minutes, then 5 min again."""
    await world.add("payment_queue", Every(5 * MINUTE))

    def answer(_: Claim, now: datetime) -> Reply:
        depth = 50 if now < at_minute(9) else 150
        return Reply(Outcome(RunStatus.SUCCESS, body={"queue_depth": depth}), SECOND)

    async with world.worker(answer):
        await world.live(12 * MINUTE)
        reason = "the queue jumped to 150"
        await world.steering.hint_interval(
            world.owner, world.id_of("payment_queue"), MINUTE, 15 * MINUTE, reason
        )
        await world.live(28 * MINUTE)
    runs = world.runs("payment_queue")
    hinted = [run.slot_at for run in runs if run.source == "ai-interval"]
    after = [run for run in runs if run.slot_at > at_minute(27)]
    return [
        Check("the nudge is due one minute after the hint", hinted[:1] == [at_minute(13)]),
        Check(
            "a run every minute until the hint expires",
            hinted == [at_minute(m) for m in range(13, 28)],
        ),
        Check(
            "then five minutes again",
            [run.slot_at for run in after] == [at_minute(32), at_minute(37)],
        ),
        Check("by the baseline", {run.source for run in after} == {"baseline-interval"}),
    ]


async def backoff_and_recovery(world: World) -> list[Check]:
    """A service fails and is asked ever less; a sibling sees it recover, and the brain returns."""
    await world.add("checkout", Every(MINUTE))
    await world.add("status_page", Every(5 * MINUTE))
    recovered_at = at_minute(40)

    def answer(claim: Claim, now: datetime) -> Reply:
        if claim.endpoint_name == "status_page":
            return Reply(
                Outcome(RunStatus.SUCCESS, body={"checkout_up": now >= recovered_at}), SECOND
            )
        return Reply(OK if now >= recovered_at else DOWN, SECOND)

    async def think(context: AnalysisContext, tools: Tools) -> None:
        if context.endpoint.name != "status_page":
            return
        latest = await tools.call("get_latest_response", {})
        siblings = await tools.call("get_sibling_latest_responses", {})
        failing = siblings["siblings"][0]["schedule"]["failure_count"] > 0
        if latest["body"]["checkout_up"] and failing:
            hint = {"interval_ms": 60_000, "ttl_minutes": 5, "reason": "it is up again"}
            await tools.call("propose_interval", {**hint, "endpoint": "checkout"})

    async with world.planner(FunctionBrain(think)), world.worker(answer):
        await world.live(60 * MINUTE)
    runs = world.runs("checkout")
    gaps = list(zip(world.gaps("checkout"), runs, strict=False))
    failed = [gap for gap, run in gaps if run.status == "failure"]
    backed_off = all(abs(gap - 60 * 2 ** (n + 1)) <= 3 for n, gap in enumerate(failed[:-1]))
    first_success = next(run.slot_at for run in runs if run.status == "success")
    later = [gap for gap, run in gaps if run.slot_at >= first_success]
    return [
        Check("each failure doubles the gap", backed_off and len(failed) >= 5, f"{failed}"),
        Check(
            "the brain ends the backoff within two minutes of the news",
            first_success - recovered_at <= 2 * MINUTE,
            f"{first_success - recovered_at}",
        ),
        Check("after a success the gap is the plain interval", set(later) == {60.0}),
    ]


async def overrun(world: World) -> list[Check]:
    """A run of 20 s on an interval of 15 s: never followed at once, and the miss is declared."""
    await world.add("slow_report", Every(15 * SECOND))
    async with world.worker(_always(Reply(OK, 20 * SECOND))):
        await world.live(10 * MINUTE)
    runs = world.runs("slow_report")
    return [
        Check("35 s from slot to slot", set(world.gaps("slow_report")) == {35.0}),
        Check(
            "every run declares the slot it made us miss",
            all(run.skipped_slots == 1 for run in runs),
        ),
        Check(
            "and why",
            {run.skipped_reason for run in runs} == {"the run took longer than its interval"},
        ),
    ]


async def pause(world: World) -> list[Check]:
    """A person pauses for ten minutes, then without an end, then resumes."""
    await world.add("nightly_sync", Every(MINUTE))
    endpoint_id = world.id_of("nightly_sync")
    async with world.worker(_always(Reply(OK, SECOND))):
        await world.live(10.5 * MINUTE)
        await world.steering.pause(world.owner, endpoint_id, at_minute(20), "")
        await world.live(15 * MINUTE)
        await world.steering.pause(world.owner, endpoint_id, None, "")
        await world.live(10 * MINUTE)
        resumed_at = world.clock.now()
        await world.steering.resume(world.owner, endpoint_id)
        await world.live(5 * MINUTE)
    runs = world.runs("nightly_sync")
    first_pause = [run for run in runs if at_minute(10.5) <= run.slot_at < at_minute(20)]
    second_pause = [run for run in runs if at_minute(25.5) <= run.slot_at < resumed_at]
    return [
        Check("no run inside the pauses", not first_pause and not second_pause),
        Check(
            "one at its end",
            any(run.slot_at == at_minute(20) and run.source == "paused" for run in runs),
        ),
        Check(
            "one at once when resumed",
            any(run.slot_at == resumed_at and run.source == "resumed" for run in runs),
        ),
    ]


async def takeover(world: World) -> list[Check]:
    """A worker dies holding a lease; another sends the same slot again, under the same key."""
    await world.add("invoice_export", Every(MINUTE))
    keys: list[tuple[str, int]] = []

    def answer(claim: Claim, _now: datetime) -> Reply:
        keys.append((claim.idempotency_key, claim.attempt))
        return Reply(OK, 10 * SECOND)

    async with world.worker(answer, "worker-1") as first:
        await world.live(2 * MINUTE + 5 * SECOND)
        first.cancel()
        died_at = world.clock.now()
    async with world.worker(answer, "worker-2"):
        await world.live(5 * MINUTE)
    taken = [(key, attempt) for key, attempt in keys if attempt > 1]
    run = next(run for run in world.runs("invoice_export") if run.attempt > 1)
    resent_at = run.started_at or died_at
    return [
        Check("the slot was sent again once", len(taken) == 1, f"{taken}"),
        Check("under the same key", (taken[0][0], 1) in keys),
        Check("within lease + 5 s", resent_at - died_at <= 35 * SECOND, f"{resent_at - died_at}"),
        Check("the lost attempt is noted", len(world.tables.lost_attempts) == 1),
        Check("no failure is counted", world.endpoint("invoice_export").failure_count == 0),
    ]


async def late_writer(world: World) -> list[Check]:
    """A worker that was stopped wakes after its lease, and tries to write what it had done."""
    await world.add("ledger_check", Every(MINUTE))
    request = ClaimRequest("sleepwalker", limit=1, lease=30 * SECOND)
    await world.clock.sleep(5 * SECOND)
    stolen = (await world.queue.claim_due(request)).claims[0]
    started_at = world.clock.now()
    await world.clock.sleep(60 * SECOND)
    async with world.worker(_always(Reply(OK, SECOND))):
        await world.live(2 * MINUTE)
        before = (world.endpoint("ledger_check"), world.runs("ledger_check"))
        result = FinishedRun(stolen, DOWN, started_at, world.clock.now())
        report = await world.queue.finish([result])
        after = (world.endpoint("ledger_check"), world.runs("ledger_check"))
        await world.live(2 * MINUTE)
    run = next(run for run in world.runs("ledger_check") if run.id == stolen.run_id)
    return [
        Check("the late result is told apart", report.late == frozenset([stolen.run_id])),
        Check("it is kept to be seen", len(world.tables.late_results) == 1),
        Check("it changes nothing", before == after),
        Check("the slot keeps the outcome of the second worker", run.status == "success"),
    ]


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario(
            "flash-sale",
            "ten endpoints in four tiers live through a flash sale",
            flash_sale.LENGTH,
            flash_sale.play,
            flash_sale_story.STORY,
            flash_sale.play_on_rules,
        ),
        Scenario(
            "researcher",
            "a graph that is run more often while it finds something",
            researcher.LENGTH,
            researcher.play,
            researcher.PHASES,
            researcher.play_on_rules,
        ),
        Scenario(
            "queue-spike", "a growing queue, one hint, and its expiry", 40 * MINUTE, queue_spike
        ),
        Scenario(
            "backoff-and-recovery",
            "failures back off, a brain sees the recovery",
            60 * MINUTE,
            backoff_and_recovery,
        ),
        Scenario("overrun", "a run that is longer than its interval", 10 * MINUTE, overrun),
        Scenario("pause", "a pause in the middle, and one without an end", 41 * MINUTE, pause),
        Scenario("takeover", "a worker dies holding a lease", 8 * MINUTE, takeover),
        Scenario("late-writer", "a stopped worker wakes after its lease", 6 * MINUTE, late_writer),
    )
}
