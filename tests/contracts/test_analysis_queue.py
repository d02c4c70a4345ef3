"""What a planner reads: who needs a look, the context, the answers, and the quota."""

import asyncio
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import pytest

from cadenza.application.ports.analysis_queue import AnalysisRequest
from cadenza.application.ports.planning import Reservation
from cadenza.application.sessions import record_skipped
from cadenza.domain import steering
from cadenza.domain.analysis import LONGEST_RECENT_BODY, RECENT_RESPONSES, AnalysisReason, Attention
from cadenza.domain.endpoint import Endpoint, Every, Job, OnDemand
from cadenza.domain.hint import Author
from cadenza.domain.quota import OverLimit
from cadenza.domain.run import Outcome, RunStatus
from cadenza.domain.session import Session, SessionEnd, ToolCall
from cadenza.domain.target import HttpTarget, Secret
from tests.contracts.harness import LEASE, OTHER_JOB, OTHER_TENANT, Store
from tests.factories import FAILED, NOON, OK, id_of, interval_hint, make_endpoint, minutes, seconds

JOB = Job(id_of("job"), id_of("tenant"), "job")


async def look(store: Store, endpoint: Endpoint, **fields: object) -> None:
    defaults = {
        "id": uuid4(),
        "tenant_id": endpoint.tenant_id,
        "job_id": endpoint.job_id,
        "endpoint_id": endpoint.id,
        "brain": "test",
        "started_at": await store.clock.now(),
        "duration": seconds(1),
        "end": SessionEnd.SUBMITTED,
        "reasoning": "all is well",
    }
    await store.record(Session(**{**defaults, **fields}))  # pyright: ignore


async def claimed(
    store: Store, attention: Attention = Attention.OWN_RUNS, limit: int = 10, **fields: Any
) -> list[UUID]:
    """What a planner of this name would look at now, leased to it."""
    given = {"brain": "test", "holder": "test", "lease": LEASE, **fields}
    return list(
        await store.analysis_queue.claim_for_analysis(
            AnalysisRequest(attention=attention, limit=limit, **given)
        )
    )


async def found(
    store: Store, attention: Attention = Attention.OWN_RUNS, limit: int = 10, **fields: Any
) -> list[UUID]:
    """The same, given back at once."""
    ids = await claimed(store, attention, limit, **fields)
    await store.analysis_queue.release(ids, fields.get("brain", "test"), "test")
    return ids


async def test_an_endpoint_that_ran_is_looked_at_once(store: Store) -> None:
    endpoint = await store.add()
    assert await found(store, Attention.OWN_RUNS, 10) == []
    await store.finish(await store.claim_one())
    assert await found(store, Attention.OWN_RUNS, 10) == [endpoint.id]
    await look(store, endpoint)
    assert await found(store, Attention.OWN_RUNS, 10) == []


async def test_a_cheap_brain_also_looks_when_a_sibling_ran(store: Store) -> None:
    watched = await store.add("watched")
    sleeper = await store.add("sleeper", baseline=OnDemand())
    await store.add("stranger", tenant_id=OTHER_TENANT, job_id=OTHER_JOB, baseline=OnDemand())
    await store.finish(await store.claim_one())
    ids = await found(store, Attention.EVERY_RUN, 10)
    assert set(ids) == {watched.id, sleeper.id}


async def test_a_costly_brain_looks_again_when_it_failed_or_had_asked_to(store: Store) -> None:
    endpoint = await store.add()
    await store.finish(await store.claim_one())

    async def wanted() -> list[UUID]:
        return await found(store, Attention.ON_CHANGE, 10)

    assert await wanted() == [endpoint.id]
    await look(store, endpoint, next_analysis_at=NOON + minutes(30))
    await store.clock.set(NOON + minutes(1))
    await store.finish(await store.claim_one())
    assert await wanted() == []
    await store.clock.set(NOON + minutes(2))
    await store.finish(await store.claim_one(), FAILED)
    assert await wanted() == [endpoint.id]  # a failure streak began
    await look(store, endpoint, next_analysis_at=NOON + minutes(8), reason=AnalysisReason.STREAK)
    await store.clock.set(NOON + minutes(4) + seconds(3))
    await store.finish(await store.claim_one())
    assert await wanted() == [endpoint.id]  # and ended
    await look(store, endpoint, next_analysis_at=NOON + minutes(10), reason=AnalysisReason.STREAK)
    await store.clock.set(NOON + minutes(6))
    await store.finish(await store.claim_one())
    assert await wanted() == []
    await store.clock.set(NOON + minutes(10))
    assert await wanted() == [endpoint.id]


