"""Looks: each brain remembers its own, and no two planners look at one endpoint together."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from cadenza.application.ports.analysis_queue import AnalysisRequest
from cadenza.domain import steering
from cadenza.domain.analysis import Attention
from cadenza.domain.endpoint import Endpoint, OnDemand
from cadenza.domain.hint import Author
from cadenza.domain.planner_policy import USUAL, PlannerPolicy
from cadenza.domain.rule import Mode, Modes
from cadenza.domain.run import Outcome, RunStatus
from cadenza.domain.session import Session, SessionEnd, ToolCall
from tests.adapters.brains.declaring import rule
from tests.contracts.harness import LEASE, OTHER_JOB, OTHER_TENANT, Store
from tests.factories import NOON, OK, id_of, minutes, seconds

BUSY = rule("true", name="busy", id=id_of("busy"))
CALM = rule("true", name="calm", id=id_of("calm"))
OTHER = Outcome(RunStatus.SUCCESS, body={"another": "answer"})


async def claimed(store: Store, holder: str = "one", **fields: Any) -> list[UUID]:
    given = {"brain": "rules", "attention": Attention.OWN_RUNS, "limit": 10, "lease": LEASE}
    request = AnalysisRequest(**{**given, "holder": holder, **fields})
    return list(await store.analysis_queue.claim_for_analysis(request))


async def session_of(store: Store, endpoint: Endpoint, **fields: Any) -> Session:
    defaults: dict[str, Any] = {
        "id": uuid4(),
        "tenant_id": endpoint.tenant_id,
        "job_id": endpoint.job_id,
        "endpoint_id": endpoint.id,
        "brain": "rules",
        "started_at": await store.clock.now(),
        "duration": seconds(1),
        "end": SessionEnd.SUBMITTED,
    }
    return Session(**{**defaults, **fields})


async def looked(store: Store, endpoint: Endpoint, holder: str = "one", **fields: Any) -> None:
    """One that knows, as a planner's does, which rules the job has no more."""
    session = await session_of(store, endpoint, **fields)
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], session.kind)
    declared = {rule.id for rule in context.job.rules}
    forgotten = tuple(rule_id for rule_id in context.fired_at if rule_id not in declared)
    await store.record(replace(session, forgotten=forgotten), holder=holder)


async def ran(store: Store, count: int = 1) -> list[Endpoint]:
    endpoints = [await store.add(f"probe {number}") for number in range(count)]
    for claim in (await store.claim()).claims:
        await store.finish(claim, takes=seconds(0))
    return endpoints


# --- Leases -----------------------------------------------------------------------------------


async def test_what_one_planner_has_claimed_no_other_is_given(store: Store) -> None:
    (endpoint,) = await ran(store)
    assert await claimed(store, "one") == [endpoint.id]
    assert await claimed(store, "two") == []
    assert await claimed(store, "one") == []  # nor itself, in a second round


async def test_two_planners_at_once_share_the_endpoints_between_them(store: Store) -> None:
    endpoints = await ran(store, 30)
    shares = await asyncio.gather(*(claimed(store, f"planner {n}", limit=7) for n in range(6)))
    given = [each for share in shares for each in share]
    assert len(given) == len(set(given))
    while more := await claimed(store, "last"):
        given += more
    assert sorted(given) == sorted(each.id for each in endpoints)


async def test_a_lease_that_is_over_is_taken_over(store: Store) -> None:
    (endpoint,) = await ran(store)
    await claimed(store, "dead")
    await store.advance(LEASE - seconds(1))
    assert await claimed(store, "heir") == []
    await store.advance(seconds(1))
    assert await claimed(store, "heir") == [endpoint.id]


async def test_one_who_comes_back_late_does_not_end_the_lease_of_its_heir(store: Store) -> None:
    (endpoint,) = await ran(store)
    await claimed(store, "late")
    await store.advance(LEASE)
    assert await claimed(store, "heir") == [endpoint.id]
    await store.analysis_queue.release([endpoint.id], "rules", "late")
    assert await claimed(store, "third") == []
    await looked(store, endpoint, "late", started_at=NOON - minutes(5))
    assert await claimed(store, "third") == []
    await store.analysis_queue.release([endpoint.id], "rules", "heir")
    assert await claimed(store, "third") == [endpoint.id]


