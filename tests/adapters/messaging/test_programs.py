"""Real workers and a real broker: one worker is killed while its run waits, the broker restarts."""

import json
import signal
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from redis.asyncio import Redis

from cadenza.adapters.postgres.database import open_database
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.application.run_results import RunResults
from cadenza.domain.endpoint import Every, Job
from cadenza.domain.instants import iso
from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.result import Report
from cadenza.domain.run import RunStatus
from tests.adapters.postgres.support import Program, program, until
from tests.brokers import Server, redis_server
from tests.direct import Direct
from tests.factories import CRON, make_endpoint, seconds
from tests.postgres import BOX, migrated_database_url

LEASE = 3
Messages = dict[str, list[dict[str, str]]]


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with migrated_database_url() as url:
        yield url


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Server]:
    with redis_server(tmp_path) as server:
        yield server


async def test_killed_and_restarted_no_slot_is_lost_and_duplicates_share_their_key(
    url: str, broker: Server, tmp_path: Path
) -> None:
    database = await open_database(url, connections=4)
    connection = await asyncpg.connect(url)
    try:
        direct = Direct(PostgresStore(database, BOX), CRON)
        place = f"redis://127.0.0.1:{broker.port}/0"
        awaited = QueueTarget(place, "awaited", awaits_result=True, timeout=seconds(120))
        await _add(direct, "awaited", Every(seconds(3600)), awaited)
        await _add(direct, "often", Every(seconds(1)), QueueTarget(place, "often"))
        settings = {"lease_seconds": LEASE, "tick_seconds": 1, "allowed_networks": "loopback"}
        settings |= {"data_folder": tmp_path / "data"}
        with program(tmp_path / "one.log", url, **settings) as one:
            (first,) = await _messages(broker, "awaited", 1)
            one.send(signal.SIGKILL)
        with program(tmp_path / "two.log", url, **settings) as two:
            _, second = await _messages(broker, "awaited", 2)
            assert first["idempotency-key"] == second["idempotency-key"]
            assert (first["cadenza-attempt"], second["cadenza-attempt"]) == ("1", "2")
            assert first["cadenza-result-token"] != second["cadenza-result-token"]
            # The consumer of the lost worker's message is done: that counts.
            results = RunResults(PostgresStore(database, BOX), lambda: "unused")
            report = Report(RunStatus.SUCCESS, {"rows": 9})
            run_id, token = first["cadenza-run-id"], first["cadenza-result-token"]
            await results.report(UUID(run_id), token, report)
            run = await until(lambda: _ended(connection, run_id), within=180)
            assert (run["status"], run["attempt"]) == ("success", 2)
            assert json.loads(run["body"]) == {"rows": 9}
            await _restarted(broker, connection)
            await _stopped(two)
        await _check(connection, broker)
    finally:
        await connection.close()
        await database.close()


async def _add(direct: Direct, name: str, baseline: Every, target: QueueTarget) -> None:
    endpoint = make_endpoint(name, baseline=baseline)
    await direct.add_tenant(endpoint.tenant_id)
    await direct.add_job(Job(endpoint.job_id, endpoint.tenant_id, "job"))
    await direct.add_endpoint(endpoint, target)


async def _restarted(broker: Server, connection: asyncpg.Connection) -> None:
    """Runs fail meanwhile, and succeed again after it."""
    broker.stop()
    failed = "SELECT count(*) FROM runs WHERE status IN ('failure', 'timeout')"
    await until(lambda: connection.fetchval(failed), within=60)
    broker.start()
    newest = await connection.fetchval("SELECT max(slot_at) FROM runs")
    again = "SELECT count(*) FROM runs WHERE status = 'success' AND slot_at > $1"
    await until(lambda: connection.fetchval(again, newest), within=60)


async def _stopped(worker: Program) -> None:
    worker.send(signal.SIGTERM)
    assert await worker.until_ended() == 0, worker.output()


async def _check(connection: asyncpg.Connection, broker: Server) -> None:
    """Each slot that is a success has a message; what is there twice has one key and a reason."""
    by_key: Messages = defaultdict(list)
    for topic in ("awaited", "often"):
        for message in await _all(broker, topic):
            by_key[message["idempotency-key"]].append(message)
    runs = await connection.fetch("SELECT * FROM runs")
    keys = {f"{run['endpoint_id']}:{iso(run['slot_at'])}": run for run in runs}
    assert set(by_key) <= set(keys), "nothing was published that is not recorded"
    for key, run in keys.items():
        if run["status"] == "success":
            assert by_key[key], f"the slot {key} counts as published, and is not there"
    assert sum(run["status"] == "success" for run in runs) >= 3


async def _messages(broker: Server, topic: str, count: int) -> list[dict[str, str]]:
    async def there() -> Any:
        messages = await _all(broker, topic)
        return messages if len(messages) >= count else None

    return await until(there, within=60)


async def _all(broker: Server, topic: str) -> list[dict[str, str]]:
    async with Redis(port=broker.port, decode_responses=True) as client:
        entries: Any = await client.xrange(topic)
    return [fields for _, fields in entries]


async def _ended(connection: asyncpg.Connection, run_id: str) -> Any:
    run = await connection.fetchrow("SELECT * FROM runs WHERE id = $1", UUID(run_id))
    return run if run is not None and run["status"] != "running" else None