async def test_one_that_flaps_is_not_looked_at_with_every_run(store: Store) -> None:
    endpoint = await store.add(baseline=Every(seconds(15)), max_interval=seconds(15))
    looks: list[float] = []
    for number in range(40):
        await store.clock.set(NOON + seconds(15 * number))
        await store.finish(await store.claim_one(), (OK, FAILED)[number % 2])
        request = AnalysisRequest("test", Attention.ON_CHANGE, "test", 10, LEASE)
        for why in (await store.analysis_queue.claim_for_analysis(request)).values():
            looks.append(15 * number)
            await look(store, endpoint, reason=why, next_analysis_at=NOON + minutes(240))
    gaps = [later - sooner for sooner, later in pairwise(looks)]
    assert looks[:2] == [0, 15]  # the first failure is seen at once
    assert min(gaps[1:]) >= 60


async def test_a_failing_session_is_not_repeated_before_its_time_unless_a_person_asks(
    store: Store,
) -> None:
    endpoint = await store.add()
    await store.finish(await store.claim_one())
    again = NOON + minutes(20)
    await look(store, endpoint, failed_looks=3, trouble="no submit", next_analysis_at=again)
    await store.clock.set(NOON + minutes(19))
    await store.finish(await store.claim_one(), FAILED)
    assert await found(store, Attention.ON_CHANGE) == []
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "test")
    assert context.failed_looks == 3
    await store.clock.set(again)
    assert await found(store, Attention.ON_CHANGE) == [endpoint.id]
    await look(store, endpoint, failed_looks=4, next_analysis_at=again + minutes(40))
    await store.advance(seconds(1))
    assert await found(store, Attention.ON_CHANGE) == []
    await store.ask_for_analysis(endpoint)
    assert await found(store, Attention.ON_CHANGE) == [endpoint.id]


async def test_what_a_person_asks_for_comes_before_all_others(store: Store) -> None:
    endpoints = [await store.add(f"probe {number}") for number in range(4)]
    for claim in (await store.claim()).claims:
        await store.finish(claim)
    await store.ask_for_analysis(endpoints[2])
    for attention in Attention:
        assert await found(store, attention, limit=1) == [endpoints[2].id]


async def test_jobs_can_be_passed_over_like_tenants(store: Store) -> None:
    await store.add()
    other = await store.add("other", job_id=OTHER_JOB)
    for claim in (await store.claim()).claims:
        await store.finish(claim)
    assert await found(store, without=frozenset({id_of("job")})) == [other.id]


async def test_why_no_session_is_held_is_recorded_once(store: Store) -> None:
    endpoint = await store.add()
    session = Session(
        uuid4(),
        endpoint.tenant_id,
        endpoint.job_id,
        endpoint.id,
        "test",
        NOON,
        seconds(0),
        end=SessionEnd.SKIPPED,
        trouble="no credits",
    )
    assert await record_skipped(store.port, session)
    again = replace(session, id=uuid4())
    assert not await record_skipped(store.port, again)
    assert await record_skipped(store.port, replace(again, trouble="a limit"))
    await store.finish(await store.claim_one())
    assert await found(store, Attention.ON_CHANGE) == [endpoint.id]  # it stays to be done
    await look(store, endpoint)
    assert await record_skipped(store.port, replace(session, id=uuid4()))


async def test_a_costly_brain_looks_when_a_sibling_was_steered_not_when_it_answers_anew(
    store: Store,
) -> None:
    endpoint = await store.add("watched")
    sibling = await store.add("sibling", baseline=OnDemand())
    await store.finish(await store.claim_one())
    await look(store, endpoint)
    await look(store, sibling)
    await store.advance(seconds(1))
    assert await found(store, Attention.ON_CHANGE, 10) == []
    await store.endpoints.change_endpoint(
        sibling.tenant_id,
        sibling.id,
        lambda ep, now, cron: steering.pause(ep, None, Author.PERSON, "", now, cron),
    )
    assert await found(store, Attention.ON_CHANGE, 10) == []  # it was looked at just now
    await store.advance(minutes(5))
    assert await found(store, Attention.ON_CHANGE, 10) == [endpoint.id]