async def test_what_was_not_looked_at_is_given_back(store: Store) -> None:
    first, second = await ran(store, 2)
    assert len(await claimed(store)) == 2
    await store.analysis_queue.release([first.id], "rules", "one")
    assert await claimed(store, "two") == [first.id]
    assert await claimed(store, "two") == []
    assert second.id != first.id


async def test_a_look_ends_its_lease_and_the_next_run_begins_another(store: Store) -> None:
    (endpoint,) = await ran(store)
    await claimed(store)
    await looked(store, endpoint)
    assert await claimed(store) == []
    await store.clock.set(NOON + minutes(1))
    await store.finish(await store.claim_one())
    assert await claimed(store, "two") == [endpoint.id]


async def test_looks_at_many_are_put_on_record_together(store: Store) -> None:
    endpoints = await ran(store, 5)
    await claimed(store)
    call = ToolCall("clear_hints", {}, {"ok": True}, took_effect=True)
    sessions = [await session_of(store, each) for each in endpoints]
    sessions.append(await session_of(store, endpoints[0], brain="other", tool_calls=(call,)))
    await store.record(*sessions, holder="one")
    assert await claimed(store) == []
    contexts = await store.analysis_queue.contexts_for([each.id for each in endpoints], "rules")
    assert all(each.last_analysis is not None for each in contexts)


# --- Each brain -------------------------------------------------------------------------------


async def test_each_brain_looks_by_itself(store: Store) -> None:
    (endpoint,) = await ran(store)
    assert await claimed(store, brain="rules") == [endpoint.id]
    assert await claimed(store, brain="llm") == [endpoint.id]
    await looked(store, endpoint, brain="rules", reasoning="calm", next_analysis_at=None)
    (of_rules,) = await store.analysis_queue.contexts_for([endpoint.id], "rules")
    (of_llm,) = await store.analysis_queue.contexts_for([endpoint.id], "llm")
    assert of_rules.last_analysis is not None
    assert of_rules.last_analysis.reasoning == "calm"
    assert of_llm.last_analysis is None


async def test_what_a_person_asks_for_counts_for_every_brain(store: Store) -> None:
    endpoint = await store.add(baseline=OnDemand())
    assert await claimed(store) == []
    await store.ask_for_analysis(endpoint)
    for brain, attention in zip(("rules", "llm", "third"), Attention, strict=True):
        since = await store.clock.now() - seconds(1)
        fields: dict[str, Any] = {"brain": brain, "attention": attention, "since": since}
        assert await claimed(store, **fields) == [endpoint.id]
        await looked(store, endpoint, brain=brain)
        assert await claimed(store, **fields) == []


async def test_the_rules_that_fired_are_remembered_with_their_time(store: Store) -> None:
    (endpoint,) = await ran(store)
    await store.set_job_rules(endpoint, BUSY, CALM)
    await looked(store, endpoint, fired=(BUSY.id, CALM.id))
    later = await store.advance(minutes(1))
    await looked(store, endpoint, fired=(BUSY.id,))
    await looked(store, endpoint)
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "rules")
    assert context.fired_at == {BUSY.id: later, CALM.id: later - minutes(1)}
    (other,) = await store.analysis_queue.contexts_for([endpoint.id], "llm")
    assert other.fired_at == {}


async def test_what_a_brain_remembers_is_there_at_its_next_look_and_for_looks_at_siblings(
    store: Store,
) -> None:
    first, second = await ran(store, 2)
    memory = {"outages": [1.5, 2.25], "down_since": None}
    await looked(store, first, memory=memory)
    await looked(store, first)  # nothing new to remember: it stays
    contexts = await store.analysis_queue.contexts_for([first.id, second.id], "rules")
    assert [context.memory for context in contexts] == [memory, None]
    assert [sibling.memory for sibling in contexts[1].siblings] == [memory]
    (other,) = await store.analysis_queue.contexts_for([first.id], "llm")
    assert other.memory is None
    await looked(store, first, memory={"outages": []})
    (context,) = await store.analysis_queue.contexts_for([first.id], "rules")
    assert context.memory == {"outages": []}


