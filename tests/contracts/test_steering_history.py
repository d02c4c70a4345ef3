"""Hints and pauses as they were, on every store: written with the transition that made them."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from uuid import UUID

from cadenza.application.ports.steering_history import NamedEntry, SteeringSearch
from cadenza.application.transitions import save_transitions
from cadenza.domain import steering
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.hint import Author, IntervalHint
from cadenza.domain.steering_history import By, SteeringKind
from tests.contracts.harness import NOON, Store
from tests.factories import CRON, minutes, seconds

SESSION = UUID(int=5)


async def hint(store: Store, endpoint: Endpoint, interval: timedelta) -> None:
    now = await store.advance(seconds(0))
    written = IntervalHint(interval, now + minutes(30), Author.PLANNER, "a rush", SESSION, "rules")

    def hinted(before: Endpoint) -> Endpoint:
        return steering.suggest_interval(before, written, now, CRON)

    await change(store, endpoint, hinted)


async def change(
    store: Store, endpoint: Endpoint, transition: Callable[[Endpoint], Endpoint]
) -> None:
    async with store.transaction() as tx:
        stored = await tx.lock_endpoint(endpoint.tenant_id, endpoint.id)
        after = transition(stored.endpoint)
        await save_transitions(tx, [(stored.endpoint, after)], By(session_id=SESSION))


async def history(store: Store, endpoint: Endpoint) -> list[NamedEntry]:
    search = SteeringSearch(endpoint_id=endpoint.id)
    return list((await store.steering.search_steering(endpoint.tenant_id, search)).items)


async def test_the_same_interval_again_lengthens_the_row(store: Store) -> None:
    endpoint = await store.add()
    await hint(store, endpoint, seconds(20))
    await store.advance(minutes(10))
    await hint(store, endpoint, seconds(20))
    (named,) = await history(store, endpoint)
    entry = named.entry
    assert (entry.begun_at, entry.until_at) == (NOON, NOON + minutes(40))
    assert (entry.renewals, entry.ended_as) == (1, None)


async def test_what_has_expired_is_not_renewed_but_begun_again(store: Store) -> None:
    endpoint = await store.add()
    await hint(store, endpoint, seconds(20))
    now = await store.advance(minutes(60))
    await hint(store, endpoint, seconds(20))
    newer, older = [named.entry for named in await history(store, endpoint)]
    assert (older.until_at, older.ending(now)) == (NOON + minutes(30), "expired")
    assert (newer.begun_at, newer.ending(now)) == (now, "standing")


async def test_another_interval_replaces_it_and_clearing_ends_it(store: Store) -> None:
    endpoint = await store.add()
    await hint(store, endpoint, seconds(20))
    replaced_at = await store.advance(minutes(1))
    await hint(store, endpoint, seconds(40))
    cleared_at = await store.advance(minutes(1))
    by_planner = (Author.PLANNER, cleared_at, CRON)
    await change(
        store, endpoint, lambda each: steering.clear_hints(each, *by_planner, brain="rules")
    )
    newer, older = [named.entry for named in await history(store, endpoint)]
    assert (older.ended_as, older.until_at) == ("replaced", replaced_at)
    assert (newer.ended_as, newer.until_at) == ("cleared", cleared_at)
    assert newer.planned_until_at == replaced_at + minutes(30)
    assert newer.ended_by == By(Author.PLANNER, None, SESSION)


async def test_a_pause_of_a_person_and_one_of_the_planner_are_kept_apart(store: Store) -> None:
    endpoint = await store.add()
    for author in Author:
        pause = partial(
            steering.pause,
            until_at=NOON + minutes(60),
            author=author,
            reason="quiet",
            now=NOON,
            cron=CRON,
        )
        await change(store, endpoint, pause)
    kinds = {named.entry.kind for named in await history(store, endpoint)}
    assert kinds == {SteeringKind.PERSON_PAUSE, SteeringKind.PLANNER_PAUSE}


async def test_what_touches_a_time_is_found_for_several_endpoints_at_once(store: Store) -> None:
    one, two = await store.add("one"), await store.add("two")
    for endpoint in (one, two):
        await hint(store, endpoint, seconds(20))
    between = store.steering.steering_between
    ids = [one.id, two.id]
    assert len(await between(ids, NOON, NOON + minutes(1), 10)) == 2
    assert len(await between(ids, NOON + minutes(29), NOON + minutes(90), 10)) == 2
    assert await between(ids, NOON + minutes(30), NOON + minutes(90), 10) == []
    assert await between(ids, NOON - minutes(9), NOON, 10) == []


async def test_an_id_of_another_list_ends_none(store: Store) -> None:
    """The cursor of any other list reads as one of this."""
    endpoint = await store.add("one")
    await hint(store, endpoint, seconds(30))
    now = await store.advance(minutes(1))
    after = (now, UUID(int=2**128 - 1))
    search = SteeringSearch(after=after, endpoint_id=endpoint.id)
    assert len((await store.steering.search_steering(endpoint.tenant_id, search)).items) == 1