async def test_the_archived_are_not_looked_at_and_the_limit_holds(store: Store) -> None:
    for number in range(3):
        await store.add(f"probe {number}")
    gone = await store.add("gone")
    for claim in (await store.claim()).claims:
        await store.finish(claim)
    await store.endpoints.change_endpoint(gone.tenant_id, gone.id, steering.archive)
    assert len(await found(store, Attention.OWN_RUNS, 10)) == 3
    assert len(await found(store, Attention.OWN_RUNS, 2)) == 2


async def test_the_material_tells_health_siblings_and_the_last_analysis(store: Store) -> None:
    endpoint = await store.add("watched")
    await store.add("sibling", baseline=OnDemand())
    await store.finish(await store.claim_one(), takes=seconds(2))
    await store.clock.set(NOON + minutes(1))
    await store.finish(await store.claim_one(), FAILED, takes=seconds(4))
    await look(store, endpoint)
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "test")
    assert context.endpoint == await store.get(endpoint)
    assert context.job.description == "watches things"
    assert context.sibling_names == ("sibling",)
    assert [(w.runs, w.successes) for w in context.health.windows] == [(2, 1)] * 3
    assert context.health.mean_duration == seconds(3)
    assert context.health.failure_streak == 1
    assert context.last_analysis is not None
    assert context.last_analysis.reasoning == "all is well"


async def test_no_runs_is_not_a_success_rate_of_zero(store: Store) -> None:
    endpoint = await store.add(baseline=OnDemand())
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "test")
    assert [window.success_rate for window in context.health.windows] == [None] * 3
    assert context.last_analysis is None


async def test_responses_come_newest_first_in_pages(store: Store) -> None:
    endpoint = await store.add()
    for number in range(4):
        await store.clock.set(NOON + minutes(number))
        await store.finish(
            await store.claim_one(), Outcome(RunStatus.SUCCESS, body={"number": number})
        )
    bodies = [each.body for each in await store.analysis_queue.responses(endpoint.id, limit=2)]
    assert bodies == [{"number": 3}, {"number": 2}]
    page = await store.analysis_queue.responses(endpoint.id, limit=10, offset=3)
    assert [each.body for each in page] == [{"number": 0}]


async def test_siblings_come_with_their_latest_answer(store: Store) -> None:
    endpoint = await store.add("watched", baseline=OnDemand())
    await store.add("fresh", baseline=OnDemand())
    await store.add("sibling")
    await store.add("stranger", tenant_id=OTHER_TENANT, job_id=OTHER_JOB, baseline=OnDemand())
    await store.finish(await store.claim_one(), Outcome(RunStatus.SUCCESS, body={"ready": True}))
    siblings = await store.analysis_queue.siblings(endpoint.id, limit=10)
    found = {each.endpoint.name: each for each in siblings}
    assert set(found) == {"fresh", "sibling"}
    assert found["fresh"].latest is None
    latest = found["sibling"].latest
    assert latest is not None
    assert (latest.body, latest.status) == ({"ready": True}, RunStatus.SUCCESS)


async def test_siblings_come_by_name_in_pages_without_the_one_that_asks(store: Store) -> None:
    for name in ("d", "b", "asker", "c", "a"):
        await store.add(name, baseline=OnDemand())
    asker = make_endpoint("asker").id
    pages = [
        await store.analysis_queue.siblings(asker, limit=2, offset=offset) for offset in (0, 2, 4)
    ]
    names = [[sibling.endpoint.name for sibling in page] for page in pages]
    assert names == [["a", "b"], ["c", "d"], []]


