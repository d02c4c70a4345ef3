"""Graphs as targets of endpoints: who claims them, and that they are started at most once."""

from dataclasses import replace
from typing import Any

import pytest

from cadenza.application.finishing import ClaimedRuns
from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.ports.store import EndpointChange
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.grant import Grant, GrantRefusal
from cadenza.domain.graph import ErrorCode
from cadenza.domain.graph_target import GRAPHS, GraphTarget, Mandate
from cadenza.domain.run import WORKER_LOST, Claim, FinishedRun, RunStatus
from tests.contracts.harness import LEASE, Store
from tests.contracts.payers import GRAPH, give_grant, open_account
from tests.factories import NOON, minutes


async def add_graph(store: Store, credits: int = 100, **fields: Any) -> tuple[Endpoint, Grant]:  # noqa: A002
    account = await open_account(store, credits)
    grant = await give_grant(store, account)
    mandate = Mandate(grant.id, grant.user_id, grant.account_id)
    target = GraphTarget(GRAPH, {"topic": "sea"}, account=account.name, mandate=mandate)
    return await store.add("researcher", target=target, **fields), grant


def queue_of(store: Store) -> ClaimedRuns:
    assert isinstance(store.queue, ClaimedRuns)
    return store.queue


async def started(store: Store) -> Claim:
    claim = await store.claim_one(runs_on=GRAPHS)
    assert await queue_of(store).start([claim]) == {}
    return claim


async def sweep(store: Store, runs_on: str) -> list[Claim]:
    request = ClaimRequest("sweeper", 10, LEASE, runs_on=runs_on)
    return list(await store.queue.claim_lost(request))


async def test_a_graph_is_claimed_by_graph_workers_and_by_nobody_else(store: Store) -> None:
    endpoint, grant = await add_graph(store)
    await store.add("probe")
    plain = await store.claim_one()
    assert plain.endpoint_name == "probe"
    claim = await store.claim_one(runs_on=GRAPHS)
    assert claim.endpoint_id == endpoint.id
    assert isinstance(claim.target, GraphTarget)
    assert (claim.target.graph_id, claim.target.input) == (GRAPH, {"topic": "sea"})
    caller = claim.request.caller
    assert (caller.grant_id, caller.account_id) == (grant.id, grant.account_id)
    assert claim.request.endpoint_id == endpoint.id


async def test_without_a_graph_worker_it_stays_due_and_nothing_fails(store: Store) -> None:
    endpoint, _ = await add_graph(store)
    await store.advance(minutes(30))
    batch = await store.claim()
    assert (list(batch.claims), batch.backlog, batch.next_due_at) == ([], False, None)
    present = await store.get(endpoint)
    assert (present.next_run_at, present.failure_count) == (NOON, 0)
    assert await store.runs(endpoint) == []


async def test_each_kind_of_worker_hears_of_its_own_next_slot(store: Store) -> None:
    await add_graph(store, created_at=NOON + minutes(5))
    await store.add("probe", created_at=NOON + minutes(7))
    assert (await store.claim()).next_due_at == NOON + minutes(7)
    assert (await store.claim(runs_on=GRAPHS)).next_due_at == NOON + minutes(5)


async def test_what_a_person_asks_for_waits_for_the_right_worker(store: Store) -> None:
    await add_graph(store, created_at=NOON + minutes(5), manual_slot_at=NOON)
    assert not (await store.claim()).claims
    assert (await store.claim_one(runs_on=GRAPHS)).is_manual


async def test_a_worker_lost_before_the_start_leaves_a_run_that_is_sent_again(store: Store) -> None:
    endpoint, _ = await add_graph(store)
    lost = await store.claim_one(runs_on=GRAPHS)
    await store.advance(LEASE)
    again = await store.claim_one(runs_on=GRAPHS)
    assert (again.run_id, again.attempt, again.must_close) == (lost.run_id, 2, False)
    assert await queue_of(store).start([again]) == {}
    assert await store.finish(again)
    assert (await store.run(endpoint)).status is RunStatus.SUCCESS


