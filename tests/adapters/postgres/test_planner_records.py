"""What a planner leaves in PostgreSQL: sessions with their prompt, and quotas that stay right."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from cadenza.adapters.brains.llm.brain import LlmBrain
from cadenza.adapters.brains.llm.options import LlmOptions, Provider
from cadenza.adapters.brains.llm.prompt import load_prompt
from cadenza.adapters.postgres.analysis_queue import PostgresAnalysisQueue
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.simulated.log import EventLog
from cadenza.adapters.system.ids import new_marker
from cadenza.application.planner import Planner, Round
from cadenza.application.ports.planning import Reservation
from cadenza.application.quotas import Quotas
from cadenza.application.sessions import record_analyses
from cadenza.domain.endpoint import Job
from cadenza.domain.quota import OverLimit
from cadenza.domain.session import Session, SessionEnd
from cadenza.domain.target import HttpTarget
from tests.adapters.brains.llm.provider import Answer, script, served
from tests.adapters.brains.llm.support import FASTER, SUBMIT, StandingClock
from tests.adapters.postgres.support import until
from tests.factories import CRON, NOON, id_of, make_endpoint, seconds
from tests.postgres import BOX, StoppedClock, direct, emptied_database, quotas

TENANT = id_of("tenant")
JOB = Job(id_of("job"), TENANT, "watch")


@dataclass
class Records:
    database: Database
    clock: StoppedClock
    quota: Quotas

    async def row(self, statement: str) -> Any:
        async with self.database.connection() as connection:
            return await connection.fetchrow(statement)


@pytest.fixture
async def records() -> AsyncIterator[Records]:
    async with emptied_database() as database:
        clock = await StoppedClock.in_database(database, NOON)
        async with database.connection() as connection:
            await connection.execute(
                "INSERT INTO tenants (id, name, llm_mode) VALUES ($1, 'one', 'act')", TENANT
            )
            await connection.execute(
                "INSERT INTO jobs (id, tenant_id, name) VALUES ($1, $2, 'watch')", JOB.id, TENANT
            )
        yield Records(database, clock, quotas(database, 1000, 10.0))


async def test_a_session_is_stored_with_the_version_of_its_prompt(records: Records) -> None:
    endpoint = make_endpoint()
    store = direct(records.database, BOX)
    await store.add_job(Job(endpoint.job_id, TENANT, "watch"))
    await store.add_endpoint(endpoint, HttpTarget("http://probe.example/"))
    ids = {"tenant_id": TENANT, "job_id": endpoint.job_id, "endpoint_id": endpoint.id}
    end = SessionEnd.FAILED
    costs: dict[str, Any] = {"tokens": 12, "cost": 0.5, "prompt_version": "1-0123456789abcdef"}
    session = Session(uuid4(), **ids, brain="llm", started_at=NOON, duration=seconds(1), end=end)
    for recorded in (session, replace(session, id=uuid4(), **costs)):
        await record_analyses(PostgresStore(records.database, BOX), [recorded], "planner")
    async with records.database.connection() as connection:
        rows = await connection.fetch(
            "SELECT prompt_version, tokens, cost FROM analysis_sessions ORDER BY tokens"
        )
    assert [tuple(row) for row in rows] == [(None, 0, 0), ("1-0123456789abcdef", 12, 0.5)]


async def test_a_session_with_a_model_is_kept_with_all_that_it_did(records: Records) -> None:
    endpoint = make_endpoint()
    store = direct(records.database, BOX)
    await store.add_job(Job(endpoint.job_id, TENANT, "watch", "Watch it."))
    await store.add_endpoint(endpoint, HttpTarget("http://probe.example/"))
    await records.row("UPDATE endpoints SET asked_at = cadenza_now() RETURNING id")
    odd = ("clear_hints", {"reason": "\u0000\ud800"})
    async with served(script(Answer([FASTER, odd, SUBMIT]))) as provider:
        options = LlmOptions(
            Provider.COMPATIBLE, "llama3.1", base_url=f"{provider.url}/v1", session_tokens=20_000
        )
        brain = LlmBrain(options, new_marker)
        planner = Planner(
            brain,
            PostgresStore(records.database, BOX),
            PostgresAnalysisQueue(records.database),
            quotas(records.database, 20_000, 10.0),
            StandingClock(),
            CRON,
            EventLog(),
            uuid4,
        )
        assert await planner.run_once() == Round(sessions=1, acted=1)
        assert await planner.run_once() == Round()
        await brain.aclose()
    row = await records.row("SELECT * FROM analysis_sessions")
    assert (row["ended_as"], row["tokens"], row["reasoning"]) == ("submitted", 1050, "all is well")
    assert row["prompt_version"] == load_prompt().version
    assert len(json.loads(row["tool_calls"])) == 3
    assert tuple(await records.row("SELECT used, reserved FROM quotas")) == (1050, 0)


async def test_an_endpoint_that_is_deleted_while_its_session_is_stored_is_tried_again_without_it(
    records: Records,
) -> None:
    endpoint = make_endpoint()
    endpoints = direct(records.database, BOX)
    await endpoints.add_job(Job(endpoint.job_id, TENANT, "watch"))
    await endpoints.add_endpoint(endpoint, HttpTarget("http://probe.example/"))
    ids = {"tenant_id": TENANT, "job_id": endpoint.job_id, "endpoint_id": endpoint.id}
    session = Session(
        uuid4(), **ids, brain="llm", started_at=NOON, duration=seconds(1), end=SessionEnd.FAILED
    )
    store = PostgresStore(records.database, BOX)

    async def waits() -> int:
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        return (await records.row(f"{waiting} AND datname = current_database()"))["count"]

    async with records.database.transaction() as deleting:
        await deleting.execute("DELETE FROM endpoints")
        recording = asyncio.create_task(record_analyses(store, [session], "planner"))
        await until(waits)
    await recording
    assert (await records.row("SELECT count(*) FROM analysis_sessions"))["count"] == 0


async def test_one_that_has_spent_more_than_its_limit_gets_no_session_that_costs_nothing(
    records: Records,
) -> None:
    reservation = await records.quota.reserve(JOB, 10, 5.0)
    assert isinstance(reservation, Reservation)
    await records.quota.settle(reservation, 10, 10.5)
    assert isinstance(await records.quota.reserve(JOB, 10, 0.0), OverLimit)


async def test_settled_by_many_at_once_it_counts_once(records: Records) -> None:
    reservation = await records.quota.reserve(JOB, 500, 5.0)
    assert isinstance(reservation, Reservation)
    warnings = await asyncio.gather(
        *(records.quota.settle(reservation, 900, 9.0) for _ in range(5))
    )
    row = await records.row("SELECT used, reserved, cost_used, cost_reserved FROM quotas")
    assert tuple(row) == (900, 0, 9.0, 0.0)
    assert sorted(map(len, warnings)) == [0, 0, 0, 0, 2]


async def test_what_a_planner_died_with_is_given_back_after_a_day(records: Records) -> None:
    for _ in range(2):
        assert isinstance(await records.quota.reserve(JOB, 500, 5.0), Reservation)
    await records.clock.set(NOON + timedelta(days=1))
    assert isinstance(await records.quota.reserve(JOB, 1), OverLimit)
    await records.clock.set(NOON + timedelta(days=1, seconds=1))
    assert isinstance(await records.quota.reserve(JOB, 700, 7.0), Reservation)
    row = await records.row("SELECT used, reserved, cost_used, cost_reserved FROM quotas")
    assert tuple(row) == (0, 700, 0.0, 7.0)


async def test_one_who_settles_after_that_is_late_and_changes_nothing(records: Records) -> None:
    reservation = await records.quota.reserve(JOB, 500)
    assert isinstance(reservation, Reservation)
    await records.clock.set(NOON + timedelta(days=2))
    assert isinstance(await records.quota.reserve(JOB, 1), Reservation)
    assert not await records.quota.settle(reservation, 500)
    assert tuple(await records.row("SELECT used, reserved FROM quotas")) == (0, 1)