async def test_answers_carry_the_status_and_the_kind_of_error(store: Store) -> None:
    endpoint = await store.add("watched")
    sibling = await store.add("sibling", baseline=OnDemand())
    away = Outcome(RunStatus.FAILURE, "connect", "nobody is there")
    for number, outcome in enumerate((OK, FAILED, away)):
        await store.clock.set(NOON + minutes(10 * number))
        await store.finish(await store.claim_one(), outcome)
    expected = [(None, "connect"), (FAILED.status_code, FAILED.error_kind), (OK.status_code, None)]
    responses = await store.analysis_queue.responses(endpoint.id, limit=3)
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "test")
    (shown,) = await store.analysis_queue.siblings(sibling.id, limit=1)
    assert [(answer.status_code, answer.error_kind) for answer in responses] == expected
    assert [(answer.status_code, answer.error_kind) for answer in context.recent] == expected
    assert shown.latest is not None
    assert (shown.latest.status_code, shown.latest.error_kind) == expected[0]


async def test_endings_are_those_of_the_latest_runs_newest_first(store: Store) -> None:
    endpoint = await store.add()
    for number, outcome in enumerate((OK, FAILED, OK)):
        await store.clock.set(NOON + minutes(10 * number))
        await store.finish(await store.claim_one(), outcome)
    await store.advance(minutes(10))
    await store.claim_one()  # it has not ended
    endings = await store.analysis_queue.endings(endpoint.id, 2)
    failed = (RunStatus.FAILURE, FAILED.status_code, FAILED.error_kind)
    assert [(ending.status, ending.status_code, ending.error_kind) for ending in endings] == [
        (RunStatus.SUCCESS, OK.status_code, None),
        failed,
    ]
    responses = await store.analysis_queue.responses(endpoint.id, limit=2)
    assert [ending.finished_at for ending in endings] == [
        answer.finished_at for answer in responses
    ]
    assert len(await store.analysis_queue.endings(endpoint.id, 100)) == 3


async def test_the_secrets_of_a_job_are_those_of_all_its_endpoints(store: Store) -> None:
    secrets = {"one": "s3cret-of-one", "gone": "s3cret-of-gone", "foreign": "s3cret-of-another"}
    owner = await store.add("plain", baseline=OnDemand())
    await store.add("first of the other", tenant_id=OTHER_TENANT, job_id=OTHER_JOB)
    for name, value in secrets.items():
        other = {"tenant_id": OTHER_TENANT, "job_id": OTHER_JOB} if name == "foreign" else {}
        endpoint = make_endpoint(name, baseline=OnDemand(), **other)
        target = HttpTarget("http://x.example/", secret_headers={"x-key": Secret(value)})
        await store.endpoints.add_endpoint(endpoint, target)
    gone = make_endpoint("gone")
    await store.endpoints.change_endpoint(gone.tenant_id, gone.id, steering.archive)
    async with store.transaction() as tx:
        known = await tx.secrets_of_job(owner.tenant_id, owner.job_id)
        assert {secret.value for secret in known} == {"s3cret-of-one", "s3cret-of-gone"}
        assert not await tx.secrets_of_job(OTHER_TENANT, owner.job_id)


async def test_a_session_with_hostile_text_is_stored(store: Store) -> None:
    endpoint = await store.add()
    call = ToolCall("clear_hints", {"reason": "\u0000\ud800"}, {"ok": False})
    await look(store, endpoint, tool_calls=(call,), reasoning="\u0000 nul", warnings=("\ud800",))
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "test")
    assert context.last_analysis is not None


async def test_parallel_sessions_cannot_overspend(store: Store) -> None:
    await store.add()
    given = await asyncio.gather(*(store.quota.reserve(JOB, 300) for _ in range(10)))
    granted = [each for each in given if isinstance(each, Reservation)]
    assert len(granted) == 3
    for reservation in granted:
        await store.quota.settle(reservation, used=10)
    assert isinstance(await store.quota.reserve(JOB, 971), OverLimit)
    assert isinstance(await store.quota.reserve(JOB, 970), Reservation)


async def test_settling_again_changes_nothing(store: Store) -> None:
    await store.add()
    first = await store.quota.reserve(JOB, 300)
    second = await store.quota.reserve(JOB, 300)
    assert isinstance(first, Reservation)
    assert isinstance(second, Reservation)
    for _ in range(3):
        await store.quota.settle(first, used=100)
    assert isinstance(await store.quota.reserve(JOB, 601), OverLimit)
    assert isinstance(await store.quota.reserve(JOB, 600), Reservation)


