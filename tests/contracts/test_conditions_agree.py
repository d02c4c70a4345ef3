"""What a store says is not as it should be, held against the domain's rule on random data."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random  # noqa: TID251 - seeded, so that a failure reproduces
from uuid import UUID, uuid4

import pytest

from cadenza.application.deliveries import ClaimedDeliveries
from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.ports.workers import Condition as WorkerCondition
from cadenza.domain.access import ApiKey, Scope, User
from cadenza.domain.conditions import (
    SeenWorker,
    WatchedEndpoint,
    channel_fails,
    conditions_of,
    grant_expires,
    keys_expire,
    lost_workers,
    webhook_is_disabled,
)
from cadenza.domain.delivery import Attempt, Delivery, FinishedDelivery, Subscription
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.grant import Grant
from cadenza.domain.incident import Condition, IncidentKind
from cadenza.domain.notification import Channel
from cadenza.domain.session import Session, SessionEnd, ToolCall
from cadenza.domain.target import Secret
from tests.contracts.harness import LEASE, Instants, Store
from tests.contracts.payers import TENANT, USER, open_account
from tests.contracts.test_rules_agree import (
    around,
    due_at,
    in_execution,
    insert,
    made_up,
    steered,
)
from tests.factories import NOON, minutes, seconds

SEEDS = range(6)
NOW = NOON + timedelta(days=9)
MOMENT = timedelta(microseconds=1)
NEAR = (-MOMENT, timedelta(0), MOMENT)
NEVER = Instants(None, None, None, None, None, None)


@pytest.mark.parametrize("seed", SEEDS)
async def test_what_is_not_as_it_should_be_is_what_the_domain_says(store: Store, seed: int) -> None:
    random = Random(seed)
    await store.endpoints.add_tenant(TENANT)  # the first: it hears of workers
    expected = [
        *await _grants(store, random),
        *await _channels(store, random),
        *await _webhooks(store, random),
        *await _workers(store, random),
        *await _endpoints(store, random),
        *await _keys(store, random),
    ]
    kinds = [kind for kind in IncidentKind if kind is not IncidentKind.QUOTA]
    assert {condition.kind for condition in expected} == set(kinds)
    async with store.transaction() as tx:
        assert await tx.time() == NOW
        differences = await tx.differences(kinds, 10_000)
    assert _by_key(differences.conditions) == _by_key(expected)


def _by_key(conditions: Sequence[Condition]) -> list[Condition]:
    return sorted(conditions, key=lambda one: (str(one.tenant_id), one.kind, one.subject))


async def _grants(store: Store, random: Random) -> list[Condition]:
    account = await open_account(store)
    week = timedelta(days=7)
    ends = [NOON + timedelta(days=10) + random.choice(NEAR), NOW + random.choice(NEAR)]
    ends += [NOW - week + random.choice(NEAR) for _ in range(4)]
    ends += [NOON + seconds(random.uniform(60, 20 * 86_400)) for _ in range(10)]
    grants = [
        Grant(
            uuid4(),
            TENANT,
            USER,
            account.id,
            ("graph:execute:*",),
            NOON,
            expires_at,
            revoked_at=NOON if random.random() < 0.2 else None,
        )
        for expires_at in ends
    ]
    async with store.transaction() as tx:
        for grant in grants:
            await tx.insert_grant(grant)
            if grant.revoked_at is not None:
                await tx.save_grant(grant)
    return [one for grant in grants if (one := grant_expires(grant, NOW)) is not None]


async def _keys(store: Store, random: Random) -> list[Condition]:
    """Few names, so that some are followed by a later one."""
    users = [User(uuid4(), TENANT, name, NOON) for name in ("ann", "ben")]
    week, ends = timedelta(days=7), list[datetime | None]([None])
    ends += [NOW + shift + random.choice(NEAR) for shift in (-week, timedelta(0), week)]
    ends += [NOON + seconds(random.uniform(60, 20 * 86_400)) for _ in range(12)]
    keys = [
        ApiKey(
            uuid4(),
            TENANT,
            random.choice(users).id,
            random.choice("abcd"),
            (Scope.READ,),
            bytes(32),
            NOON - timedelta(days=random.randrange(60)),
            expires_at,
            revoked_at=NOON if random.random() < 0.2 else None,
        )
        for expires_at in ends
    ]
    alone = ("alone", (Scope.READ,), bytes(32), NOON, NOW + seconds(3600))
    keys.append(ApiKey(uuid4(), TENANT, users[0].id, *alone))
    async with store.transaction() as tx:
        for user in users:
            await tx.insert_user(user)
        for key in keys:
            await tx.insert_key(key)
            await tx.save_key(key)
    return list(keys_expire(keys, NOW))


async def _channels(store: Store, random: Random) -> list[Condition]:
    """Each fails, or takes what it is sent, some time within the last minutes."""
    names = [f"channel {number}" for number in range(8)]
    ids = [uuid4() for _ in names]
    async with store.transaction() as tx:
        for channel_id, name in zip(ids, names, strict=True):
            channel = Channel(channel_id, TENANT, name, "JSON", "json://…", NOON)
            await tx.insert_channel(channel, Secret("json://hooks.example/path"))
    for failed_at in (NOW - minutes(5) + near for near in NEAR):
        await store.clock.set(failed_at)
        for channel_id in random.sample(ids, 4):
            await _deliver(store, channel_id, None if random.random() < 0.2 else "HTTP 500")
    channels = await store.notifications.list_channels(TENANT)
    return [one for channel in channels if (one := channel_fails(channel, NOW)) is not None]


async def _deliver(store: Store, channel_id: UUID, error: str | None) -> None:
    async with store.transaction() as tx:
        now = await tx.time()
        known = (uuid4(), TENANT, "test", "a title", {}, now, now)
        await tx.insert_deliveries([Delivery(*known, channel_id=channel_id)])
    queue = ClaimedDeliveries(store.port)
    (claim,) = (await queue.claim_due(ClaimRequest("notifier", 1, LEASE))).claims
    await queue.finish([FinishedDelivery(claim, Attempt(error))])


async def _webhooks(store: Store, random: Random) -> list[Condition]:
    webhooks = [
        Subscription(
            uuid4(),
            TENANT,
            f"hook {number}",
            "https://ci.example/hook",
            NOON,
            failing_since=random.choice((None, NOON + seconds(number))),
            disabled_reason=random.choice((None, "gone")),
        )
        for number in range(8)
    ]
    async with store.transaction() as tx:
        for webhook in webhooks:
            await tx.insert_subscription(webhook)
            await tx.save_subscription(webhook)
    return [one for webhook in webhooks if (one := webhook_is_disabled(webhook)) is not None]


async def _workers(store: Store, random: Random) -> list[Condition]:
    beats = [
        (NOW - back + random.choice(NEAR), f"worker {number}", random.choice(("planner", "api")))
        for number, back in enumerate([seconds(s) for s in (0, 15, 15, 30, 30, 30, 40, 60, 90)])
    ]
    beats.append((NOW - seconds(45), "alone", "scheduler"))
    for at, name, kind in sorted(beats):
        await store.clock.set(min(at, NOW))
        await store.workers.beat(name, kind, WorkerCondition())
    await store.clock.set(NOW)
    workers = [
        SeenWorker(worker.name, worker.kind, worker.started_at, worker.seen_at)
        for worker in await store.workers.list_workers(100)
    ]
    return list(lost_workers(workers, TENANT, NOW))


async def _endpoints(store: Store, random: Random) -> list[Condition]:
    """Forty that nobody has claimed, and ten in execution."""
    held = [claim.endpoint_id for claim in await in_execution(store, random, "held", LEASE)]
    free = [_endpoint(random, number) for number in range(40)]
    await insert(store, free)
    instants = {endpoint.id: _instants(random) for endpoint in free}
    await store.rows.set_instants(instants)
    suggested = {
        endpoint.id: await _suggest(store, random, endpoint) for endpoint in random.sample(free, 20)
    }
    async with store.transaction() as tx:
        stored = [row.endpoint for row in await tx.lock_endpoints([*instants, *held])]
    conditions: list[Condition] = []
    for endpoint in stored:
        at = instants.get(endpoint.id, NEVER)
        times = (at.streak_changed_at, at.last_failed_at, at.steered_at, suggested.get(endpoint.id))
        conditions += conditions_of(WatchedEndpoint(endpoint, str(endpoint.job_id), *times), NOW)
    return conditions


def _endpoint(random: Random, number: int) -> Endpoint:
    endpoint = made_up(random, f"probe {number}", failure_count=random.choice((0, 0, 1, 4, 12)))
    late = NOW - minutes(1) + random.choice(NEAR)
    next_run_at = random.choice((None, late, around(random, NOW)))
    return steered(random, due_at(endpoint, next_run_at), NOW)


def _instants(random: Random) -> Instants:
    def sometimes() -> datetime | None:
        return NOW - seconds(random.randint(1, 100)) if random.random() < 0.7 else None

    return Instants(
        last_finished_at=None,
        last_failed_at=sometimes(),
        changed_at=None,
        asked_at=None,
        steered_at=sometimes(),
        streak_changed_at=sometimes(),
    )


async def _suggest(store: Store, random: Random, endpoint: Endpoint) -> datetime | None:
    """Some time ago, what may be open still; when, where somebody may still accept it."""
    started_at = NOW - seconds(random.randint(1, 100))
    calls = [
        ToolCall(
            "propose_interval",
            {"interval_ms": 30_000},
            {"ok": True},
            suggested=random.random() < 0.8,
            holds_until=NOW + random.choice(NEAR) + random.choice((seconds(0), minutes(5))),
        )
        for _ in range(2)
    ]
    session = Session(
        uuid4(),
        endpoint.tenant_id,
        endpoint.job_id,
        endpoint.id,
        "rules",
        started_at,
        seconds(1),
        SessionEnd.SUBMITTED,
        tuple(calls),
    )
    await store.record(session)
    for number, call in enumerate(calls):
        async with store.transaction() as tx:
            if not call.is_open(NOW) or random.random() < 0.4:
                continue
            suggestion = await tx.lock_suggestion(endpoint.tenant_id, session.id, number)
            if random.random() < 0.5:
                await tx.mark_accepted(suggestion, "ann", NOW + minutes(5))
            else:
                await tx.mark_dismissed(suggestion, "ann")
    (stored,) = await store.sessions_of(endpoint)
    return started_at if any(call.can_be_accepted(NOW) for call in stored.tool_calls) else None