async def test_a_brain_is_told_what_only_reads(store: Store) -> None:
    reads = await store.add("reads", method="HEAD")
    writes = await store.add("writes", method="POST")
    contexts = await store.analysis_queue.contexts_for([reads.id, writes.id], "rules")
    assert [context.only_reads for context in contexts] == [True, False]


async def test_a_rule_that_is_gone_from_the_job_is_forgotten_at_the_next_look(store: Store) -> None:
    (endpoint,) = await ran(store)
    await store.set_job_rules(endpoint, BUSY, CALM)
    await looked(store, endpoint)  # the first row of this look knows of none
    await looked(store, endpoint, fired=(BUSY.id, CALM.id))
    await store.set_job_rules(endpoint, CALM)
    await looked(store, endpoint)
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "rules")
    assert set(context.fired_at) == {CALM.id}
    await store.set_job_rules(endpoint)
    await looked(store, endpoint, fired=(CALM.id,))  # one that began while the rule was there
    await store.set_job_rules(endpoint, BUSY, CALM)
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "rules")
    assert context.fired_at == {}


# --- Discovery --------------------------------------------------------------------------------


@pytest.mark.parametrize("attention", list(Attention))
async def test_only_jobs_in_which_something_happened_since_are_read(
    store: Store, attention: Attention
) -> None:
    early = await store.add("early")
    await store.finish(await store.claim_one(), takes=seconds(0))
    since = await store.advance(seconds(10))
    late = await store.add(
        "late", tenant_id=OTHER_TENANT, job_id=OTHER_JOB, created_at=since + seconds(1)
    )
    await store.clock.set(since + seconds(1))
    await store.finish(await store.claim_one(), OK, takes=seconds(0))
    assert await claimed(store, attention=attention, since=since, limit=1) == [late.id]
    assert await claimed(store, attention=attention, since=since) == []
    assert await claimed(store, attention=attention) == [early.id]


async def test_a_sibling_of_what_ran_since_is_found_with_it(store: Store) -> None:
    (runner,) = await ran(store)
    sleeper = await store.add("sleeper", baseline=OnDemand())
    since = NOON - seconds(1)
    found = await claimed(store, attention=Attention.EVERY_RUN, since=since)
    assert set(found) == {runner.id, sleeper.id}


async def test_a_siblings_pause_is_found_when_everything_is_read(store: Store) -> None:
    watched = await store.add("watched")
    sibling = await store.add("sibling", baseline=OnDemand())
    await store.finish(await store.claim_one())
    await looked(store, watched)
    await store.advance(minutes(5))
    await store.endpoints.change_endpoint(
        sibling.tenant_id,
        sibling.id,
        lambda ep, now, cron: steering.pause(ep, None, Author.PERSON, "", now, cron),
    )
    assert await claimed(store, attention=Attention.ON_CHANGE) == [watched.id]


async def test_those_whose_state_changed_come_first(store: Store) -> None:
    endpoints = await ran(store, 3)
    await claimed(store)
    for each in endpoints:
        await looked(store, each)
    await store.clock.set(NOON + minutes(1))
    claims = {each.endpoint_id: each for each in (await store.claim()).claims}
    await store.finish(claims[endpoints[0].id], takes=seconds(1))
    await store.finish(claims[endpoints[1].id], takes=seconds(1))
    await store.finish(claims[endpoints[2].id], takes=seconds(1), outcome=OTHER)
    assert await claimed(store, limit=1) == [endpoints[2].id]
    assert await claimed(store) == [endpoints[0].id, endpoints[1].id]


# --- Modes ------------------------------------------------------------------------------------


async def test_a_job_in_which_the_planner_is_off_is_passed_over(store: Store) -> None:
    endpoint = await store.add(planner=USUAL.all_in(Mode.OFF))
    await store.finish(await store.claim_one())
    assert await claimed(store) == []
    assert await claimed(store, brain="llm") == []
    await store.set_policy(endpoint, USUAL)
    assert await claimed(store) == [endpoint.id]


