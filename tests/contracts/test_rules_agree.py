"""What a store decides in its own way, held against the domain's rule on random data.

PostgreSQL says in SQL who is claimed, how healthy an endpoint is, what needs an analysis and what
state an endpoint is in. Each test makes up a few dozen endpoints, asks the store once, and asks the
domain about each of them.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random  # noqa: TID251 - seeded, so that a failure reproduces
from typing import Any
from uuid import UUID, uuid4

import pytest

from cadenza.application.ports.activity import StateCounts
from cadenza.application.ports.analysis_queue import AnalysisRequest
from cadenza.application.ports.catalogue import EndpointSearch
from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.ports.planning import Reservation
from cadenza.application.ports.store import EndpointChange
from cadenza.domain import steering
from cadenza.domain.analysis import (
    STREAK_GAP,
    AnalysisReason,
    Attention,
    Facts,
    reason_to_analyse,
)
from cadenza.domain.claiming import Candidate, fair_shares, slot_to_claim
from cadenza.domain.endpoint import Endpoint, EndpointState, Job, is_in_state
from cadenza.domain.graph_target import GraphTarget, Mandate
from cadenza.domain.health import health_of
from cadenza.domain.hint import Pause
from cadenza.domain.instants import latest
from cadenza.domain.plan import Source
from cadenza.domain.planner_policy import USUAL, PlannerPolicy
from cadenza.domain.quota import Allowance, OverLimit, Period, day_of, month_of, over_limit
from cadenza.domain.run import Claim, Run, RunStatus
from cadenza.domain.session import Session, SessionEnd
from cadenza.domain.target import ANYWHERE, HttpTarget, Target
from tests.contracts.harness import Instants, Store
from tests.factories import CRON, NOON, id_of, make_endpoint, seconds

SEEDS = range(6)
OWN_GAP = timedelta(minutes=20)  # of some jobs
TENANTS = [id_of(f"tenant {number}") for number in range(4)]
HOSTS = [f"host-{number}.example" for number in range(5)]
GRAPH = GraphTarget("python:a:b", mandate=Mandate(uuid4(), uuid4(), uuid4()))  # of other workers
ENDED = [status for status in RunStatus if status is not RunStatus.RUNNING]


async def insert(store: Store, endpoints: Sequence[Endpoint], hosts: Sequence[str] = ()) -> None:
    """In one transaction, as they are, with the tenants and jobs that they need."""
    for tenant_id in {endpoint.tenant_id for endpoint in endpoints}:
        await store.endpoints.add_tenant(tenant_id)
    jobs = {endpoint.job_id: endpoint.tenant_id for endpoint in endpoints}
    for job_id, tenant_id in jobs.items():
        policy = PlannerPolicy(min_gap=gap_of(job_id))
        await store.endpoints.add_job(Job(job_id, tenant_id, str(job_id), planner=policy))
    targets = [target_at(host) for host in hosts or [HOSTS[0]] * len(endpoints)]
    async with store.transaction() as tx:
        await tx.insert_endpoints(list(zip(endpoints, targets, strict=True)))


def target_at(host: str) -> Target:
    if host != GRAPH.host:
        return HttpTarget(f"http://{host}/")
    return GRAPH


def made_up(random: Random, name: str, **fields: Any) -> Endpoint:
    """Of any of the tenants, with its first plan."""
    tenant_id = random.choice(TENANTS)
    ids = {"tenant_id": tenant_id, "job_id": id_of(f"job of {tenant_id}")}
    return steering.begin(make_endpoint(name, **{**ids, **fields}), NOON, CRON)


def due_at(endpoint: Endpoint, at: datetime | None) -> Endpoint:
    assert endpoint.plan is not None
    source = None if at is None else Source.BASELINE_INTERVAL
    return replace(endpoint, plan=replace(endpoint.plan, next_run_at=at, source=source))


def around(random: Random, now: datetime) -> datetime:
    """Any time near; often just now, or a moment before or after."""
    near = (seconds(0), timedelta(microseconds=1), timedelta(microseconds=-1))
    return now + random.choice((*near, seconds(random.uniform(-90, 90))))


def steered(random: Random, endpoint: Endpoint, now: datetime) -> Endpoint:
    """Paused, archived, both or neither."""

    def sometimes() -> datetime | None:
        return around(random, now) if random.random() < 0.25 else None

    person, planner = sometimes(), sometimes()
    return replace(
        endpoint,
        person_pause=person and Pause(person),
        planner_pause=planner and Pause(planner),
        job_paused_until=sometimes(),
        archived_at=now if random.random() < 0.1 else None,
    )


# --- Claims -----------------------------------------------------------------------------------


async def in_execution(store: Store, random: Random, names: str, lease: timedelta) -> list[Claim]:
    """Ten endpoints that were claimed at noon, some of them by hand."""
    endpoints = [made_up(random, f"{names} {number}") for number in range(10)]
    by_hand = [
        replace(due_at(endpoint, None), manual_slot_at=NOON) if random.random() < 0.4 else endpoint
        for endpoint in endpoints
    ]
    await insert(store, by_hand, [random.choice(HOSTS) for _ in by_hand])
    batch = await store.queue.claim_due(ClaimRequest("worker", 100, lease))
    assert len(batch.claims) == 10
    return list(batch.claims)


async def waiting(store: Store, random: Random, now: datetime) -> list[Endpoint]:
    """Forty endpoints that nobody has claimed."""
    endpoints: list[Endpoint] = []
    for number in range(40):
        endpoint = made_up(random, f"waiting {number}")
        at = None if random.random() < 0.1 else around(random, now) + number * seconds(0.001)
        manual_slot_at = now - number * seconds(0.01) if random.random() < 0.2 else None
        endpoint = steered(random, due_at(endpoint, at), now)
        if endpoint.archived_at is None:
            endpoint = replace(endpoint, manual_slot_at=manual_slot_at)
        endpoints.append(endpoint)
    await insert(store, endpoints, [random.choice((*HOSTS, GRAPH.host)) for _ in endpoints])
    return endpoints


async def candidates_of(
    store: Store,
    ids: Sequence[UUID],
    leases: dict[UUID, datetime],
    horizon: datetime,
    runs_on: str = ANYWHERE,
) -> list[Candidate]:
    """What the domain says may be claimed, of the endpoints as they are stored."""
    async with store.transaction() as tx:
        now = await tx.time()
        endpoints = [stored.endpoint for stored in await tx.lock_endpoints(ids)]
    targets = {
        endpoint.id: (await store.catalogue.get_endpoint(endpoint.tenant_id, endpoint.id)).target
        for endpoint in endpoints
    }
    slots = {
        endpoint.id: slot_to_claim(endpoint, leases.get(endpoint.id), now, horizon)
        for endpoint in endpoints
    }
    return [
        Candidate(endpoint.id, endpoint.tenant_id, targets[endpoint.id].host, slot_at)
        for endpoint in endpoints
        if (slot_at := slots[endpoint.id]) is not None and targets[endpoint.id].runs_on == runs_on
    ]


def request_of(random: Random) -> ClaimRequest:
    """With room for all that is due, but for the limits of some tenants and hosts."""
    return ClaimRequest(
        "worker",
        100,
        seconds(30),
        ahead=random.choice((seconds(0), seconds(5))),
        per_tenant=random.randint(3, 12),
        per_host=random.randint(2, 8),
        busy_tenants={tenant_id: random.randint(0, 5) for tenant_id in random.sample(TENANTS, 2)},
        busy_hosts={
            (tenant_id, host): random.randint(0, 8)
            for host in random.sample(HOSTS, 2)
            for tenant_id in random.sample(TENANTS, 3)
        },
    )


@pytest.mark.parametrize("seed", SEEDS)
async def test_who_is_claimed_is_whom_the_domain_would_claim(store: Store, seed: int) -> None:
    random = Random(seed)
    lost = await in_execution(store, random, "lost", seconds(30))
    held = await in_execution(store, random, "held", seconds(600))
    leases = {claim.endpoint_id: NOON + seconds(30) for claim in lost}
    leases |= {claim.endpoint_id: NOON + seconds(600) for claim in held}
    now = await store.advance(seconds(random.choice((30, 60))))
    async with store.transaction() as tx:
        running = [stored.endpoint for stored in await tx.lock_endpoints(list(leases))]
        changes = [EndpointChange(steered(random, each, now), is_news=False) for each in running]
        await tx.save_endpoints(changes)
    endpoints = [*running, *await waiting(store, random, now)]
    request = request_of(random)
    ids = [endpoint.id for endpoint in endpoints]
    candidates = await candidates_of(store, ids, leases, now + request.ahead)
    assert len(candidates) > 10
    by_hand = {
        endpoint.id for endpoint in running if endpoint.running_is_manual
    }  # closed, not sent
    expected = [
        *fair_shares([each for each in candidates if each.endpoint_id not in by_hand], request),
        *(candidate for candidate in candidates if candidate.endpoint_id in by_hand),
    ]
    claims = (await store.queue.claim_due(request)).claims
    assert {(claim.endpoint_id, claim.slot_at) for claim in claims} == {
        (candidate.endpoint_id, candidate.slot_at) for candidate in expected
    }
    graphs = await candidates_of(store, ids, leases, now + request.ahead, GRAPH.runs_on)
    request = replace(request, runs_on=GRAPH.runs_on)
    claims = (await store.queue.claim_due(request)).claims
    assert {claim.endpoint_id for claim in claims} == {
        candidate.endpoint_id for candidate in fair_shares(graphs, request)
    }


@pytest.mark.parametrize("seed", SEEDS)
async def test_with_a_backlog_the_shares_are_the_domains(store: Store, seed: int) -> None:
    """Each tenant has more than there is room for, which the first claim shows."""
    random = Random(seed)
    endpoints = [
        due_at(
            make_endpoint(
                f"due {number}",
                tenant_id=TENANTS[number % 4],
                job_id=id_of(f"job of {number % 4}"),
                plan=made_up(random, "plan").plan,
            ),
            NOON - seconds(random.uniform(0, 600)),
        )
        for number in range(64)
    ]
    await insert(store, endpoints)
    ids, leases = [endpoint.id for endpoint in endpoints], dict[UUID, datetime]()
    for limit in (1, random.randint(4, 16), random.randint(4, 16)):
        per_tenant = random.randint(3, 12)
        request = ClaimRequest("worker", limit, seconds(30), per_tenant=per_tenant, per_host=1000)
        candidates = await candidates_of(store, ids, leases, NOON + request.ahead)
        expected = fair_shares(candidates, request)
        batch = await store.queue.claim_due(request)
        assert {claim.endpoint_id for claim in batch.claims} == {
            candidate.endpoint_id for candidate in expected
        }
        assert batch.backlog
        leases |= {claim.endpoint_id: NOON + seconds(30) for claim in batch.claims}


# --- Health -----------------------------------------------------------------------------------


def runs_of(random: Random, endpoint: Endpoint) -> list[Run]:
    """One after the other up to now, over more than a day; the last one may not have ended."""
    runs: list[Run] = []
    at = NOON - seconds(random.uniform(0, 30 * 3600))
    ends_badly = random.random()
    while at < NOON:
        took, status = seconds(random.uniform(0, 600)), random.choice(ENDED)
        if random.random() > ends_badly:
            status = RunStatus.SUCCESS
        is_over = at + took <= NOON
        run = Run(
            id=uuid4(),
            endpoint_id=endpoint.id,
            tenant_id=endpoint.tenant_id,
            slot_at=at,
            source=Source.BASELINE_INTERVAL,
            status=status if is_over else RunStatus.RUNNING,
            attempt=1,
            epoch=1,
            claimed_at=at,
            started_at=at if random.random() < 0.9 else None,
            finished_at=at + took if is_over else None,
        )
        runs.append(run)
        at += took + seconds(random.choice((1, 60, 1800, 3600)))
    return runs


@pytest.mark.parametrize("seed", SEEDS)
async def test_health_is_what_the_domain_makes_of_the_runs(store: Store, seed: int) -> None:
    random = Random(seed)
    endpoints = [
        made_up(random, f"probe {number}", failure_count=random.choice((0, 0, 1, 7)))
        for number in range(35)
    ]
    await insert(store, endpoints)
    runs = {endpoint.id: runs_of(random, endpoint) for endpoint in endpoints}
    await store.rows.add_runs([run for ended in runs.values() for run in ended])
    contexts = await store.analysis_queue.contexts_for(list(runs), "rules")
    in_context = {context.endpoint.id: context.health for context in contexts}
    for endpoint in endpoints:
        expected = health_of(runs[endpoint.id], endpoint.failure_count, NOON)
        health = await store.history.health_of(endpoint.tenant_id, endpoint.id)
        assert health == in_context[endpoint.id]
        assert replace(health, mean_duration=None) == replace(expected, mean_duration=None)
        if expected.mean_duration is None:
            assert health.mean_duration is None
        else:  # a database rounds a mean in its own way
            assert health.mean_duration is not None
            assert abs(health.mean_duration - expected.mean_duration) <= timedelta(microseconds=1)


# --- Analyses ---------------------------------------------------------------------------------


def facts_of(
    endpoint: Endpoint,
    members: Sequence[Endpoint],
    instants: dict[UUID, Instants],
    sessions: dict[UUID, Session],
) -> Facts:
    own, session = instants[endpoint.id], sessions.get(endpoint.id)
    others = [
        instants[other.id]
        for other in members
        if other.id != endpoint.id and other.archived_at is None
    ]
    return Facts(
        last_finished_at=own.last_finished_at,
        last_failed_at=own.last_failed_at,
        sibling_finished_at=latest(*(other.last_finished_at for other in others)),
        sibling_changed_at=latest(
            *(latest(other.steered_at, other.streak_changed_at) for other in others)
        ),
        streak_changed_at=own.streak_changed_at,
        asked_at=own.asked_at,
        looked_at=session.started_at if session else None,
        next_analysis_at=session.next_analysis_at if session else None,
        streak_looked_at=(
            session.started_at if session and session.reason is AnalysisReason.STREAK else None
        ),
        failed_looks=session.failed_looks if session else 0,
        min_gap=gap_of(endpoint.job_id),
    )


def gap_of(job_id: UUID) -> timedelta:
    return OWN_GAP if job_id.int % 3 == 0 else USUAL.min_gap


@pytest.mark.parametrize("seed", SEEDS)
async def test_what_needs_an_analysis_is_what_the_domain_has_a_reason_for(
    store: Store, seed: int
) -> None:
    random = Random(seed)

    def sometimes(share: float = 0.4) -> datetime | None:
        """One of a few instants, so that some are the same, and some at the edge of a gap."""
        gaps = (timedelta(0), STREAK_GAP, USUAL.min_gap, OWN_GAP)
        ago = seconds(random.randint(-1, 4)) + random.choice(gaps)
        return NOON - ago if random.random() < share else None

    members: dict[UUID, list[Endpoint]] = defaultdict(list)
    for number in range(40):
        job_id = id_of(f"job {random.randint(0, 25)}")
        archived_at = NOON if random.random() < 0.1 else None
        endpoint = make_endpoint(f"probe {number}", job_id=job_id, archived_at=archived_at)
        members[job_id].append(steering.begin(endpoint, NOON, CRON))
    endpoints = [endpoint for job in members.values() for endpoint in job]
    await insert(store, endpoints)
    instants = {
        endpoint.id: Instants(
            sometimes(0.8),
            sometimes(0.4),
            sometimes(0.2),
            sometimes(0.1),
            sometimes(0.2),
            sometimes(0.3),
        )
        for endpoint in endpoints
    }
    await store.rows.set_instants(instants)
    sessions = {
        endpoint.id: Session(
            id_of(f"session {endpoint.name}"),
            endpoint.tenant_id,
            endpoint.job_id,
            endpoint.id,
            "test",
            analysed_at,
            seconds(1),
            SessionEnd.SUBMITTED,
            next_analysis_at=sometimes(0.8),
            reasoning="calm",
            reason=random.choice((None, AnalysisReason.STREAK)),
            failed_looks=random.choice((0, 0, 0, 2)),
        )
        for endpoint in endpoints
        if (analysed_at := sometimes(0.7)) is not None
    }
    async with store.transaction() as tx:
        await tx.save_analysis_states(list(sessions.values()), "test")
    for attention in Attention:
        reasons = {
            endpoint.id: reason_to_analyse(
                facts_of(endpoint, members[endpoint.job_id], instants, sessions), attention, NOON
            )
            for endpoint in endpoints
            if endpoint.archived_at is None
        }
        expected = {endpoint_id: why for endpoint_id, why in reasons.items() if why is not None}
        request = AnalysisRequest("test", attention, "test", 1000, seconds(30))
        looks = await store.analysis_queue.claim_for_analysis(request)
        assert looks == expected
        assert len(looks) > 5
        asked = [why is AnalysisReason.ASKED for why in looks.values()]
        assert asked == sorted(asked, reverse=True)  # a person does not wait for the others
        await store.analysis_queue.release(list(looks), "test", "test")


# --- Quotas -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_quota_is_what_its_allowances_say(store: Store, seed: int) -> None:
    """The tenant's month and the job's day at once: the first that lacks something refuses."""
    random = Random(seed)
    tenant_id = TENANTS[0]
    await store.endpoints.add_tenant(tenant_id)
    policies = (PlannerPolicy(tokens_per_day=500), PlannerPolicy(money_per_day=1.0))
    jobs = [Job(id_of(str(policy)), tenant_id, str(policy), planner=policy) for policy in policies]
    for job in jobs:
        await store.endpoints.add_job(job)
    month = Period(tenant_id, month_of(NOON))
    days = {job.id: Period(tenant_id, day_of(NOON), job.id) for job in jobs}
    allowances = {
        month: Allowance(1000, cost_limit=2.0),
        days[jobs[0].id]: Allowance(500),
        days[jobs[1].id]: Allowance(None, cost_limit=1.0),
    }
    reservations: list[Reservation] = []
    refused: set[str] = set()
    for _ in range(60):
        if reservations and random.random() < 0.5:
            reservation = reservations.pop(random.randrange(len(reservations)))
            used, cost = random.randint(0, 60), random.choice((0.0, 0.125))
            await store.quota.settle(reservation, used, cost)
            assert not await store.quota.settle(reservation, used, cost)
            for period in reservation.periods:
                allowances[period] = allowances[period].settle(
                    reservation.tokens, used, reservation.cost, cost
                )
            continue
        job, tokens = random.choice(jobs), random.randint(0, 300)
        cost = random.choice((0.0, 0.25, 0.5))
        periods = (month, days[job.id])
        overs = [over_limit(period, allowances[period], tokens, cost) for period in periods]
        expected = next((over for over in overs if over is not None), None)
        reserved = await store.quota.reserve(job, tokens, cost)
        if isinstance(reserved, OverLimit):
            assert reserved == expected
            refused.add(reserved.limit_name)
            continue
        assert expected is None
        reservations.append(reserved)
        for period in periods:
            allowances[period] = allowances[period].reserved_for(tokens, cost)
    assert len(refused) > 1
    async with store.transaction() as tx:
        for period, allowance in allowances.items():
            stored = await tx.lock_allowance(period)
            assert replace(stored, refused_at=None) == allowance


# --- States -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
async def test_the_endpoints_of_a_state_are_those_that_are_in_it(store: Store, seed: int) -> None:
    random = Random(seed)
    endpoints = [
        steered(random, made_up(random, f"probe {number}", failure_count=number % 3 // 2), NOON)
        for number in range(40)
    ]
    await insert(store, endpoints)
    for state in (None, *EndpointState):
        for tenant_id in TENANTS:
            search = EndpointSearch(state=state, limit=1000)
            listed = await store.catalogue.list_endpoints(tenant_id, search)
            assert {stored.endpoint.id for stored in listed} == {
                endpoint.id
                for endpoint in endpoints
                if endpoint.tenant_id == tenant_id and is_in_state(endpoint, state, NOON)
            }
    for tenant_id in TENANTS:
        await _check_counts(store, tenant_id, endpoints)


async def _check_counts(store: Store, tenant_id: UUID, endpoints: Sequence[Endpoint]) -> None:
    """One may be in several states; those that are in none of these are `ok`."""
    own = [
        endpoint
        for endpoint in endpoints
        if endpoint.tenant_id == tenant_id and endpoint.archived_at is None
    ]
    counted = (
        EndpointState.FAILING,
        EndpointState.LATE,
        EndpointState.PAUSED,
        EndpointState.HINTED,
    )
    states = [[state for state in counted if is_in_state(one, state, NOON)] for one in own]
    counts = Counter(state for of_one in states for state in of_one)
    expected = StateCounts(len(own), states.count([]), *(counts[state] for state in counted))
    assert await store.activity.count_states(tenant_id) == expected
