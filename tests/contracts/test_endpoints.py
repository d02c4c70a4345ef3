"""What is stored comes back, acts apply in one step, and tenants do not see each other."""

import asyncio
from datetime import timedelta

import pytest

from cadenza.application.ports.run_search import RunSearch
from cadenza.domain import steering
from cadenza.domain.endpoint import CronLine, Every, OnDemand
from cadenza.domain.errors import AlreadyRunning, NotFound, Refused
from cadenza.domain.hint import Author, Pause
from cadenza.domain.instants import FOREVER
from tests.contracts.harness import OTHER_TENANT, Store
from tests.factories import NOON, interval_hint, minutes, one_shot, seconds


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"baseline": CronLine("0 9 * * mon-fri", "Europe/Paris")},
        {"baseline": OnDemand(), "min_interval": minutes(10)},
        {"baseline": Every(timedelta(milliseconds=1500)), "max_interval": timedelta(days=30)},
        {"interval_hint": interval_hint(seconds(30), NOON + minutes(9), Author.PERSON)},
        {"one_shot_hint": one_shot(NOON + minutes(3), NOON + minutes(9))},
        {"person_pause": Pause(FOREVER, "maintenance"), "planner_pause": Pause(NOON, "busy")},
        {"job_paused_until": NOON + minutes(2), "not_before_at": NOON + minutes(1)},
        {"failure_count": 7, "last_run_at": NOON, "last_slot_at": NOON - seconds(1)},
        {"backs_off": False},
        {"planner_changes": (NOON - minutes(2), NOON - minutes(1))},
    ],
)
async def test_an_endpoint_comes_back_as_it_was_stored(
    store: Store, fields: dict[str, object]
) -> None:
    endpoint = await store.add(**fields)
    assert await store.get(endpoint) == endpoint
    for name, value in fields.items():
        assert getattr(endpoint, name) == value


async def test_an_act_is_stored_and_told(store: Store) -> None:
    endpoint = await store.add(created_at=NOON + minutes(5))
    hint = one_shot(NOON, NOON + minutes(5))
    changed = await store.endpoints.change_endpoint(
        endpoint.tenant_id,
        endpoint.id,
        lambda ep, now, cron: steering.suggest_run_at(ep, hint, now, cron),
    )
    assert changed.next_run_at == NOON
    assert await store.get(endpoint) == changed


async def test_a_refused_act_changes_nothing(store: Store) -> None:
    endpoint = await store.add()
    hint = one_shot(NOON + minutes(9), NOON + minutes(5))
    with pytest.raises(Refused, match="not before its expiry"):
        await store.endpoints.change_endpoint(
            endpoint.tenant_id,
            endpoint.id,
            lambda ep, now, cron: steering.suggest_run_at(ep, hint, now, cron),
        )
    assert await store.get(endpoint) == endpoint


async def test_acts_at_the_same_time_do_not_lose_each_other(store: Store) -> None:
    endpoint = await store.add(created_at=NOON + minutes(5))
    interval = interval_hint(seconds(30), NOON + minutes(10))
    shot = one_shot(NOON + minutes(1), NOON + minutes(10))

    await asyncio.gather(
        store.endpoints.change_endpoint(
            endpoint.tenant_id,
            endpoint.id,
            lambda ep, now, cron: steering.suggest_interval(ep, interval, now, cron),
        ),
        store.endpoints.change_endpoint(
            endpoint.tenant_id,
            endpoint.id,
            lambda ep, now, cron: steering.suggest_run_at(ep, shot, now, cron),
        ),
    )
    after = await store.get(endpoint)
    assert (after.interval_hint, after.one_shot_hint) == (interval, shot)
    assert after.next_run_at == NOON + seconds(30)


async def test_a_second_run_now_is_refused_while_the_first_waits_or_runs(store: Store) -> None:
    endpoint = await store.add(baseline=OnDemand())

    async def run_now() -> None:
        await store.endpoints.change_endpoint(
            endpoint.tenant_id, endpoint.id, lambda ep, now, _: steering.request_run_now(ep, now)
        )

    await run_now()
    with pytest.raises(AlreadyRunning):
        await run_now()
    claim = await store.claim_one()
    with pytest.raises(AlreadyRunning):
        await run_now()
    await store.finish(claim, takes=timedelta(0))
    await run_now()
    again = await store.claim_one()
    assert again.slot_at == claim.slot_at + timedelta(microseconds=1)


async def test_another_tenant_finds_nothing(store: Store) -> None:
    endpoint = await store.add()
    with pytest.raises(NotFound):
        await store.endpoints.get_endpoint(OTHER_TENANT, endpoint.id)
    with pytest.raises(NotFound):
        await store.endpoints.change_endpoint(OTHER_TENANT, endpoint.id, steering.archive)
    claim = await store.claim_one()
    with pytest.raises(NotFound):
        await store.history.get_run(OTHER_TENANT, claim.run_id)
    with pytest.raises(NotFound):
        await store.history.health_of(OTHER_TENANT, endpoint.id)
    search = RunSearch(endpoint_id=endpoint.id)
    assert list((await store.history.search_runs(OTHER_TENANT, search)).items) == []
    assert await store.endpoints.list_endpoints(OTHER_TENANT, endpoint.job_id) == []


async def test_the_endpoints_of_a_job_are_listed_by_name(store: Store) -> None:
    for name in ("b", "a", "c"):
        await store.add(name)
    endpoint = await store.add("d")
    found = await store.endpoints.list_endpoints(endpoint.tenant_id, endpoint.job_id)
    assert [each.name for each in found] == ["a", "b", "c", "d"]
