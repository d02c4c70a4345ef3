"""Graphs as targets of endpoints, with all their real parts."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from cadenza.adapters.postgres.analysis_queue import PostgresAnalysisQueue
from cadenza.adapters.postgres.claims import PostgresClaims
from cadenza.adapters.postgres.run_reads import PostgresRunReads
from cadenza.adapters.simulated.log import EventLog
from cadenza.application.dispatch import RoutedDispatcher
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.graph_dispatch import GraphDispatcher
from cadenza.application.planner import Planner
from cadenza.application.ports.run_search import RunSearch
from cadenza.application.quotas import Quotas
from cadenza.application.scheduler import Scheduler, SchedulerOptions
from cadenza.domain.endpoint import Endpoint, Every, Job, OnDemand
from cadenza.domain.graph import ErrorCode, GraphLimits
from cadenza.domain.graph_target import GRAPHS, GraphTarget, Mandate
from cadenza.domain.rule import Rule
from cadenza.domain.run import Run, RunStatus
from cadenza.roots.brain import rules_brain
from cadenza.roots.examples import example_job
from tests.adapters.postgres.support import CADENZA, program, until
from tests.direct import Direct
from tests.factories import CRON, make_endpoint
from tests.graphs.installation import Installation, working
from tests.postgres import BOX, SHARED, url_of

SECOND = timedelta(seconds=1)
OPTIONS = SchedulerOptions(
    in_flight=20, tick=SECOND, stop_grace=timedelta(0), sweep_every=SECOND, runs_on=GRAPHS
)


class Newsroom:
    """An installation with one endpoint whose target is a graph."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self.store = installation.store
        self.grant = installation.grant
        self.direct = Direct(self.store, CRON)
        self.runs = PostgresRunReads(installation.database)
        self.job = Job(uuid4(), self.grant.tenant_id, "newsroom")

    async def add(
        self, graph_id: str, values: dict[str, Any], *rules: Rule, **fields: Any
    ) -> Endpoint:
        mandate = Mandate(self.grant.id, self.grant.user_id, self.grant.account_id)
        limits = fields.pop("limits", GraphLimits())
        target = GraphTarget(graph_id, values, limits, account="main", mandate=mandate)
        await self.direct.add_job(replace(self.job, rules=rules))
        endpoint = make_endpoint(
            "researcher",
            id=uuid4(),
            tenant_id=self.grant.tenant_id,
            job_id=self.job.id,
            baseline=fields.pop("baseline", Every(SECOND)),
            created_at=self.installation.clock.now(),
        )
        return await self.direct.add_endpoint(endpoint, target)

    def worker(self) -> Scheduler:
        """The one that a graph worker has for endpoints."""
        clock = self.installation.clock
        claims = PostgresClaims(self.installation.database, uuid4, BOX)
        queue = ClaimedRuns(claims, self.store, CRON)
        calls = RoutedDispatcher(
            {GraphTarget: GraphDispatcher(queue, self.installation.graphs, clock)}
        )
        return Scheduler("graphs", queue, calls, clock, EventLog(), OPTIONS)

    def planner(self) -> Planner:
        queue = PostgresAnalysisQueue(self.installation.database)
        quotas = Quotas(self.store, uuid4)
        clock = self.installation.clock
        return Planner(rules_brain(), self.store, queue, quotas, clock, CRON, EventLog(), uuid4)

    async def ended(self, endpoint: Endpoint, count: int = 1) -> list[Run]:
        """The oldest first, when there are so many."""

        async def are_there() -> list[Run] | None:
            search = RunSearch(endpoint_id=endpoint.id)
            page = await self.runs.search_runs(endpoint.tenant_id, search)
            ids = [row.id for row in page.items if row.status is not RunStatus.RUNNING]
            if len(ids) < count:
                return None
            return [(await self.runs.get_run(endpoint.tenant_id, id_)).run for id_ in ids[::-1]]

        return await until(are_there, within=30)

    async def until(self, is_so: Callable[[Endpoint], bool], endpoint: Endpoint) -> None:
        async def holds() -> bool:
            return is_so(await self.direct.get_endpoint(endpoint.tenant_id, endpoint.id))

        await until(holds, within=30)

    async def value(self, statement: str, *values: Any) -> Any:
        async with self.installation.database.connection() as connection:
            return await connection.fetchval(statement, *values)


