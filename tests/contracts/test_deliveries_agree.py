"""What a store sends first, and which events are wanted, by the domain's rule on random data."""

from collections.abc import Sequence
from random import Random  # noqa: TID251 - seeded, so that a failure reproduces
from uuid import UUID, uuid4

import pytest

from cadenza.application.deliveries import ClaimedDeliveries
from cadenza.application.ports.claims import ClaimRequest
from cadenza.domain.claiming import Candidate, fair_shares, first_of_hosts
from cadenza.domain.delivery import (
    Attempt,
    Delivery,
    DeliveryClaim,
    FinishedDelivery,
    Subscription,
    wants,
)
from cadenza.domain.notification import Channel, ChannelHealth
from cadenza.domain.target import Secret
from tests.contracts.harness import LEASE, Store
from tests.factories import NOON, id_of, minutes, seconds

SEEDS = range(6)
TENANTS = [id_of(f"tenant {number}") for number in range(4)]


@pytest.mark.parametrize("seed", SEEDS)
async def test_what_is_sent_first_is_what_the_domain_would_send_first(
    store: Store, seed: int
) -> None:
    random = Random(seed)
    webhooks = await _webhooks(store)
    waiting = {each.id: each for each in await _deliveries(store, random, webhooks)}
    for _ in range(4):
        request = _request(random, webhooks)
        expected = fair_shares(
            first_of_hosts(map(_candidate, waiting.values()), request.per_host), request
        )
        batch = await ClaimedDeliveries(store.port).claim_due(request)
        assert _ids(batch.claims) == {candidate.endpoint_id for candidate in expected}
        for claim in batch.claims:
            del waiting[claim.run_id]
    assert len(waiting) < 200


PATTERNS = ("*", "r*", "run.*", "run.finished", "run.finished*", "run.f*", "run.failed", "runs.*")


@pytest.mark.parametrize("seed", SEEDS)
async def test_runs_that_end_well_are_told_of_where_a_webhook_wants_them(
    store: Store, seed: int
) -> None:
    random = Random(seed)
    endpoints = [
        await store.add(f"probe {number}", tenant_id=id_of(f"tenant {number}"), job_id=uuid4())
        for number in range(10)
    ]
    webhooks = [
        Subscription(
            uuid4(),
            endpoint.tenant_id,
            "hook",
            "https://ci.example/hook",
            NOON,
            kinds=tuple(random.sample(PATTERNS, random.randint(1, 2))),
            job_id=random.choice((None, endpoint.job_id)),
            enabled=random.random() < 0.8,
        )
        for endpoint in endpoints
    ]
    async with store.transaction() as tx:
        for webhook in webhooks:
            await tx.insert_subscription(webhook)
        await tx.watch_for_webhooks()
    claims = (await store.claim(ahead=seconds(60))).claims
    async with store.transaction() as tx:
        held = await tx.lock_held(claims)
    assert len(claims) == len(endpoints)
    assert held.watched_tenants == {
        webhook.tenant_id for webhook in webhooks if wants(webhook, "run.finished", webhook.job_id)
    }


RESULTS = (
    (None, "refused"),
    ("refused", None),
    ("refused", "gone"),
    (None, None),
    ("refused", None, "refused", "gone"),
)


@pytest.mark.parametrize("errors", RESULTS)
async def test_results_that_come_together_count_as_if_they_came_one_by_one(
    store: Store, errors: tuple[str | None, ...]
) -> None:
    """To a webhook and to a channel that fail since a minute ago."""
    tenant_id = TENANTS[0]
    await store.endpoints.add_tenant(tenant_id)
    webhook = Subscription(uuid4(), tenant_id, "hook", "https://ci.example/hook", NOON)
    channel = Channel(uuid4(), tenant_id, "ops", "JSON", "json://…", NOON)
    async with store.transaction() as tx:
        await tx.insert_subscription(webhook)
        await tx.insert_channel(channel, Secret("json://ci.example"))
    await _send(store, webhook, channel, ["down"])
    failing_since = await store.clock.now()
    now = await store.advance(minutes(1))
    await _send(store, webhook, channel, errors)
    (stored,) = await store.notifications.list_subscriptions(tenant_id)
    health = (await store.notifications.list_channels(tenant_id))[0].health
    since = None if errors[-1] is None else now if None in errors else failing_since
    sent_at = now if None in errors else None
    assert (stored.failing_since, stored.last_error) == (since, errors[-1])
    assert stored.last_sent_at == sent_at
    after = errors[::-1].index(None) if None in errors else len(errors) + 1
    assert health == ChannelHealth(since, after, errors[-1], sent_at)


async def _send(
    store: Store, webhook: Subscription, channel: Channel, errors: Sequence[str | None]
) -> None:
    """One delivery to each for each of these results, all settled at once."""
    now, tenant_id = await store.clock.now(), webhook.tenant_id
    receivers = ({"subscription_id": webhook.id}, {"channel_id": channel.id})
    results: dict[UUID, str | None] = {}
    async with store.transaction() as tx:
        for receiver in receivers:
            for error in errors:
                known = (uuid4(), tenant_id, "event", "run.failed", {}, now, now)
                await tx.insert_deliveries([Delivery(*known, **receiver)])
                results[known[0]] = error
    queue = ClaimedDeliveries(store.port)
    claims = {one.run_id: one for one in (await queue.claim_due(_all())).claims}
    finished = [FinishedDelivery(claims[one], Attempt(error)) for one, error in results.items()]
    await queue.finish(finished)


def _all() -> ClaimRequest:
    return ClaimRequest("notifier", 100, LEASE, per_tenant=100, per_host=100)


def _ids(claims: list[DeliveryClaim]) -> set[UUID]:
    return {claim.run_id for claim in claims}


def _candidate(delivery: Delivery) -> Candidate:
    return Candidate(delivery.id, delivery.tenant_id, str(delivery.to), delivery.due_at)


async def _webhooks(store: Store) -> list[Subscription]:
    webhooks: list[Subscription] = []
    for tenant_id in TENANTS:
        await store.endpoints.add_tenant(tenant_id)
        for number in range(3):
            known = (uuid4(), tenant_id, f"hook {number}", "https://ci.example/hook", NOON)
            webhooks.append(Subscription(*known))
    async with store.transaction() as tx:
        for webhook in webhooks:
            await tx.insert_subscription(webhook)
    return webhooks


async def _deliveries(store: Store, random: Random, to: list[Subscription]) -> list[Delivery]:
    """Most for the first few webhooks; all are due, no two at the same instant."""
    deliveries: list[Delivery] = []
    for number in range(200):
        webhook = to[min(random.randrange(len(to)), random.randrange(len(to)))]
        due_at = NOON - seconds(random.uniform(0, 600)) - number * seconds(0.001)
        known = (uuid4(), webhook.tenant_id, "event", "run.failed", {}, NOON, due_at)
        deliveries.append(Delivery(*known, subscription_id=webhook.id))
    async with store.transaction() as tx:
        await tx.insert_deliveries(deliveries)
    return deliveries


def _request(random: Random, webhooks: list[Subscription]) -> ClaimRequest:
    return ClaimRequest(
        "notifier",
        random.randint(5, 40),
        LEASE,
        per_tenant=random.randint(3, 12),
        per_host=random.randint(1, 5),
        busy_tenants={tenant_id: random.randint(0, 5) for tenant_id in random.sample(TENANTS, 2)},
        busy_hosts={
            (webhook.tenant_id, str(webhook.id)): random.randint(0, 5)
            for webhook in random.sample(webhooks, 5)
        },
    )