async def test_money_is_counted_beside_tokens(store: Store) -> None:
    await store.add()
    first = await store.quota.reserve(JOB, 1, 1.5)
    assert isinstance(first, Reservation)
    assert isinstance(await store.quota.reserve(JOB, 1, 0.75), OverLimit)
    told = await store.quota.settle(first, 1, 1.75)
    assert [(each.limit_name, each.percent, each.used) for each in told] == [
        ("money_per_month", 80, 1.75)
    ]
    assert isinstance(await store.quota.reserve(JOB, 1, 0.5), OverLimit)
    assert isinstance(await store.quota.reserve(JOB, 1, 0.25), Reservation)


async def test_a_warning_is_told_once(store: Store) -> None:
    await store.add()
    told: list[object] = []
    for _ in range(5):
        reservation = await store.quota.reserve(JOB, 200)
        assert isinstance(reservation, Reservation)
        for _ in range(2):
            told += [each.percent for each in await store.quota.settle(reservation, used=200)]
    assert told == [80, 100]


async def test_a_new_month_is_a_new_allowance(store: Store) -> None:
    await store.add()
    assert isinstance(await store.quota.reserve(JOB, 1000), Reservation)
    assert isinstance(await store.quota.reserve(JOB, 1), OverLimit)
    await store.advance(minutes(60 * 24 * 31))
    assert isinstance(await store.quota.reserve(JOB, 1000), Reservation)


async def test_tenants_can_be_passed_over(store: Store) -> None:
    await store.add()
    other = await store.add("other", tenant_id=OTHER_TENANT, job_id=OTHER_JOB)
    for claim in (await store.claim()).claims:
        await store.finish(claim)
    without = frozenset({id_of("tenant")})
    assert await found(store, without=without) == [other.id]


async def test_renewing_a_hint_is_no_news_for_siblings(store: Store) -> None:
    endpoint = await store.add("watched")
    sibling = await store.add("sibling", baseline=OnDemand())
    await store.finish(await store.claim_one())

    async def hint(until: int) -> None:
        given = interval_hint(minutes(1), NOON + minutes(until))
        await store.endpoints.change_endpoint(
            sibling.tenant_id,
            sibling.id,
            lambda ep, now, cron: steering.suggest_interval(ep, given, now, cron),
        )

    await hint(10)
    await store.advance(seconds(1))
    await look(store, endpoint)
    await look(store, sibling)
    await store.advance(seconds(1))
    await hint(20)
    assert await found(store, Attention.ON_CHANGE, 10) == []


async def test_the_material_brings_the_recent_answers_newest_first(store: Store) -> None:
    endpoint = await store.add("watched")
    for number in range(3):
        await store.clock.set(NOON + minutes(number))
        answered = Outcome(RunStatus.SUCCESS, body={"depth": number}, status_code=200 + number)
        await store.finish(await store.claim_one(), answered, takes=seconds(2))
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "test")
    assert [each.body for each in context.recent] == [{"depth": n} for n in (2, 1, 0)]
    assert [each.status_code for each in context.recent] == [202, 201, 200]
    newest = context.recent[0]
    assert (newest.slot_at, newest.duration) == (NOON + minutes(2), seconds(2))
    assert list(context.recent) == list(await store.analysis_queue.responses(endpoint.id, limit=9))


async def test_the_material_brings_no_more_answers_than_a_brain_can_use(store: Store) -> None:
    endpoint = await store.add("watched")
    for number in range(RECENT_RESPONSES + 2):
        await store.clock.set(NOON + minutes(number))
        await store.finish(await store.claim_one())
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "test")
    assert len(context.recent) == RECENT_RESPONSES
    assert context.recent[0].slot_at == NOON + minutes(RECENT_RESPONSES + 1)


async def test_answers_are_in_the_order_of_their_slots_whatever_ended_last(store: Store) -> None:
    """A person's run takes the present as its slot, while an older slot is still due."""
    endpoint = await store.add("watched")
    await store.clock.set(NOON + minutes(1))
    await store.endpoints.change_endpoint(
        endpoint.tenant_id,
        endpoint.id,
        lambda endpoint, now, _: steering.request_run_now(endpoint, now),
    )
    for depth in (1, 2):
        await store.finish(
            await store.claim_one(), Outcome(RunStatus.SUCCESS, body={"depth": depth})
        )
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "test")
    slots = [response.slot_at for response in context.recent]
    assert slots == sorted(slots, reverse=True)
    assert [response.body for response in context.recent] == [{"depth": 1}, {"depth": 2}]
    assert list(context.recent) == list(await store.analysis_queue.responses(endpoint.id, limit=9))


