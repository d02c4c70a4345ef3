"""Incidents follow the state of things, and what is told of them follows the incidents."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from cadenza.adapters.system.zones import zone_of
from cadenza.application.deliveries import ClaimedDeliveries
from cadenza.application.incidents import FEED, IncidentWatch, Looked
from cadenza.application.notifications import Incidents, Routes
from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.ports.notifications import DeliverySearch, IncidentSearch
from cadenza.application.ports.telemetry import NoTelemetry
from cadenza.application.ports.workers import Condition
from cadenza.domain.access import ApiKey, Caller, Scope, User
from cadenza.domain.audit import PendingEvent
from cadenza.domain.delivery import (
    Attempt,
    Delivery,
    DeliveryClaim,
    DeliveryStatus,
    FinishedDelivery,
    Subscription,
)
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import AlreadyThere, NotFound
from cadenza.domain.incident import Incident, IncidentKind, Severity
from cadenza.domain.notification import Channel, QuietHours, Route
from cadenza.domain.run import Outcome, RunStatus
from cadenza.domain.target import Secret
from tests.contracts.harness import LEASE, NOON, OTHER_TENANT, Store
from tests.contracts.payers import give_grant, open_account
from tests.factories import FAILED, id_of, minutes, seconds

TENANT = id_of("tenant")
CALLER = Caller(TENANT, uuid4(), uuid4(), "ada", (Scope.ADMIN,))
URL = Secret("json://hooks.example/secret-path")


def _watch(store: Store) -> IncidentWatch:
    return IncidentWatch(store.port, zone_of, uuid4)


async def _look(store: Store) -> Looked:
    """At everything, once events can be read: others may have transactions open."""
    watch = _watch(store)
    for _ in range(200):
        async with store.transaction() as tx:
            waiting = await tx.take_feed(1)
        await watch.look_at_everything()
        if not waiting:
            break
        await asyncio.sleep(0.01)
    return await watch.look_at_everything()


async def _fail(store: Store, times: int = 1) -> None:
    for _ in range(times):
        await store.finish(await _next_claim(store), FAILED)


async def _next_claim(store: Store):
    for _ in range(500):
        batch = await store.claim(limit=1)
        if batch.claims:
            return batch.claims[0]
        assert batch.next_due_at is not None
        await store.clock.set(max(batch.next_due_at, await store.clock.now() + seconds(1)))
    raise AssertionError("nothing becomes due")


async def _incidents(store: Store, *, is_open: bool | None = None) -> list[Incident]:
    return list(await store.notifications.list_incidents(TENANT, IncidentSearch(is_open=is_open)))


async def _kinds(store: Store) -> list[IncidentKind]:
    return sorted(incident.kind for incident in await _incidents(store, is_open=True))


async def _add_route(store: Store, name: str = "chat", **fields: object) -> Route:
    await store.endpoints.add_tenant(TENANT)
    async with store.transaction() as tx:
        now = await tx.time()
        channel = Channel(uuid4(), TENANT, name, "JSON", "json://…", now)
        await tx.insert_channel(channel, URL)
        fields = {"group": timedelta(0), "min_severity": Severity.INFO, **fields}
        route = Route(uuid4(), TENANT, channel.id, now, **fields)  # type: ignore[arg-type]
        await tx.insert_route(route)
    return route


async def _deliveries(store: Store) -> list[Delivery]:
    found = await store.notifications.list_deliveries(TENANT, DeliverySearch())
    return sorted(found, key=lambda each: each.created_at)


async def test_a_first_failure_opens_an_incident_that_success_closes(store: Store) -> None:
    endpoint = await store.add()
    await _fail(store)
    await _look(store)
    (incident,) = await _incidents(store, is_open=True)
    assert (incident.kind, incident.endpoint_id) == (IncidentKind.FAILING, endpoint.id)
    assert (incident.severity, incident.measure) == (Severity.WARNING, 1)
    assert "500" in incident.detail
    await store.finish(await _next_claim(store))
    await _look(store)
    (incident,) = await _incidents(store)
    assert incident.resolved_at is not None
    assert incident.resolved_by == "state"


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(RunStatus.FAILURE, "status", "HTTP 500", 500), "HTTP 500"),
        (Outcome(RunStatus.FAILURE, "refused", "refused"), "refused"),
        (Outcome(RunStatus.TIMEOUT), "timeout"),
    ],
)
async def test_an_incident_says_in_a_line_what_the_run_said(
    store: Store, outcome: Outcome, words: str
) -> None:
    await store.add()
    await store.finish(await _next_claim(store), outcome)
    await _look(store)
    (incident,) = await _incidents(store)
    assert incident.detail == f"1 failure: {words}"


async def test_a_streak_makes_it_worse_and_it_stays_one_incident(store: Store) -> None:
    await store.add(max_interval=minutes(1))
    await _fail(store)
    await _look(store)
    await _fail(store, 2)
    await _look(store)
    (incident,) = await _incidents(store)
    assert (incident.severity, incident.level) == (Severity.ERROR, 2)
    await _fail(store, 7)
    await _look(store)
    (incident,) = await _incidents(store)
    assert incident.severity is Severity.CRITICAL


async def test_what_failed_and_recovered_before_anybody_looked_is_an_incident(store: Store) -> None:
    route = await _add_route(store)
    await store.add()
    await _fail(store)
    await store.finish(await _next_claim(store))
    await _look(store)
    (incident,) = await _incidents(store)
    assert not incident.is_open
    (delivery,) = await _deliveries(store)
    assert delivery.channel_id == route.channel_id
    assert "resolved" in delivery.title
    await _look(store)
    assert len(await _incidents(store)) == 1


async def test_a_recovery_that_is_read_later_than_its_failure_is_an_incident_all_the_same(
    store: Store,
) -> None:
    """Events are read a thousand at a time, and not before older transactions have ended."""
    await _add_route(store)
    endpoint = await store.add()
    fill = PendingEvent("filler", TENANT, None, None, {})
    async with store.transaction() as tx:
        await tx.add_events([fill] * (FEED - 1))
    await _fail(store)
    await store.finish(await _next_claim(store))
    await _look(store)
    (incident,) = await _incidents(store)
    assert (incident.endpoint_id, incident.times, incident.is_open) == (endpoint.id, 1, False)
    (delivery,) = await _deliveries(store)
    assert "resolved" in delivery.title


async def test_the_same_again_within_the_hour_is_the_same_incident(store: Store) -> None:
    await store.add()
    for _ in range(3):
        await _fail(store)
        await _look(store)
        await store.finish(await _next_claim(store))
        await _look(store)
    (incident,) = await _incidents(store)
    assert incident.times == 3


async def test_flapping_is_told_once_within_the_cooldown(store: Store) -> None:
    await _add_route(store, cooldown=timedelta(hours=6))
    await store.add()
    for _ in range(5):
        await _fail(store)
        await _look(store)
        await store.finish(await _next_claim(store))
        await _look(store)
    deliveries = await _deliveries(store)
    assert len(deliveries) == 2  # that it fails, and that it does no more
    await store.advance(timedelta(hours=7))
    await _look(store)
    told = [each for each in await _deliveries(store) if each not in deliveries]
    assert all("late" in each.payload["body"] for each in told)


async def test_a_storm_is_one_message(store: Store) -> None:
    await _add_route(store)
    for number in range(120):
        await store.add(f"probe {number}")
    batch = await store.claim(limit=200, per_tenant=200, per_host=200)
    for claim in batch.claims:
        await store.finish(claim, FAILED, takes=timedelta(0))
    await _look(store)
    (delivery,) = await _deliveries(store)
    assert "120 open" in delivery.title
    assert len(delivery.payload["body"]) < 10_000


async def test_a_storm_over_very_many_routes_is_told_in_parts(store: Store) -> None:
    """What one transaction writes is bounded: it could take too long each time that it is tried."""
    route, count, routes = await _add_route(store), 12, 4
    async with store.transaction() as tx:
        for _ in range(routes - 1):
            await tx.insert_route(replace(route, id=uuid4()))
    endpoint = await store.add()
    for number in range(count - 1):
        await store.add(f"probe {number}", job_id=endpoint.job_id)
    batch = await store.claim(limit=200, per_tenant=200, per_host=200)
    for claim in batch.claims:
        await store.finish(claim, FAILED, takes=timedelta(0))
    watch = IncidentWatch(store.port, zone_of, uuid4, told_at_once=20)
    changed = [(await watch.look_at_everything()).changed for _ in range(3)]
    assert changed == [5, 5, 2]
    overview = await store.overview.overview([])
    assert sum(overview.open_incidents.values()) == count


async def test_what_nobody_runs_is_late_until_somebody_does(store: Store) -> None:
    await store.add()
    await store.advance(minutes(3))
    await _look(store)
    assert await _kinds(store) == [IncidentKind.LATE]
    await store.finish(await _next_claim(store))
    await _look(store)
    assert await _kinds(store) == []


async def test_a_lost_worker_is_missed_until_another_follows(store: Store) -> None:
    await store.endpoints.add_tenant(TENANT)
    await store.workers.beat("one", "scheduler", Condition())
    await store.advance(seconds(40))
    await _look(store)
    (incident,) = await _incidents(store, is_open=True)
    assert (incident.kind, incident.severity) == (IncidentKind.WORKER, Severity.CRITICAL)
    await store.workers.beat("two", "scheduler", Condition())
    await _look(store)
    assert await _kinds(store) == []


async def test_a_grant_is_told_of_before_it_ends_and_when_it_has(store: Store) -> None:
    account = await open_account(store)
    grant = await give_grant(store, account, expires_at=NOON + timedelta(days=100))
    await _look(store)
    assert await _kinds(store) == []
    await store.advance(timedelta(days=94))
    await _look(store)
    (incident,) = await _incidents(store, is_open=True)
    assert (incident.kind, incident.severity) == (IncidentKind.GRANT, Severity.WARNING)
    await store.advance(timedelta(days=7))
    await _look(store)
    (incident,) = await _incidents(store, is_open=True)
    assert incident.severity is Severity.ERROR
    async with store.transaction() as tx:
        await tx.save_grant(replace(grant, revoked_at=await tx.time()))
    await _look(store)
    assert await _kinds(store) == []


async def test_a_key_is_told_of_before_it_ends_and_no_more_once_another_follows(
    store: Store,
) -> None:
    await store.endpoints.add_tenant(TENANT)
    ends_at = NOON + timedelta(days=100)
    user = User(uuid4(), TENANT, "ann", NOON)
    key = ApiKey(uuid4(), TENANT, user.id, "ci", (Scope.READ,), bytes(32), NOON, ends_at)
    async with store.transaction() as tx:
        await tx.insert_user(user)
        await tx.insert_key(key)
        await tx.insert_key(replace(key, id=uuid4(), name="for ever", expires_at=None))
    await store.advance(timedelta(days=92))
    await _look(store)
    assert await _kinds(store) == []
    await store.advance(timedelta(days=2))
    await _look(store)
    (incident,) = await _incidents(store, is_open=True)
    assert (incident.kind, incident.name) == (IncidentKind.KEY, "ci")
    assert incident.severity is Severity.WARNING
    await store.advance(timedelta(days=7))
    await _look(store)
    (incident,) = await _incidents(store, is_open=True)
    assert incident.severity is Severity.ERROR
    async with store.transaction() as tx:
        now = await tx.time()
        later = replace(key, id=uuid4(), created_at=now, expires_at=now + timedelta(days=100))
        await tx.insert_key(later)
    await _look(store)
    assert await _kinds(store) == []


async def test_a_limit_of_the_planner_is_told_at_80_and_100_percent_until_it_begins_anew(
    store: Store,
) -> None:
    await store.endpoints.add_tenant(TENANT)
    data = {"limit_name": "tokens_per_month", "period": "2026-03", "percent": 80}
    async with store.transaction() as tx:
        await tx.add_events([PendingEvent("quota.warning", TENANT, None, None, data)])
    await _look(store)
    (incident,) = await _incidents(store, is_open=True)
    assert (incident.kind, incident.severity) == (IncidentKind.QUOTA, Severity.WARNING)
    async with store.transaction() as tx:
        reached = {**data, "percent": 100}
        await tx.add_events([PendingEvent("quota.reached", TENANT, None, None, reached)])
    await _look(store)
    (incident,) = await _incidents(store, is_open=True)
    assert incident.severity is Severity.ERROR
    await store.advance(timedelta(days=31))
    await _look(store)
    assert await _kinds(store) == []


async def test_of_a_jobs_limit_it_is_told_whose_it_is_and_what_is_left(store: Store) -> None:
    """A channel once said only "tokens_per_day 2026-03-02: 100 % is used", at 53 %."""
    await _add_route(store)
    endpoint = await store.add()
    refused = "14,000 of 30,000 are left, and a session may take 20,000"
    data = {"limit_name": "tokens_per_day", "period": "2026-03-02", "detail": refused}
    async with store.transaction() as tx:
        (job_name,) = (await tx.job_names([endpoint.job_id])).values()
        await tx.add_events([PendingEvent("quota.refused", TENANT, endpoint.job_id, None, data)])
    await _look(store)
    (incident,) = await _incidents(store, is_open=True)
    assert (incident.severity, incident.job_id) == (Severity.ERROR, endpoint.job_id)
    assert incident.name == f"{job_name}: tokens_per_day 2026-03-02"
    assert incident.detail == refused
    (delivery,) = await _deliveries(store)
    assert job_name in str(delivery.payload)
    assert refused in str(delivery.payload)


async def test_a_limit_that_is_reached_as_its_month_ends_holds_up_nobody(store: Store) -> None:
    await store.endpoints.add_tenant(TENANT)
    data = {"limit_name": "tokens_per_month", "period": "2026-03", "percent": 80}
    async with store.transaction() as tx:
        await tx.add_events([PendingEvent("quota.warning", TENANT, None, None, data)])
    await _look(store)
    async with store.transaction() as tx:
        await tx.add_events([PendingEvent("quota.reached", TENANT, None, None, data)])
    await store.advance(timedelta(days=31))  # before anybody has looked
    await _look(store)
    (incident,) = await _incidents(store)
    assert incident.resolved_by == "state"


async def test_who_acknowledges_is_told_no_more_until_it_gets_worse(store: Store) -> None:
    await _add_route(store)
    await store.add(max_interval=minutes(1))
    await _fail(store)
    await _look(store)
    (incident,) = await _incidents(store)
    people = Incidents(store.port, zone_of)
    incident = await people.acknowledge(CALLER, incident.id)
    assert incident.acknowledged_by == "user ada"
    again = await people.acknowledge(replace(CALLER, user_name="bob"), incident.id)
    assert again.acknowledged_by == "user ada"
    await _fail(store, 2)
    await _look(store)
    (incident,) = await _incidents(store)
    assert incident.acknowledged_by is None
    assert len(await _deliveries(store)) == 2
    with pytest.raises(NotFound):
        await people.acknowledge(replace(CALLER, tenant_id=OTHER_TENANT), incident.id)


async def test_what_a_person_closed_stays_closed_until_it_begins_anew(store: Store) -> None:
    await store.add(max_interval=minutes(1))
    await _fail(store)
    await _look(store)
    (incident,) = await _incidents(store)
    closed = await Incidents(store.port, zone_of).resolve(CALLER, incident.id)
    assert closed.resolved_by == "user ada"
    await _fail(store)
    await _look(store)
    assert await _kinds(store) == []
    await store.finish(await _next_claim(store))
    await _fail(store)
    await _look(store)
    assert await _kinds(store) == [IncidentKind.FAILING]


async def test_a_route_whose_quiet_hours_are_taken_away_tells_what_it_has_held(
    store: Store,
) -> None:
    now = (await store.clock.now()).time()
    quiet = QuietHours(now, (datetime.combine(NOON, now) + timedelta(hours=9)).time())
    route = await _add_route(store, quiet=quiet)
    await store.add()
    await _fail(store)
    await _look(store)
    assert await _deliveries(store) == []
    routes = Routes(store.port, zone_of, uuid4)
    await routes.change(CALLER, route.id, lambda one: replace(one, cooldown=minutes(5)), [])
    await _look(store)
    assert await _deliveries(store) == []  # it is as quiet as before
    await routes.change(CALLER, route.id, lambda one: replace(one, quiet=None), ["quiet"])
    await _look(store)
    (delivery,) = await _deliveries(store)
    assert "probe" in delivery.payload["body"]


async def test_another_tenants_routes_hear_nothing(store: Store) -> None:
    await _add_route(store)
    await store.add("elsewhere", tenant_id=OTHER_TENANT, job_id=id_of("another job"))
    await _fail(store)
    await _look(store)
    assert await _deliveries(store) == []


async def test_two_watches_at_once_tell_once(store: Store) -> None:
    await _add_route(store)
    await store.add()
    await _fail(store)
    one, two = _watch(store), _watch(store)
    for _ in range(10):
        await asyncio.gather(one.look_at_everything(), two.look_at_everything())
    await _look(store)
    assert len(await _deliveries(store)) == 1


# --- Outbox -----------------------------------------------------------------------------------


class _Counted(NoTelemetry):
    def __init__(self) -> None:
        self.attempts = Counter[tuple[str, str]]()

    def delivered(self, attempts: Iterable[tuple[str, str]]) -> None:
        self.attempts.update(attempts)


def _request(**fields: object) -> ClaimRequest:
    defaults = {"limit": 10, "lease": LEASE, "per_tenant": 4, "per_host": 1}
    return ClaimRequest("notifier", **{**defaults, **fields})  # type: ignore[arg-type]


async def _add_webhook(store: Store, name: str = "ci", **fields: object) -> Subscription:
    await store.endpoints.add_tenant(TENANT)
    async with store.transaction() as tx:
        known = (uuid4(), TENANT, name, "https://ci.example/hook", await tx.time())
        subscription = Subscription(*known, **fields)  # type: ignore[arg-type]
        await tx.insert_subscription(subscription)
    return subscription


async def _send(store: Store, to: UUID, count: int = 1, kind: str = "event") -> list[Delivery]:
    async with store.transaction() as tx:
        now = await tx.time()
        made = [
            Delivery(uuid4(), TENANT, kind, "run.failed", {"n": n}, now, now, subscription_id=to)
            for n in range(count)
        ]
        await tx.insert_deliveries(made)
    return made


async def _claim(store: Store, **fields: object) -> list[DeliveryClaim]:
    return list((await ClaimedDeliveries(store.port).claim_due(_request(**fields))).claims)


async def test_a_delivery_is_claimed_by_one_and_again_when_its_lease_has_ended(
    store: Store,
) -> None:
    webhook = await _add_webhook(store)
    await _send(store, webhook.id)
    (claim,) = await _claim(store)
    assert (claim.attempt, claim.url) == (1, "https://ci.example/hook")
    assert await _claim(store) == []
    await store.advance(LEASE)
    (second,) = await _claim(store)
    assert (second.run_id, second.attempt) == (claim.run_id, 2)
    queue = ClaimedDeliveries(store.port)
    report = await queue.finish([FinishedDelivery(claim, Attempt())])
    assert report.late == {claim.run_id}
    report = await queue.finish([FinishedDelivery(second, Attempt(status_code=204))])
    assert not report.late
    (delivery,) = await _deliveries(store)
    assert (delivery.status, delivery.status_code) == (DeliveryStatus.DELIVERED, 204)


async def test_the_url_of_a_channel_is_opened_for_who_sends(store: Store) -> None:
    route = await _add_route(store)
    async with store.transaction() as tx:
        now = await tx.time()
        payload = {"title": "t", "body": "b", "severity": "info"}
        made = Delivery(uuid4(), TENANT, "test", "t", payload, now, now, route.channel_id)
        await tx.insert_deliveries([made])
    (claim,) = await _claim(store)
    assert claim.url == URL.value
    assert URL.value not in repr(claim)


async def test_one_that_hangs_delays_no_other_and_no_tenant_takes_all(store: Store) -> None:
    first, second = await _add_webhook(store), await _add_webhook(store, "other")
    await _send(store, first.id, 5)
    await _send(store, second.id)
    claims = await _claim(store)
    assert sorted(claim.host for claim in claims) == sorted([str(first.id), str(second.id)])
    busy = {(TENANT, str(first.id)): 1}
    assert await _claim(store, busy_hosts=busy, busy_tenants={TENANT: 4}) == []


async def test_one_with_hundreds_waiting_hides_no_other_and_what_cannot_be_claimed_is_a_backlog(
    store: Store,
) -> None:
    first, second = await _add_webhook(store), await _add_webhook(store, "other")
    await _send(store, first.id, 400)
    await store.advance(seconds(1))
    await _send(store, second.id)
    batch = await ClaimedDeliveries(store.port).claim_due(_request(limit=2))
    assert {claim.host for claim in batch.claims} == {str(first.id), str(second.id)}
    assert batch.backlog
    assert batch.next_due_at == await store.clock.now() + LEASE
    busy = {(TENANT, claim.host): 1 for claim in batch.claims}
    again = await ClaimedDeliveries(store.port).claim_due(_request(busy_hosts=busy))
    assert (list(again.claims), again.backlog) == ([], True)


async def test_a_failure_is_tried_again_later_each_time_and_given_up_at_last(store: Store) -> None:
    webhook = await _add_webhook(store)
    await _send(store, webhook.id)
    counted = _Counted()
    queue, waits = ClaimedDeliveries(store.port, counted), list[timedelta]()
    for _ in range(12):
        (claim,) = await _claim(store)
        await queue.finish([FinishedDelivery(claim, Attempt("HTTP 500", 500))])
        (delivery,) = await _deliveries(store)
        now = await store.clock.now()
        waits.append(delivery.due_at - now)
        await store.clock.set(max(delivery.due_at, now))
    assert waits[:3] == [seconds(15), seconds(30), seconds(60)]
    assert counted.attempts == {("event", "retried"): 11, ("event", "failed"): 1}
    assert max(waits) <= timedelta(hours=4)
    assert delivery.status is DeliveryStatus.FAILED
    assert await _claim(store) == []
    (webhook,) = await store.notifications.list_subscriptions(TENANT)
    assert webhook.last_error == "HTTP 500"


@pytest.mark.parametrize(("failures", "is_sent_at_once"), [(3, False), (6, True)])
async def test_after_an_outage_what_waits_is_sent_at_once_the_oldest_first(
    store: Store, failures: int, is_sent_at_once: bool
) -> None:
    """Not after a moment: what a receiver refuses while it takes the others would be hurried."""
    webhook = await _add_webhook(store)
    queue = ClaimedDeliveries(store.port)
    waiting: list[UUID] = []
    for _ in range(2):
        waiting += [one.id for one in await _send(store, webhook.id)]
        await store.advance(seconds(1))
    for _ in range(failures):
        claims = await _claim(store, per_host=9)
        await queue.finish([FinishedDelivery(claim, Attempt("refused")) for claim in claims])
        await store.clock.set(max(one.due_at for one in await _deliveries(store)))
    for claim in await _claim(store, per_host=9):
        await queue.finish([FinishedDelivery(claim, Attempt("refused"))])
    await _send(store, webhook.id)
    (claim,) = await _claim(store, per_host=9)
    await queue.finish([FinishedDelivery(claim, Attempt(status_code=204))])
    claims = await _claim(store, per_host=9)
    ordered = sorted(claims, key=lambda each: each.slot_at)
    assert [each.run_id for each in ordered] == (waiting if is_sent_at_once else [])


async def test_what_was_not_sent_is_given_back_as_it_was(store: Store) -> None:
    webhook = await _add_webhook(store)
    await _send(store, webhook.id)
    claims = await _claim(store)
    queue = ClaimedDeliveries(store.port)
    assert (await queue.renew(claims, LEASE)).renewed == {claims[0].run_id}
    await queue.give_back(claims)
    assert (await queue.renew(claims, LEASE)).renewed == frozenset()
    (claim,) = await _claim(store)
    assert claim.attempt == 1


async def test_webhooks_are_sent_the_events_that_they_want(store: Store) -> None:
    endpoint: Endpoint = await store.add()
    wanted = await _add_webhook(store, kinds=("run.*",), job_id=endpoint.job_id)
    await _add_webhook(store, "of something else", kinds=("quota.*",))
    await _fail(store)
    await _look(store)
    found = [one for one in await _deliveries(store) if one.title.startswith("run.")]
    assert {one.subscription_id for one in found} == {wanted.id}
    failed = next(one for one in found if one.title == "run.failed")
    assert failed.payload["data"]["endpoint_id"] == str(endpoint.id)


async def test_a_webhook_that_fails_for_days_is_disabled_and_that_is_an_incident(
    store: Store,
) -> None:
    webhook = await _add_webhook(store)
    await _send(store, webhook.id)
    queue = ClaimedDeliveries(store.port)
    (claim,) = await _claim(store)
    await queue.finish([FinishedDelivery(claim, Attempt("refused"))])
    await _look(store)
    assert (await store.notifications.list_subscriptions(TENANT))[0].enabled
    await store.advance(timedelta(days=3, minutes=1))
    await _look(store)
    (webhook,) = await store.notifications.list_subscriptions(TENANT)
    assert not webhook.enabled
    assert await _kinds(store) == [IncidentKind.WEBHOOK]


async def test_a_failing_channel_is_an_incident_until_a_message_is_taken(store: Store) -> None:
    route = await _add_route(store)
    queue = ClaimedDeliveries(store.port)

    async def try_once(result: Attempt) -> None:
        async with store.transaction() as tx:
            now = await tx.time()
            payload = {"title": "t", "body": "b", "severity": "info"}
            made = Delivery(uuid4(), TENANT, "test", "t", payload, now, now, route.channel_id)
            await tx.insert_deliveries([made])
        (claim,) = [one for one in await _claim(store) if one.run_id == made.id]
        await queue.finish([FinishedDelivery(claim, result)])

    await try_once(Attempt("no route to host"))
    (channel,) = await store.notifications.list_channels(TENANT)
    assert (channel.health.failures, channel.health.last_error) == (1, "no route to host")
    async with store.transaction() as tx:  # so that its own trouble is not told through it
        await tx.delete_route(TENANT, route.id)
    await store.advance(minutes(6))
    await _look(store)
    assert await _kinds(store) == [IncidentKind.CHANNEL]
    await try_once(Attempt())
    await _look(store)
    assert await _kinds(store) == []


async def test_names_are_unique_and_what_is_another_tenants_is_not_there(store: Store) -> None:
    route = await _add_route(store)
    with pytest.raises(AlreadyThere):
        await _add_route(store)
    await _add_webhook(store)
    with pytest.raises(AlreadyThere):
        await _add_webhook(store)
    await store.endpoints.add_tenant(OTHER_TENANT)
    async with store.transaction() as tx:
        with pytest.raises(NotFound):
            await tx.lock_channel(OTHER_TENANT, route.channel_id)
        with pytest.raises(NotFound):
            await tx.lock_route(OTHER_TENANT, route.id)
    with pytest.raises(NotFound):
        async with store.transaction() as tx:
            await tx.insert_route(replace(route, id=uuid4(), tenant_id=OTHER_TENANT))
    async with store.transaction() as tx:
        await tx.delete_channel(TENANT, route.channel_id)
    assert await store.notifications.list_routes(TENANT) == []
    assert NOON.tzinfo is UTC