def _interval(endpoint: Endpoint) -> timedelta | None:
    return endpoint.interval_hint.interval if endpoint.interval_hint else None


async def test_a_researcher_is_run_more_often_while_it_finds_something(
    installation: Installation, tmp_path: Path
) -> None:
    """By the rules of the example, over what the graph returned."""
    newsroom, wire = Newsroom(installation), tmp_path / "wire"
    wire.write_text("One\nTwo\nThree\n")
    rules = [replace(rule, id=uuid4()) for rule in example_job("researcher.yaml").rules]
    endpoint = await newsroom.add(
        "langgraph:researcher",
        {"wire": str(wire), "model": "cadenza-poet"},
        *rules,
        baseline=Every(120 * SECOND),
    )
    planner = newsroom.planner()

    def is_paced(present: Endpoint, interval: timedelta) -> bool:
        planner.wake()  # as a NOTIFY does
        return _interval(present) == interval

    async with working(newsroom.worker()), working(planner):
        (run,) = await newsroom.ended(endpoint)
        assert isinstance(run.body, dict)
        assert (run.status, run.body["findings"]) == (RunStatus.SUCCESS, 3)
        assert "Three" in run.body["summary"]
        await newsroom.until(lambda it: is_paced(it, 15 * SECOND), endpoint)
        wire.write_text("")
        for _ in range(3):  # in a row, each asked for by a person: nobody waits for minutes here
            before = len(await newsroom.ended(endpoint))
            await newsroom.value(
                "UPDATE endpoints SET manual_slot_at = now() WHERE id = $1", endpoint.id
            )
            await newsroom.ended(endpoint, before + 1)
        await newsroom.until(lambda it: is_paced(it, 300 * SECOND), endpoint)
    charged = await newsroom.value("SELECT sum(credits) FROM charges")
    named = "SELECT sum(credits) FROM charges WHERE endpoint_id = $1 AND schedule_id IS NULL"
    assert await newsroom.value(named, endpoint.id) == charged > 0
    assert await newsroom.value("SELECT balance FROM accounts") == 1_000_000 - charged


async def test_how_a_graph_ends_is_how_its_run_ends(
    installation: Installation, tmp_path: Path
) -> None:
    newsroom = Newsroom(installation)
    async with working(newsroom.worker()):

        async def ended(graph_id: str, values: dict[str, Any], **limits: Any) -> Run:
            endpoint = await newsroom.add(
                graph_id, values, limits=GraphLimits(**limits), baseline=Every(60 * SECOND)
            )
            (run,) = await newsroom.ended(endpoint)
            await newsroom.value(
                "UPDATE endpoints SET archived_at = now() WHERE id = $1", endpoint.id
            )
            return run

        digest = await ended("python:digest:digest", {"lines": ["a b a"]})
        missing = await ended("python:not.there:at_all", {})
        broken = await ended("langgraph:poet", {"model": "fault-500"})
        asker = await ended("langgraph:asker", {"answer": str(tmp_path)})
        timed = await ended("python:slow:slow", {"mark": str(tmp_path / "mark")}, time=SECOND)
        long = await ended("python:digest:digest", {"lines": ["x" * 70_000]})
    assert (digest.status, digest.body) == (
        RunStatus.SUCCESS,
        {"lines": 1, "words": 3, "most": {"a": 2, "b": 1}},
    )
    assert (missing.status, missing.error_kind) == (RunStatus.FAILURE, ErrorCode.NOT_FOUND)
    assert (broken.status, broken.error_kind) == (
        RunStatus.FAILURE,
        ErrorCode.PROVIDER_UNAVAILABLE,
    )
    assert (asker.status, asker.error_kind) == (RunStatus.FAILURE, "interrupted")
    assert "schedule" in (asker.error_message or "")
    assert (timed.status, timed.error_kind) == (RunStatus.TIMEOUT, "timeout")
    assert isinstance(long.body, str)
    assert len(long.body) == 64 * 1024