@pytest.mark.parametrize("is_swept", [False, True])
async def test_a_worker_lost_after_the_start_leaves_a_run_that_is_only_closed(
    store: Store, is_swept: bool
) -> None:
    endpoint, _ = await add_graph(store)
    lost = await started(store)
    await store.advance(LEASE)
    if is_swept:
        assert await sweep(store, "") == []
        (taken,) = await sweep(store, GRAPHS)
    else:
        taken = await store.claim_one(runs_on=GRAPHS)
    assert (taken.run_id, taken.attempt, taken.started_at) == (lost.run_id, 1, NOON)
    assert taken.must_close
    assert [attempt.attempt for attempt in await store.lost_attempts(taken)] == [1]
    now = await store.clock.now()
    report = await store.queue.finish([FinishedRun(taken, WORKER_LOST, taken.started_at, now)])
    assert not report.late
    run = await store.run(endpoint)
    assert (run.status, run.error_kind, run.attempt) == (RunStatus.TIMEOUT, "worker_lost", 1)
    assert run.started_at == NOON
    assert not await store.finish(lost), "its own worker came too late"
    await store.advance(minutes(30))
    following = await store.claim_one(runs_on=GRAPHS)
    assert (following.started_at, following.attempt, following.must_close) == (None, 1, False)


async def test_a_takeover_that_is_lost_too_is_still_only_closed(store: Store) -> None:
    await add_graph(store)
    await started(store)
    for _ in range(3):
        await store.advance(LEASE)
        taken = await store.claim_one(runs_on=GRAPHS)
        assert (taken.attempt, taken.must_close) == (1, True)
    assert len(await store.lost_attempts(taken)) == 1


async def test_a_start_under_an_old_epoch_is_refused(store: Store) -> None:
    await add_graph(store)
    lost = await store.claim_one(runs_on=GRAPHS)
    await store.advance(LEASE)
    assert await queue_of(store).start([lost]) == {lost.run_id: ErrorCode.ABORTED}
    again = await store.claim_one(runs_on=GRAPHS)
    assert await queue_of(store).start([lost]) == {lost.run_id: ErrorCode.ABORTED}
    assert await queue_of(store).start([again]) == {}


async def test_a_start_asks_the_grant_and_the_account(store: Store) -> None:
    _, grant = await add_graph(store)
    claim = await store.claim_one(runs_on=GRAPHS)
    queue = queue_of(store)
    async with store.transaction() as tx:
        await tx.save_grant(replace(grant, revoked_at=NOON))
    assert await queue.start([claim]) == {claim.run_id: GrantRefusal.REVOKED}
    async with store.transaction() as tx:
        await tx.save_grant(grant)
        account = await tx.lock_account(grant.tenant_id, grant.account_id)
        await tx.add_entry(account, -100, "spent", "spent")
    assert await queue.start([claim]) == {claim.run_id: ErrorCode.INSUFFICIENT_CREDITS}
    async with store.transaction() as tx:
        await tx.add_entry(account, 1, "more", "more")
    assert await queue.start([claim]) == {}
    _, uses = await store.grants.get_grant(grant.tenant_id, grant.id, 10)
    assert [(use.use.run_id, use.use.refusal) for use in uses] == [
        (claim.run_id, GrantRefusal.REVOKED)  # which stays
    ]


async def test_a_target_that_changes_its_kind_changes_its_workers(store: Store) -> None:
    endpoint, _ = await add_graph(store)
    other = await store.add("probe")
    async with store.transaction() as tx:
        probe, graph = [
            (await tx.get_endpoint(each.tenant_id, each.id)).target for each in (other, endpoint)
        ]
        await tx.save_endpoints(
            [
                EndpointChange(endpoint, is_news=False, target=probe),
                EndpointChange(other, is_news=False, target=graph),
            ]
        )
    assert (await store.claim_one()).endpoint_id == endpoint.id
    assert (await store.claim_one(runs_on=GRAPHS)).endpoint_id == other.id