@pytest.mark.parametrize(
    ("body", "is_kept"),
    [
        ("x" * (LONGEST_RECENT_BODY - 2), True),  # and the two quotes around it
        ("x" * (LONGEST_RECENT_BODY - 1), False),
        ({"rows": ["é" * 10] * 500}, True),
        ({"rows": ["é" * 10] * 600}, False),
    ],
)
async def test_a_long_body_is_left_out_of_the_recent_answers(
    store: Store, body: Any, is_kept: bool
) -> None:
    endpoint = await store.add("watched")
    await store.finish(await store.claim_one(), Outcome(RunStatus.SUCCESS, body=body))
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "test")
    assert context.recent[0].body == (body if is_kept else None)


async def test_the_material_of_many_brings_each_its_own_siblings_by_name(store: Store) -> None:
    second = await store.add("b second")
    first = await store.add("a first")
    idle = await store.add("c idle", baseline=OnDemand())
    gone = await store.add("d gone", baseline=OnDemand())
    stranger = await store.add("stranger", tenant_id=OTHER_TENANT, job_id=OTHER_JOB)
    await store.endpoints.change_endpoint(gone.tenant_id, gone.id, steering.archive)
    for claim in (await store.claim()).claims:
        body = {"from": claim.endpoint_name}
        await store.finish(claim, Outcome(RunStatus.SUCCESS, body=body, status_code=200))
    asked = [second.id, stranger.id, first.id, idle.id]
    contexts = await store.analysis_queue.contexts_for(asked, "test")
    assert [each.endpoint.id for each in contexts] == asked
    assert [each.sibling_names for each in contexts] == [
        ("a first", "c idle"),
        (),
        ("b second", "c idle"),
        ("a first", "b second"),
    ]
    for context in contexts:
        found = [each.endpoint.name for each in context.siblings]
        assert tuple(found) == context.sibling_names
    of_second = contexts[0].siblings
    assert of_second[0].endpoint == await store.get(first)
    assert of_second[0].latest is not None
    assert of_second[0].latest.body == {"from": "a first"}
    assert of_second[0].latest.status_code == 200
    assert of_second[1].latest is None


async def test_health_tells_how_often_it_went_down_and_when_it_last_changed(store: Store) -> None:
    endpoint = await store.add("watched", max_interval=minutes(1))
    cancelled = Outcome(RunStatus.CANCELLED)
    lives = [FAILED, OK, FAILED, FAILED, cancelled, OK, cancelled, FAILED, OK, OK]
    ended = [NOON]
    for number, outcome in enumerate(lives):
        await store.clock.set(NOON + minutes(number))
        await store.finish(await store.claim_one(), outcome)
        ended.append(await store.clock.now())
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "test")
    assert context.health.outages == 2  # it is not known how the first failure began
    assert context.health.changed_at == ended[9]
    await store.clock.set(NOON + minutes(24 * 60 + 30))
    (context,) = await store.analysis_queue.contexts_for([endpoint.id], "test")
    assert (context.health.outages, context.health.changed_at) == (0, None)


async def test_health_follows_the_clock_and_a_reset_though_nothing_runs(store: Store) -> None:
    endpoint = await store.add()
    await store.finish(await store.claim_one(), FAILED)

    async def counts() -> tuple[list[int], int]:
        (context,) = await store.analysis_queue.contexts_for([endpoint.id], "test")
        return [each.runs for each in context.health.windows], context.health.failure_streak

    assert await counts() == ([1, 1, 1], 1)
    await store.endpoints.change_endpoint(endpoint.tenant_id, endpoint.id, steering.reset_failures)
    assert await counts() == ([1, 1, 1], 0)
    for later, expected in ((59, [1, 1, 1]), (2, [0, 1, 1]), (240, [0, 0, 1]), (1200, [0, 0, 0])):
        await store.advance(minutes(later))
        assert await counts() == (expected, 0)
