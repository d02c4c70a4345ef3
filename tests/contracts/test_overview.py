"""The figures of an installation, for whoever watches it."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

from prometheus_client.parser import text_string_to_metric_families

from cadenza.adapters.telemetry.catalogue import Part
from cadenza.adapters.telemetry.installation import InstallationFigures
from cadenza.adapters.telemetry.prometheus import Metrics
from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.ports.overview import Overview, QuotaShare
from cadenza.application.ports.workers import Condition as WorkerCondition
from cadenza.domain import steering
from cadenza.domain.delivery import Delivery, Subscription
from cadenza.domain.endpoint import OnDemand
from cadenza.domain.function_target import FunctionTarget
from cadenza.domain.hint import Author
from cadenza.domain.incident import Condition, IncidentKind, opened, resolved
from tests.contracts.harness import LEASE, Store
from tests.factories import NOON, id_of, minutes, seconds

TENANT = id_of("tenant")


async def test_an_empty_installation_has_nothing_due(store: Store) -> None:
    assert await store.overview.overview([]) == Overview()


async def test_what_is_due_and_not_claimed_is_counted_with_the_age_of_the_first(
    store: Store,
) -> None:
    await store.add("first")
    await store.add("second", created_at=NOON + seconds(20))
    await store.add("later", created_at=NOON + minutes(5))
    await store.add("function", target=FunctionTarget("shop", "count", timedelta(seconds=5)))
    await store.add("never", baseline=OnDemand())
    await store.advance(seconds(30))
    overview = await store.overview.overview([])
    assert (overview.due, overview.oldest_due_seconds) == (3, 30)
    await store.claim(limit=1)
    assert (await store.overview.overview([])).due == 2


async def test_a_lost_worker_counts_as_gone_until_another_of_its_kind_is_started(
    store: Store,
) -> None:
    async def states() -> dict[str, float]:
        metrics = Metrics("api", "1", [Part.INSTALLATION])
        await InstallationFigures(metrics, store.overview, store.workers).refresh()
        families = text_string_to_metric_families(metrics.page()[0].decode())
        (workers,) = (one for one in families if one.name == "cadenza_workers")
        schedulers = [one for one in workers.samples if one.labels["kind"] == "scheduler"]
        return {sample.labels["state"]: sample.value for sample in schedulers}

    await store.workers.beat("beside", "scheduler", WorkerCondition())
    await store.workers.beat("lost", "scheduler", WorkerCondition())
    await store.advance(minutes(5))
    await store.workers.beat("beside", "scheduler", WorkerCondition())
    await store.workers.beat("another kind", "planner", WorkerCondition())
    assert await states() == {"alive": 1, "gone": 1}
    await store.workers.beat("follower", "scheduler", WorkerCondition())
    assert await states() == {"alive": 2}


async def test_what_is_paused_is_not_late(store: Store) -> None:
    endpoint = await store.add()
    await store.endpoints.change_endpoint(
        endpoint.tenant_id,
        endpoint.id,
        lambda one, now, cron: steering.pause(one, None, Author.PERSON, "", now, cron),
    )
    await store.advance(minutes(5))
    assert (await store.overview.overview([])).due == 0


async def test_open_incidents_are_counted_and_a_delivery_that_nobody_takes_grows_old(
    store: Store,
) -> None:
    await store.endpoints.add_tenant(TENANT)
    async with store.transaction() as tx:
        now = await tx.time()
        gone = Condition(TENANT, IncidentKind.WORKER, "w", "scheduler w", now)
        another = Condition(TENANT, IncidentKind.SUGGESTION, "s", "shop/queue", now)
        is_over = resolved(opened(replace(gone, subject="x"), None, now, uuid4()), now)
        made = [opened(one, None, now, uuid4()) for one in (gone, another)]
        await tx.save_incidents([*made, is_over])
        webhook = Subscription(uuid4(), TENANT, "ci", "http://ci.example/", now)
        await tx.insert_subscription(webhook)
        event = (uuid4(), TENANT, "event", "run.failed", {}, now, now)
        await tx.insert_deliveries([Delivery(*event, subscription_id=webhook.id)])
    await store.advance(seconds(40))
    overview = await store.overview.overview([])
    assert overview.open_incidents == {"critical": 1, "info": 1}
    assert overview.oldest_delivery_seconds == 40
    request = ClaimRequest("notifier", 10, LEASE, ahead=timedelta(0))
    async with store.transaction() as tx:
        await tx.claim_deliveries(request)
    assert (await store.overview.overview([])).oldest_delivery_seconds == 0


async def test_quotas_are_told_of_the_nearest_to_its_limit_and_of_whom_is_named(
    store: Store,
) -> None:
    endpoint = await store.add()
    job = (await store.analysis_queue.contexts_for([endpoint.id], "rules"))[0].job
    reservation = await store.quota.reserve(job, 500, 0.5)
    await store.quota.settle(reservation, 250, 1.5)
    overview = await store.overview.overview([])
    assert overview.highest == QuotaShare(0.25, 0.75)  # of 1000 tokens and 2 dollars
    assert overview.tenants == {}
    name = str(endpoint.tenant_id)  # as the tests call it
    asked = await store.overview.overview(["nobody", name])
    assert asked.tenants == {name: QuotaShare(0.25, 0.75)}
