"""Suggestions: open until somebody accepts one or its time is over, and accepted once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import pytest

from cadenza.domain import steering
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import NotFound, Refused
from cadenza.domain.hint import Author, IntervalHint
from cadenza.domain.planner_policy import USUAL
from cadenza.domain.rule import Mode
from cadenza.domain.session import Session, SessionEnd, ToolCall
from cadenza.domain.suggestion import Suggestion
from tests.contracts.harness import OTHER_TENANT, Store
from tests.factories import NOON, minutes, seconds

READ = ToolCall("get_latest_response", {}, {"ok": True})


def suggestion(**fields: Any) -> ToolCall:
    given = {"suggested": True, "holds_until": NOON + minutes(30), **fields}
    return ToolCall("propose_interval", {"interval_ms": 30_000}, {"ok": True}, **given)


async def session(store: Store, endpoint: Endpoint, *calls: ToolCall, **fields: Any) -> Session:
    made = Session(
        **{
            "id": uuid4(),
            "tenant_id": endpoint.tenant_id,
            "job_id": endpoint.job_id,
            "endpoint_id": endpoint.id,
            "brain": "llm openai gpt",
            "started_at": await store.clock.now(),
            "duration": seconds(1),
            "end": SessionEnd.SUBMITTED,
            "tool_calls": calls,
            "reasoning": "busy",
            **fields,
        }
    )
    await store.record(made)
    return made


@asynccontextmanager
async def accepting(
    store: Store, tenant_id: UUID, session_id: UUID, call: int
) -> AsyncIterator[Suggestion]:
    """The transaction in which a person accepts it."""
    async with store.transaction() as tx:
        suggestion = await tx.lock_suggestion(tenant_id, session_id, call)
        now = await tx.time()
        suggestion.check_open(now)
        await tx.mark_accepted(suggestion, "user ann", now + minutes(60))
        yield suggestion


async def take(store: Store, made: Session, call: int = 0) -> Suggestion:
    async with accepting(store, made.tenant_id, made.id, call) as taken:
        await asyncio.sleep(0)
    return taken


async def test_what_was_suggested_is_open_with_all_that_it_says(store: Store) -> None:
    endpoint = await store.add()
    done = ToolCall(
        "clear_hints", {}, {"ok": True}, took_effect=True, holds_until=NOON + minutes(9)
    )
    made = await session(store, endpoint, READ, suggestion(), done)
    (found,) = await store.suggestions.open_suggestions(endpoint.tenant_id, 10)
    assert (found.session_id, found.call, found.endpoint_name) == (made.id, 1, "probe")
    assert (found.tool, found.arguments) == ("propose_interval", {"interval_ms": 30_000})
    assert (found.brain, found.reasoning, found.suggested_at) == ("llm openai gpt", "busy", NOON)
    assert found.open_until == NOON + minutes(30)
    assert list(await store.suggestions.open_suggestions(OTHER_TENANT, 10)) == []


async def test_the_newest_come_first_and_the_limit_holds(store: Store) -> None:
    endpoint = await store.add()
    made = [await session(store, endpoint, suggestion())]
    await store.advance(minutes(1))
    made.append(await session(store, endpoint, suggestion()))
    found = await store.suggestions.open_suggestions(endpoint.tenant_id, 10)
    assert [each.session_id for each in found] == [made[1].id, made[0].id]
    (newest,) = await store.suggestions.open_suggestions(endpoint.tenant_id, 1)
    assert newest.session_id == made[1].id


async def test_of_many_who_accept_at_once_one_does(store: Store) -> None:
    endpoint = await store.add()
    made = await session(store, endpoint, suggestion())
    ends = await asyncio.gather(
        *(take(store, made) for _ in range(5)),
        return_exceptions=True,
    )
    assert sum(isinstance(each, Refused) for each in ends) == 4
    assert list(await store.suggestions.open_suggestions(endpoint.tenant_id, 10)) == []
    with pytest.raises(Refused, match="accepted by user ann"):
        await take(store, made)


@pytest.mark.parametrize("error", [Refused("no"), asyncio.CancelledError()], ids=["no", "cut off"])
async def test_what_could_not_be_done_is_open_again(store: Store, error: BaseException) -> None:
    endpoint = await store.add()
    made = await session(store, endpoint, suggestion())
    with pytest.raises(type(error)):
        async with accepting(store, endpoint.tenant_id, made.id, 0) as taken:
            raise error
    assert list(await store.suggestions.open_suggestions(endpoint.tenant_id, 10)) == [taken]
    assert await take(store, made) == taken


async def test_what_is_past_its_time_is_gone(store: Store) -> None:
    endpoint = await store.add()
    made = await session(store, endpoint, suggestion(), suggestion(holds_until=NOON + minutes(90)))
    await store.clock.set(NOON + minutes(30))
    (left,) = await store.suggestions.open_suggestions(endpoint.tenant_id, 10)
    assert left.call == 1
    with pytest.raises(Refused, match="could be accepted until"):
        await take(store, made)


async def test_only_suggestions_of_ones_own_can_be_accepted(store: Store) -> None:
    endpoint = await store.add()
    made = await session(store, endpoint, READ, suggestion())
    for tenant_id, session_id, call in (
        (endpoint.tenant_id, made.id, 0),
        (endpoint.tenant_id, made.id, 7),
        (endpoint.tenant_id, uuid4(), 1),
        (OTHER_TENANT, made.id, 1),
    ):
        with pytest.raises(NotFound):
            async with accepting(store, tenant_id, session_id, call):
                pytest.fail("it was accepted")


async def test_a_brain_is_shown_what_it_has_suggested_before(store: Store) -> None:
    endpoint = await store.add(planner=USUAL.all_in(Mode.ADVISE))
    made = await session(store, endpoint, READ, suggestion())

    async def waiting(brain: str) -> list[str]:
        (context,) = await store.analysis_queue.contexts_for([endpoint.id], brain)
        return [each.tool for each in context.waiting]

    assert await waiting("llm") == ["propose_interval"]
    assert await waiting("rules") == []
    await take(store, made, 1)
    assert await waiting("llm") == []


async def test_the_runs_of_a_session_are_those_that_its_hint_chose(store: Store) -> None:
    endpoint = await store.add()
    await store.finish(await store.claim_one())
    call = ToolCall(
        "propose_interval",
        {},
        {"ok": True, "endpoint": "probe"},
        took_effect=True,
        holds_until=NOON + minutes(3),
    )
    made = await session(store, endpoint, call)
    hint = IntervalHint(seconds(30), NOON + minutes(1.2), Author.PLANNER, "", made.id)
    await store.endpoints.change_endpoint(
        endpoint.tenant_id,
        endpoint.id,
        lambda ep, now, cron: steering.suggest_interval(ep, hint, now, cron),
    )
    for _ in range(3):  # two by the hint, then the baseline again
        await store.clock.set((await store.get(endpoint)).next_run_at or NOON)
        await store.finish(await store.claim_one())
    found = await store.suggestions.runs_of_session(endpoint.tenant_id, made.id, 10)
    assert [each.slot_at - NOON for each in found] == [seconds(30), seconds(60)]
    assert {(each.endpoint_name, each.source) for each in found} == {("probe", "ai-interval")}
    assert len(await store.suggestions.runs_of_session(endpoint.tenant_id, made.id, 1)) == 1
    with pytest.raises(NotFound):
        await store.suggestions.runs_of_session(OTHER_TENANT, made.id, 10)


async def test_a_planners_pause_names_its_session_too(store: Store) -> None:
    endpoint = await store.add()
    await store.finish(await store.claim_one())
    session_id = uuid4()
    changed = await store.endpoints.change_endpoint(
        endpoint.tenant_id,
        endpoint.id,
        lambda ep, now, cron: steering.pause(
            ep, NOON + minutes(20), Author.PLANNER, "", now, cron, session_id=session_id
        ),
    )
    stored = await store.get(endpoint)
    assert stored == changed
    assert stored.plan is not None
    assert stored.plan.session_id == session_id
