"""Who asked for runs that the baseline did not choose, on every store."""

from uuid import uuid4

import pytest

from cadenza.domain.endpoint import Every
from cadenza.domain.score import SteeredBy
from tests.contracts.harness import NOON, Store
from tests.contracts.test_steering_history import SESSION, hint
from tests.factories import minutes, seconds


async def test_a_run_by_hand_has_who_asked_first(store: Store) -> None:
    endpoint = await store.add()
    ann, bob = uuid4(), uuid4()
    for user_id in (ann, bob):
        async with store.transaction() as tx:
            await tx.note_asked_run(endpoint.id, NOON, user_id)
    authors = await store.run_authors.authors_of([(endpoint.id, NOON, "manual")])
    author = authors[endpoint.id, NOON]
    assert (author.by, author.user_id, author.name) == (SteeredBy.PERSON, ann, None)
    span = (NOON, NOON + minutes(1), 10)
    assert await store.run_authors.asked_between([endpoint.id], *span) == authors
    assert await store.run_authors.asked_between([uuid4()], *span) == {}


async def test_a_hinted_run_has_whose_hint_was_in_force_at_its_slot(store: Store) -> None:
    endpoint = await store.add()
    await hint(store, endpoint, seconds(20))  # for half an hour
    slots = [NOON + seconds(20), NOON + minutes(31), NOON - minutes(1)]
    wanted = [(endpoint.id, slot_at, "interval") for slot_at in slots]
    authors = await store.run_authors.authors_of([*wanted, (endpoint.id, slots[0], "once")])
    ((slot, author),) = authors.items()
    assert slot == (endpoint.id, slots[0])
    assert (author.by, author.session_id, author.reason) == (SteeredBy.DETECTOR, SESSION, "a rush")


@pytest.mark.parametrize(("every", "tightens"), [(20, True), (600, False)])
async def test_a_hinted_run_has_which_way_its_hint_bent_the_baseline(
    store: Store, every: int, tightens: bool
) -> None:
    endpoint = await store.add(baseline=Every(minutes(5)))
    await hint(store, endpoint, seconds(every))
    wanted = (endpoint.id, NOON + seconds(20), "interval")
    (author,) = (await store.run_authors.authors_of([wanted])).values()
    assert author.tightens is tightens
