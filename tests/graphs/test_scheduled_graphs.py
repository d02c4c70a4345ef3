"""Scheduled graphs with all their real parts: PostgreSQL, the fork server, LangGraph, the gateway,
and a provider that counts for itself."""

import asyncio
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from cadenza.adapters.postgres.billing import PostgresBilling
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.prices.genai import GenaiPrices
from cadenza.application.graph_grants import GraphGrants
from cadenza.application.schedule_changes import ScheduleChanges
from cadenza.application.schedules import Schedules
from cadenza.domain.access import Caller, Scope
from cadenza.domain.errors import Refused
from cadenza.domain.graph import ErrorCode
from cadenza.domain.slot import SlotStatus
from tests.factories import CRON
from tests.graphs.installation import PRICES, Installation, working
from tests.postgres import BOX


async def test_schedules_never_bypass_executor(installation: Installation) -> None:
    """A python function and a LangGraph graph, each with its events, `done` last."""
    async with working(installation.new_worker()):
        digest = await installation.run("python:digest:digest", {"lines": ["a b a"]})
        poet = await installation.run("langgraph:poet", {"topic": "sea", "model": "cadenza-poet"})
        ran = await installation.ended(digest)
        wrote = await installation.ended(poet)
    assert ran.status is SlotStatus.SUCCESS, ran
    assert ran.output == {"lines": 1, "words": 3, "most": {"a": 2, "b": 1}}
    assert wrote.status is SlotStatus.SUCCESS, wrote
    assert "sea" in wrote.output["poem"]
    for run in (ran, wrote):
        kinds = await installation.kinds(run)
        assert kinds.count("done") == 1
        assert kinds[-2:] == ["final", "done"]


async def test_the_ledger_agrees_with_the_provider_to_the_token(installation: Installation) -> None:
    async with working(installation.new_worker()):
        poems = [
            await installation.run("langgraph:poet", {"topic": f"the number {number}"})
            for number in range(5)
        ]
        runs = [await installation.ended(poem) for poem in poems]
    assert {run.status for run in runs} == {SlotStatus.SUCCESS}
    async with installation.database.connection() as connection:
        row = await connection.fetchrow(
            "SELECT sum(input_tokens) AS sent, sum(output_tokens) AS received,"
            " sum(credits) AS credits, count(*) AS calls FROM charges"
        )
        balance = await connection.fetchval("SELECT balance FROM accounts")
    assert row is not None
    (used,) = installation.provider.used.values()
    assert (row["sent"], row["received"]) == (used.input_tokens, used.output_tokens)
    assert row["calls"] == used.calls == 5
    assert balance == 1_000_000 - row["credits"] == 1_000_000 - sum(run.credits for run in runs)


async def test_a_provider_that_fails_is_no_fault_of_the_graph(installation: Installation) -> None:
    async with working(installation.new_worker()):
        broken = await installation.run("langgraph:poet", {"model": "fault-500"})
        unpriced = await installation.run("langgraph:poet", {"model": "nobody-knows-its-price"})
        gone = await installation.run("python:not.there:at_all", {})
        runs = [await installation.ended(each) for each in (broken, unpriced, gone)]
    assert [run.error_code for run in runs] == [
        ErrorCode.PROVIDER_UNAVAILABLE,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.NOT_FOUND,
    ]
    assert [run.credits for run in runs] == [0, 0, 0]


def time_for(model: str) -> timedelta:
    """Enough for the clients' own retries; and one that hangs is waited for."""
    return timedelta(seconds=3 if model == "fault-hang" else 60)