async def test_a_tenant_has_a_mode_for_each_kind_of_brain(store: Store) -> None:
    (endpoint,) = await ran(store)
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "rules")
    assert context.modes == Modes(rules=Mode.ACT, llm=Mode.ADVISE, detectors=Mode.ACT)
    off = {"rules": Mode.OFF, "detectors": Mode.OFF}
    await store.set_tenant_modes(endpoint.tenant_id, **off, llm=Mode.ACT)
    assert await claimed(store, brain="rules") == []
    assert await claimed(store, brain="llm") == [endpoint.id]
    await store.set_policy(endpoint, PlannerPolicy(rules=Mode.ADVISE))
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "rules")
    assert context.modes == Modes(rules=Mode.ADVISE, llm=Mode.ACT, detectors=Mode.OFF)
    assert await claimed(store, brain="rules") == [endpoint.id]


@pytest.mark.parametrize("only", ["rules", "detectors"])
async def test_the_brain_of_rules_looks_where_either_rules_or_detectors_may(
    store: Store, only: str
) -> None:
    policy = replace(USUAL.all_in(Mode.OFF), **{only: Mode.ADVISE})
    endpoint = await store.add(planner=policy)
    await store.finish(await store.claim_one())
    assert await claimed(store, brain="rules") == [endpoint.id]


async def test_what_an_owner_lets_planners_do_is_stored_as_it_is(store: Store) -> None:
    policy = PlannerPolicy(
        rules=Mode.ACT,
        detectors=Mode.OFF,
        llm=Mode.ADVISE,
        relax=1.5,
        extra_runs=0.0,
        max_pause=timedelta(0),
        min_gap=minutes(10),
        model="llama3.1",
        prompt="Be \u00e4ngstlich",
        tokens_per_day=100_000,
        money_per_day=0.5,
        tokens_per_session=9_000,
        account="shop",
    )
    endpoint = await store.add(planner=policy)
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "rules")
    assert context.job.planner == policy
    async with store.transaction() as tx:
        stored = await tx.lock_job(endpoint.tenant_id, endpoint.job_id)
    assert stored.job.planner == policy


async def test_what_is_gone_by_now_is_left_out(store: Store) -> None:
    (endpoint,) = await ran(store)
    found = await store.analysis_queue.contexts_for([id_of("nobody"), endpoint.id], "rules")
    assert [each.endpoint.id for each in found] == [endpoint.id]
    gone = await session_of(store, endpoint, endpoint_id=id_of("nobody"), tokens=1)
    await store.record(gone, await session_of(store, endpoint), holder="one")
    assert await claimed(store) == []


# --- The same refusal again -------------------------------------------------------------------


def refused(endpoint: Endpoint, at: datetime, kind: str = "left-alone") -> Session:
    call = ToolCall("clear_hints", {}, {"ok": False, "error": str(at)}, refusal=kind)
    ids = (uuid4(), endpoint.tenant_id, endpoint.job_id, endpoint.id)
    took = seconds(1)
    return Session(*ids, "rules", at, took, SessionEnd.SUBMITTED, (call,), f"at {at}")


async def test_the_same_refusal_again_is_a_count_for_a_day(store: Store) -> None:
    endpoint, other = await store.add(), await store.add("other")
    first = refused(endpoint, NOON)
    await store.record(first)
    await store.record(refused(endpoint, NOON + minutes(1)), refused(other, NOON + minutes(1)))
    await store.record(refused(endpoint, NOON + minutes(2), "too-many-changes"))
    await store.record(refused(endpoint, NOON + minutes(3)))
    late = NOON + minutes(3) + timedelta(days=1)
    await store.record(refused(endpoint, late))
    sessions = await store.sessions_of(endpoint)
    assert [(session.repeats, session.last_at) for session in sessions] == [
        (2, NOON + minutes(3)),
        (0, None),
        (0, None),
    ]
    assert sessions[0] == replace(first, repeats=2, last_at=NOON + minutes(3))
    assert [session.repeats for session in await store.sessions_of(other)] == [0]


async def test_a_session_that_did_something_is_never_a_count(store: Store) -> None:
    endpoint = await store.add()
    done = ToolCall("clear_hints", {}, {"ok": True}, took_effect=True)
    for minute in range(3):
        session = refused(endpoint, NOON + minutes(minute))
        await store.record(replace(session, tool_calls=(*session.tool_calls, done)))
    assert [session.repeats for session in await store.sessions_of(endpoint)] == [0, 0, 0]
