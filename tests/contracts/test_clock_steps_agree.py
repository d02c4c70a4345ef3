"""Which endpoints a stepped clock has left ahead of it, by the domain's rule on random data."""

from dataclasses import replace
from datetime import datetime, timedelta
from random import Random  # noqa: TID251 - seeded, so that a failure reproduces

import pytest

from cadenza.domain.clock_steps import TOLERANCE, ahead_by
from cadenza.domain.endpoint import CronLine, Endpoint, Every, OnDemand
from tests.contracts.harness import LEASE, Store
from tests.contracts.test_rules_agree import SEEDS, in_execution, insert, made_up
from tests.factories import NOON, minutes, seconds

BASELINES = (Every(seconds(60)), CronLine("* * * * *", "UTC"), OnDemand())
NEAR = (timedelta(microseconds=-1), timedelta(0), timedelta(microseconds=1), minutes(5))


@pytest.mark.parametrize("seed", SEEDS)
async def test_what_is_ahead_of_the_clock_is_what_the_domain_says(store: Store, seed: int) -> None:
    random = Random(seed)
    claims = await in_execution(store, random, "held", LEASE)
    free = [_endpoint(random, number) for number in range(40)]
    await insert(store, free)
    ids = [*(endpoint.id for endpoint in free), *(claim.endpoint_id for claim in claims)]
    await store.clock.set(NOON - random.choice((minutes(5), TOLERANCE)))
    async with store.transaction() as tx:
        now = await tx.time()
        endpoints = [row.endpoint for row in await tx.lock_endpoints(ids)]
        ahead = [endpoint for endpoint in endpoints if ahead_by(endpoint, now) > TOLERANCE]
        locked = {row.endpoint.id for row in await tx.lock_ahead_of_clock(1000)}
        assert await tx.count_ahead_of_clock() == len(ahead)
    assert locked == {endpoint.id for endpoint in ahead if not endpoint.in_flight}
    assert 0 < len(locked) < len(free)


def _endpoint(random: Random, number: int) -> Endpoint:
    def sometimes() -> datetime | None:
        return NOON + random.choice(NEAR) if random.random() < 0.4 else None

    endpoint = made_up(random, f"probe {number}", baseline=random.choice(BASELINES))
    endpoint = replace(endpoint, last_run_at=sometimes(), last_slot_at=sometimes())
    if random.random() < 0.1:
        return replace(endpoint, archived_at=NOON)
    return replace(endpoint, manual_slot_at=sometimes())