async def test_each_fault_of_a_provider_has_its_code_and_its_charge(
    installation: Installation,
) -> None:
    """What was not answered costs nothing; of a stream that was cut the cost is estimated."""
    expected = {
        "fault-402": ErrorCode.INSUFFICIENT_CREDITS,  # with the provider
        "fault-429": ErrorCode.RATE_LIMIT,
        "fault-500": ErrorCode.PROVIDER_UNAVAILABLE,
        "fault-hang": ErrorCode.TIMEOUT,
        "fault-cut": ErrorCode.PROVIDER_UNAVAILABLE,
    }
    async with working(installation.new_worker()):
        asked = {
            model: await installation.run("langgraph:poet", {"model": model}, time=time_for(model))
            for model in expected
        }
        runs = {model: await installation.ended(schedule) for model, schedule in asked.items()}
    assert {model: run.error_code for model, run in runs.items()} == expected
    async with installation.database.connection() as connection:
        charges = await connection.fetch("SELECT run_id, credits, basis FROM charges")
        balance = await connection.fetchval("SELECT balance FROM accounts")
    names = {run.id: model for model, run in runs.items()}
    assert {row["basis"] for row in charges if names[row["run_id"]] == "fault-cut"} == {"estimated"}
    assert {names[row["run_id"]] for row in charges} <= {"fault-cut", "fault-hang"}
    assert {row["basis"] for row in charges} == {"estimated"}
    assert balance == 1_000_000 - sum(row["credits"] for row in charges)


async def test_a_call_is_checked_before_and_paid_after(installation: Installation) -> None:
    """The call that reaches the limit of a run is the last one, and is charged in full."""
    async with working(installation.new_worker()):
        run = await installation.ended(await installation.run("langgraph:poet", {}, credits=1))
    assert run.status is SlotStatus.SUCCESS
    assert run.credits > 1


async def test_a_worker_that_is_lost_after_the_start_leaves_an_error(
    installation: Installation,
) -> None:
    """Its lease ends, and another closes the run: nothing is started twice."""
    worker = installation.new_worker()
    task = asyncio.create_task(worker.run())
    poem = await installation.run("langgraph:poet", {"model": "cadenza-poet"})
    while not await _is_started(installation, poem):
        pass
    task.cancel()  # from one instant to the next
    await asyncio.gather(task, return_exceptions=True)
    async with installation.database.connection() as connection:
        await connection.execute(
            "UPDATE schedule_runs SET lease_until = now() - interval '1 s' WHERE status = 'running'"
        )
    async with working(installation.new_worker()):
        run = await installation.ended(poem)
    assert run.attempt == 1
    assert (run.status, run.error_code) == (SlotStatus.ERROR, ErrorCode.WORKER_LOST)


async def _is_started(installation: Installation, schedule_id: UUID) -> bool:
    (run,) = await installation.reads.list_runs(installation.grant.tenant_id, schedule_id, None, 10)
    return run.started_at is not None


async def test_a_run_waits_for_a_person_and_goes_on_once(
    installation: Installation, tmp_path: Path
) -> None:
    """Two questions, each with its answer; the third run has the output."""
    tenant_id = installation.grant.tenant_id
    caller = Caller(tenant_id, installation.grant.user_id, uuid4(), "somebody", (Scope.OPERATE,))
    changes = ScheduleChanges(GraphGrants(GenaiPrices(DatabaseClock(), PRICES), uuid4), CRON)
    billing = PostgresBilling(installation.database, BOX)
    schedules = Schedules(installation.store, installation.reads, billing, changes, CRON, uuid4)
    async with working(installation.new_worker()):
        asker = await installation.run("langgraph:asker", {"answer": str(tmp_path)})
        for answer in ("yes", "surely"):
            asked = await installation.newest(asker, SlotStatus.WAITING)
            assert asked.id is not None
            assert asked.question is not None
            await schedules.answer(caller, asker, asked.id, answer)
            with pytest.raises(Refused, match="already"):
                await schedules.answer(caller, asker, asked.id, answer)
        ended = await installation.newest(asker, SlotStatus.SUCCESS)
    assert ended.answer_to is not None
    assert ended.output["seen"][-2:] == ["asked:yes", "again:surely"]
    assert (tmp_path / "prepared").read_text() == "x"  # no node ran twice


async def test_no_credential_reaches_the_child(installation: Installation) -> None:
    """The provider's key is not what the child was given: the gateway puts it in."""
    async with working(installation.new_worker()):
        poem = await installation.run("langgraph:poet", {})
        await installation.ended(poem)
    assert list(installation.provider.used) == ["example-key-0123456789"]
