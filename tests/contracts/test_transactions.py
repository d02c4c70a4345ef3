"""A transaction is stored as a whole or not at all, and names, revisions and secrets are kept."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from cadenza.application.ports.catalogue import StoredJob
from cadenza.application.ports.planning import Reservation
from cadenza.application.ports.store import EndpointChange, Transaction
from cadenza.domain import steering
from cadenza.domain.access import ApiKey, Scope, Tenant, User
from cadenza.domain.audit import IdempotencyRecord
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.errors import AlreadyThere, NotFound
from cadenza.domain.quota import Allowance, Period
from cadenza.domain.signing import SigningKey
from cadenza.domain.target import KEPT, HttpTarget, Secret, Target
from tests.contracts.harness import OTHER_JOB, OTHER_TENANT, Store
from tests.factories import CRON, NOON, id_of, make_endpoint, minutes

TENANT, JOB = id_of("tenant"), id_of("job")
ANN = User(id_of("ann"), TENANT, "ann", NOON)
KEY = ApiKey(id_of("key"), TENANT, ANN.id, "laptop", (Scope.READ,), bytes(32), NOON)
SENT = IdempotencyRecord("once", b"fingerprint")
PAID = Allowance(100, used=7)


def job(name: str, **fields: Any) -> StoredJob:
    return StoredJob(Job(uuid4(), TENANT, name, **fields), NOON, NOON)


async def everything(tx: Transaction) -> list[object]:
    """What the verbs can tell of a tenant."""
    jobs = await tx.declared_jobs(TENANT)
    endpoints = await tx.declared_endpoints(TENANT)
    return [
        await tx.lock_tenant(TENANT),
        [replace(stored, read_at=NOON) for stored in jobs],
        [replace(stored, read_at=NOON) for stored in endpoints],
        await tx.lock_allowance(Period(TENANT, "2026-03")),
        await tx.signing_key_ends(TENANT),
    ]


async def write_everything(tx: Transaction, endpoint: Endpoint) -> None:
    """Something of each kind."""
    tenant, now = await tx.lock_tenant(TENANT)
    await tx.save_tenant(replace(tenant, retention_days=3))
    await tx.insert_user(ANN)
    await tx.insert_key(KEY)
    await tx.insert_signing_key(SigningKey(uuid4(), TENANT, Secret("whsec_abcd"), now))
    (stored, *_) = await tx.declared_jobs(TENANT)
    await tx.save_jobs([replace(stored, job=replace(stored.job, name="renamed"))])
    await tx.insert_jobs([job("new")])
    archived = steering.archive(endpoint, now, CRON)
    await tx.save_endpoints([EndpointChange(archived, is_news=True, raises_revision=True)])
    await tx.insert_endpoints([(make_endpoint("new"), HttpTarget("http://new.example/"))])
    await tx.lock_allowance(Period(TENANT, "2026-03"))
    await tx.save_allowance(Period(TENANT, "2026-03"), PAID)
    await tx.insert_reservation(Reservation(id_of("reservation"), TENANT, "2026-03", 5))
    assert await tx.take_idempotency_key(TENANT, SENT, id_of("first")) is None


async def test_what_fails_leaves_nothing_behind(store: Store) -> None:
    endpoint = await store.add()
    async with store.transaction() as tx:
        before = await everything(tx)

    async def fail() -> None:
        async with store.transaction() as tx:
            await write_everything(tx, endpoint)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    async with store.transaction() as tx:
        assert await everything(tx) == before
        assert await tx.take_reservation(id_of("reservation")) is None
        assert await tx.take_idempotency_key(TENANT, SENT, id_of("second")) is None
        with pytest.raises(NotFound, match=f"no user {ANN.id}"):
            await tx.get_user(TENANT, ANN.id)
        with pytest.raises(NotFound, match=f"no key {KEY.id}"):
            await tx.lock_key(TENANT, KEY.id)


async def test_what_succeeds_is_all_there(store: Store) -> None:
    endpoint = await store.add()
    async with store.transaction() as tx:
        await write_everything(tx, endpoint)
    async with store.transaction() as tx:
        tenant, _ = await tx.lock_tenant(TENANT)
        assert tenant.retention_days == 3
        assert [stored.job.name for stored in await tx.declared_jobs(TENANT)] == ["new", "renamed"]
        assert [each.endpoint.name for each in await tx.declared_endpoints(TENANT)] == ["new"]
        assert (await tx.get_endpoint(TENANT, endpoint.id)).revision == 2
        assert await tx.lock_allowance(Period(TENANT, "2026-03")) == PAID
        assert await tx.signing_key_ends(TENANT) == [None]
        assert (await tx.lock_key(TENANT, KEY.id))[0] == KEY
        taken = await tx.take_idempotency_key(TENANT, SENT, id_of("second"))
        assert taken == (b"fingerprint", id_of("first"))


async def test_a_deleted_tenant_takes_everything_with_it(store: Store) -> None:
    endpoint = await store.add()
    other = await store.add("other", tenant_id=OTHER_TENANT, job_id=OTHER_JOB)
    claims = {claim.endpoint_id: claim for claim in (await store.claim()).claims}
    await store.finish(claims[endpoint.id])
    async with store.transaction() as tx:
        await write_everything(tx, endpoint)
    async with store.transaction() as tx:
        await tx.delete_tenant(TENANT)
    with pytest.raises(NotFound):
        await store.history.get_run(TENANT, claims[endpoint.id].run_id)
    async with store.transaction() as tx:
        with pytest.raises(NotFound, match=f"no tenant {TENANT}"):
            await tx.lock_tenant(TENANT)
        assert not await tx.declared_jobs(TENANT)
        assert not await tx.lock_endpoints([endpoint.id])
    assert await store.finish(claims[other.id])
    again = await store.add()  # the same names and ids are free again
    assert (await store.claim_one()).endpoint_id == again.id


# --- Names ------------------------------------------------------------------------------------


async def insert_job(tx: Transaction) -> None:
    await tx.insert_jobs([job("taken")])


async def rename_job(tx: Transaction) -> None:
    stored = job("free")
    await tx.insert_jobs([stored])
    await tx.save_jobs([replace(stored, job=replace(stored.job, name="taken"))])


async def insert_endpoint(tx: Transaction) -> None:
    endpoint = replace(make_endpoint("taken"), id=uuid4())
    await tx.insert_endpoints([(endpoint, HttpTarget("http://taken.example/"))])


async def rename_endpoint(tx: Transaction) -> None:
    endpoint = make_endpoint("free")
    await tx.insert_endpoints([(endpoint, HttpTarget("http://free.example/"))])
    renamed = replace(endpoint, name="taken")
    await tx.save_endpoints([EndpointChange(renamed, is_news=False)])


async def insert_tenant(tx: Transaction) -> None:
    await tx.insert_tenant(Tenant(uuid4(), "taken", NOON))


async def insert_user(tx: Transaction) -> None:
    await tx.insert_user(replace(ANN, id=uuid4(), name="taken"))


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (insert_job, "a job of that name exists"),
        (rename_job, "a job of that name exists"),
        (insert_endpoint, "the job has an endpoint of that name"),
        (rename_endpoint, "the job has an endpoint of that name"),
        (insert_tenant, "a tenant of that name exists"),
        (insert_user, "a user of that name exists"),
    ],
)
async def test_a_name_that_is_taken_is_refused_in_words(
    store: Store, write: Callable[[Transaction], Awaitable[None]], words: str
) -> None:
    await store.add("taken")
    async with store.transaction() as tx:
        await tx.insert_jobs([job("taken")])
        await tx.insert_tenant(Tenant(OTHER_TENANT, "taken", NOON))
        await tx.insert_user(replace(ANN, name="taken"))
        await tx.insert_user(User(uuid4(), OTHER_TENANT, "taken", NOON))  # of another tenant
    with pytest.raises(AlreadyThere, match=f"name: 'taken' is not valid: {words}; choose another"):
        async with store.transaction() as tx:
            await write(tx)


async def test_what_is_archived_frees_its_name(store: Store) -> None:
    await store.endpoints.change_endpoint(TENANT, (await store.add("taken")).id, steering.archive)
    async with store.transaction() as tx:
        await insert_endpoint(tx)
        await tx.insert_jobs([job("taken", archived_at=NOON), job("taken")])


# --- Definitions ------------------------------------------------------------------------------


async def save(store: Store, endpoint: Endpoint, target: Target) -> None:
    async with store.transaction() as tx:
        stored = await tx.lock_endpoint(TENANT, endpoint.id)
        change = EndpointChange(stored.endpoint, is_news=False, target=target, raises_revision=True)
        await tx.save_endpoints([change])


async def test_a_secret_that_is_kept_stays_and_is_read_only_where_it_is_asked_for(
    store: Store,
) -> None:
    endpoint = await store.add()
    target = HttpTarget("http://x.example/", secret_headers={"a": Secret("one"), "b": Secret("2")})
    await save(store, endpoint, target)
    kept = replace(target, secret_headers={"a": Secret(KEPT), "c": Secret("three")})
    await save(store, endpoint, kept)
    masked = replace(target, secret_headers={"a": Secret(KEPT), "c": Secret(KEPT)})
    stored = await store.catalogue.get_endpoint(TENANT, endpoint.id)
    assert (stored.target, stored.secrets, stored.revision) == (masked, {}, 3)
    opened = await store.catalogue.get_endpoint(TENANT, endpoint.id, with_secrets=True)
    assert opened.target == masked
    assert opened.secrets == {"a": Secret("one"), "c": Secret("three")}
    assert (await store.claim_one()).target == opened.opened_target


async def test_only_what_changes_a_definition_raises_its_revision(store: Store) -> None:
    endpoint = await store.add()
    async with store.transaction() as tx:
        hinted = replace(endpoint, failure_count=2)
        await tx.save_endpoints([EndpointChange(hinted, is_news=True)])
        assert (await tx.get_endpoint(TENANT, endpoint.id)).revision == 1
        stored = await tx.lock_job(TENANT, JOB)
        assert (stored.revision, stored.endpoint_count) == (1, 1)
        await tx.save_jobs([stored])
        assert (await tx.get_job(TENANT, JOB)).revision == 2


async def test_rows_of_another_tenant_are_not_there(store: Store) -> None:
    endpoint = await store.add()

    async def missing(reading: Awaitable[object], row_id: UUID, what: str) -> None:
        with pytest.raises(NotFound, match=f"no {what} {row_id}"):
            await reading

    async with store.transaction() as tx:
        await missing(tx.get_job(OTHER_TENANT, JOB), JOB, "job")
        await missing(tx.lock_job(OTHER_TENANT, JOB), JOB, "job")
        await missing(tx.share_job(OTHER_TENANT, JOB), JOB, "job")
        await missing(tx.get_endpoint(OTHER_TENANT, endpoint.id), endpoint.id, "endpoint")
        await missing(tx.lock_endpoint(OTHER_TENANT, endpoint.id), endpoint.id, "endpoint")
        await missing(tx.lock_tenant(OTHER_TENANT), OTHER_TENANT, "tenant")
        await missing(tx.delete_user(TENANT, ANN.id), ANN.id, "user")


async def test_signing_keys_end_in_turn(store: Store) -> None:
    await store.endpoints.add_tenant(TENANT)
    keys = [SigningKey(uuid4(), TENANT, Secret("whsec_abcd"), NOON) for _ in range(3)]
    for number, key in enumerate(keys):
        now = await store.advance(minutes(10))
        async with store.transaction() as tx:
            await tx.end_signing_keys(TENANT, now, now + minutes(15))
            await tx.insert_signing_key(replace(key, created_at=now))
            ends = await tx.signing_key_ends(TENANT)
        expected = [now + minutes(15 - 10 * age) for age in range(min(number, 2))]
        assert sorted(end for end in ends if end) == sorted(expected)
        assert len(ends) == len(expected) + 1