async def test_a_grant_that_is_revoked_fails_the_run_and_the_schedule_goes_on(
    installation: Installation,
) -> None:
    newsroom = Newsroom(installation)
    endpoint = await newsroom.add("python:digest:digest", {"lines": ["a"]})
    async with working(newsroom.worker()):
        await newsroom.ended(endpoint)
        async with newsroom.store.transaction() as tx:
            await tx.save_grant(replace(newsroom.grant, revoked_at=await tx.time()))
        await newsroom.until(lambda it: it.failure_count > 0, endpoint)
        async with newsroom.store.transaction() as tx:
            await tx.save_grant(newsroom.grant)
        await newsroom.until(lambda it: it.failure_count == 0, endpoint)
    runs = await newsroom.ended(endpoint)
    refused = [run for run in runs if run.status is RunStatus.FAILURE]
    assert {(run.error_kind, run.error_message) for run in refused} == {
        ("grant_revoked", "not started: grant_revoked")
    }
    assert runs[-1].status is RunStatus.SUCCESS
    assert await newsroom.value("SELECT count(*) FROM grant_uses WHERE refusal IS NOT NULL") == len(
        refused
    )


async def test_without_credits_no_graph_is_started(installation: Installation) -> None:
    newsroom = Newsroom(installation)
    async with newsroom.store.transaction() as tx:
        account = await tx.lock_account(newsroom.grant.tenant_id, newsroom.grant.account_id)
        await tx.add_entry(account, -1_000_000, "spent", "spent")
    endpoint = await newsroom.add("langgraph:poet", {}, baseline=Every(60 * SECOND))
    async with working(newsroom.worker()):
        (run,) = await newsroom.ended(endpoint)
    assert (run.status, run.error_kind) == (RunStatus.FAILURE, "insufficient_credits")
    assert not installation.provider.used


async def test_a_lease_that_is_lost_ends_the_child(
    installation: Installation, tmp_path: Path
) -> None:
    """Somebody else has it now: what this worker runs must not go on."""
    newsroom, mark = Newsroom(installation), tmp_path / "mark"
    endpoint = await newsroom.add("python:slow:slow", {"mark": str(mark)})
    worker = newsroom.worker()
    async with working(worker):
        await until(lambda: mark.exists() and mark.read_text(), within=30)
        await newsroom.value(
            "UPDATE endpoints SET lease_epoch = lease_epoch + 1 WHERE id = $1", endpoint.id
        )
        worker.renew_soon()
        await until(lambda: not _lives(mark))


async def test_a_worker_that_is_killed_after_the_start_leaves_a_run_that_nobody_starts_again(
    installation: Installation, tmp_path: Path
) -> None:
    newsroom, mark = Newsroom(installation), tmp_path / "mark"
    settings: dict[str, Any] = {
        "graph_functions": "slow:slow",
        "graph_paths": str(Path(__file__).parent),
        "graph_files": "",
        "lease_seconds": 3,
    }
    command = (CADENZA, "graph-worker")
    with program(tmp_path / "log", url_of(SHARED), command=command, **settings) as worker:
        endpoint = await newsroom.add("python:slow:slow", {"mark": str(mark)}, baseline=OnDemand())
        await newsroom.value(
            "UPDATE endpoints SET manual_slot_at = NULL, next_run_at = now(),"
            " next_source = 'ai-oneshot' WHERE id = $1",
            endpoint.id,
        )
        await until(lambda: mark.exists() and mark.read_text(), within=30)
        worker.process.kill()
        worker.process.wait()
        await until(lambda: not _lives(mark))
    async with working(newsroom.worker()):
        (run,) = await newsroom.ended(endpoint)
    assert (run.status, run.error_kind) == (RunStatus.TIMEOUT, "worker_lost")
    assert (run.attempt, run.error_message) == (1, "worker lost")
    assert run.started_at is not None
    assert len(mark.read_text().split()) == 1, "it was started once"


def _lives(mark: Path) -> bool:
    """Whether the child that left its number there is still at work."""
    return Path(f"/proc/{mark.read_text().split()[-1]}").exists()
