"""A rule that its owner renames is the same rule: its id, its hint and its cooldown stay."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from cadenza.application.graph_grants import GraphGrants
from cadenza.application.graph_targets import GraphTargets
from cadenza.application.jobs import Jobs
from cadenza.application.manifests import Manifests, Wanted
from cadenza.application.schedule_changes import ScheduleChanges
from cadenza.application.schedule_manifests import ScheduleManifests
from cadenza.domain import steering
from cadenza.domain.access import Caller, Scope
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.definition import JobDefinition, ValidationPolicy
from cadenza.domain.endpoint import Every
from cadenza.domain.hint import Author
from cadenza.domain.rule import Rule, RuleAction, Then
from cadenza.roots.brain import rules_brain
from tests.adapters.brains.declaring import rules_speak_for
from tests.application.bench import Bench, simulated
from tests.factories import CRON, id_of, minutes

ANN = Caller(id_of("tenant"), id_of("user"), id_of("key"), "ann", (Scope.ADMIN,))
DEEP = Rule(
    "deep queue",
    "response.depth > 300",
    Then(RuleAction.INTERVAL, minutes(1)),
    cooldown=minutes(60),
)
LONG = replace(DEEP, name="long queue")
WATCH = JobDefinition("watch", "Watch it all.", rules=(DEEP,))


@dataclass(frozen=True)
class Patch:
    rules: tuple[Rule, ...]

    def applied_to(self, definition: JobDefinition) -> JobDefinition:
        return replace(definition, rules=self.rules)

    @property
    def fields(self) -> list[str]:
        return ["rules"]


def new_id_of_job_first() -> Callable[[], UUID]:
    """The bench puts its endpoints into the job of this id."""
    ids = iter([id_of("job")])
    return lambda: next(ids, None) or uuid4()


def jobs_of(bench: Bench) -> Jobs:
    return Jobs(bench.store, CRON, ValidationPolicy(), new_id_of_job_first(), bench.memory.billing)


async def by_patch(bench: Bench, *rules: Rule) -> None:
    await jobs_of(bench).change(ANN, id_of("job"), Patch(rules))


async def by_manifest(bench: Bench, *rules: Rule) -> None:
    prices, billing = cast("Any", None), cast("Any", None)  # of schedules, which it has none of
    grants = GraphGrants(prices, uuid4)
    schedules = ScheduleManifests(ScheduleChanges(grants, CRON), billing, uuid4)
    manifests = Manifests(bench.store, CRON, schedules, GraphTargets(grants, billing), uuid4)
    await manifests.apply(ANN, Wanted([replace(WATCH, rules=rules)]), prune=False)


Rename = Callable[..., Awaitable[None]]
both_ways = pytest.mark.parametrize("rename", [by_patch, by_manifest])


async def installed() -> Bench:
    """A job that was created with its rule, and an endpoint in it."""
    bench = Bench()
    await jobs_of(bench).create(ANN, WATCH)
    await bench.add(baseline=Every(minutes(10)))
    return bench


def stored_rules(bench: Bench) -> tuple[Rule, ...]:
    return bench.tables.jobs[id_of("job")].job.rules


async def answers(bench: Bench, depth: int) -> None:
    """And a planner looks at it."""
    await bench.ran(body={"depth": depth})
    await bench.planner(rules_brain()).run_once()


async def context_of(bench: Bench) -> AnalysisContext:
    (context,) = await bench.analysis_queue.contexts_for([bench.endpoint().id], "rules")
    return context


@both_ways
@simulated
async def test_it_keeps_its_id_its_hint_and_its_cooldown(rename: Rename) -> None:
    bench = await installed()
    (rule,) = stored_rules(bench)
    assert rule.id is not None
    await answers(bench, 400)
    hint = bench.endpoint().interval_hint
    assert hint is not None
    assert (hint.rule_id, hint.brain) == (rule.id, "rules")

    await rename(bench, LONG)
    (renamed,) = stored_rules(bench)
    assert (renamed.name, renamed.id) == ("long queue", rule.id)
    await answers(bench, 5)  # it does not hold, and yet the endpoint is the rule's
    context = await context_of(bench)
    assert rules_speak_for(context)
    assert set(context.fired_at) == {rule.id}
    assert bench.endpoint().interval_hint == hint

    await bench.act(
        "probe", lambda ep, now, cron: steering.clear_hints(ep, Author.PERSON, now, cron)
    )
    await answers(bench, 400)
    assert bench.endpoint().interval_hint is None  # it rests
    await bench.sleep(3600)
    await answers(bench, 400)
    again = bench.endpoint().interval_hint
    assert again is not None
    assert (again.rule_id, again.reason) == (rule.id, "Rule long queue")


@both_ways
@simulated
async def test_another_rule_in_its_place_is_not_the_same(rename: Rename) -> None:
    bench = await installed()
    (rule,) = stored_rules(bench)
    await answers(bench, 400)
    await rename(bench, replace(LONG, when="response.depth > 200"))
    (other,) = stored_rules(bench)
    assert other.id not in (None, rule.id)
    await answers(bench, 5)
    assert not rules_speak_for(await context_of(bench))


@both_ways
@simulated
async def test_a_rule_that_is_changed_under_its_name_stays_itself(rename: Rename) -> None:
    bench = await installed()
    (rule,) = stored_rules(bench)
    await rename(bench, replace(DEEP, when="response.depth > 200"))
    assert [(changed.name, changed.id) for changed in stored_rules(bench)] == [
        ("deep queue", rule.id)
    ]


@simulated
async def test_a_persons_hint_that_sounds_like_the_rule_is_not_the_rules() -> None:
    bench = await installed()
    until_at = bench.now + minutes(60)
    reason = "Rule deep queue: I have seen it"
    await bench.act(
        "probe",
        lambda ep, now, cron: steering.pause(
            ep, until_at, Author.PERSON, reason, now, cron, user_id=ANN.user_id
        ),
    )
    assert not rules_speak_for(await context_of(bench))
