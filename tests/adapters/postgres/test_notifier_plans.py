"""How PostgreSQL finds what is wrong: by its indexes, with 10,000 endpoints of which a few are.

As in test_plans: the statements that are really sent, planned for their values and for any.
"""

import asyncio
from collections.abc import Iterator

import pytest

from cadenza.adapters.postgres.database import open_database
from cadenza.adapters.postgres.notification_reads import PostgresNotificationReads
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.application.ports.notifications import DeliverySearch
from cadenza.domain.delivery import DeliveryStatus
from cadenza.domain.incident import IncidentKind
from tests.adapters.postgres.test_plans import Watched, nodes, plans
from tests.adapters.postgres.test_plans import _fill as fill  # pyright: ignore[reportPrivateUsage]
from tests.postgres import BOX, migrated_database_url

ENDPOINTS = 10_000
BIG = {"endpoints", "incidents", "failed_runs", "deliveries", "announcements"}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    database = migrated_database_url()
    with asyncio.Runner() as runner:
        url = runner.run(database.__aenter__())
        runner.run(_fill(url))
        yield url
        runner.run(database.__aexit__(None, None, None))


async def _fill(url: str) -> None:
    """A thousand fail, since a long time; and a log of what was sent."""
    await fill(url, ENDPOINTS)
    database = await open_database(url, connections=1)
    async with database.connection() as connection:
        await connection.execute(
            "UPDATE endpoints SET failure_count = 5, last_failed_at = now()"
            " WHERE id IN (SELECT id FROM endpoints LIMIT 1000);"
            "INSERT INTO incidents (id, tenant_id, kind, subject, name, level, severity, measure,"
            " opened_at, updated_at, resolved_at, resolved_by)"
            " SELECT gen_random_uuid(), tenant_id, 'failing', id, 'x', 2, 'error', 5, now(), now(),"
            " CASE WHEN n > 0 THEN now() END, CASE WHEN n > 0 THEN 'state' END"
            " FROM endpoints, generate_series(0, 9) AS n WHERE failure_count > 0;"
            "INSERT INTO failed_runs (tenant_id, endpoint_id, slot_at, id, source, status,"
            " is_manual) SELECT tenant_id, id, now() - n * interval '1 min', gen_random_uuid(),"
            " 'baseline-interval', 'failure', false"
            " FROM endpoints, generate_series(0, 30) AS n WHERE failure_count > 0;"
            "INSERT INTO event_subscriptions (id, tenant_id, name, url, kinds)"
            " SELECT id, id, 'w', 'http://example.invalid', '{*}' FROM tenants;"
            "INSERT INTO deliveries (id, tenant_id, kind, subscription_id, title, payload, status,"
            " due_at) SELECT gen_random_uuid(), id, 'event', id, 'x', '{}',"
            " CASE WHEN n > 0 THEN 'delivered' ELSE 'waiting' END, now()"
            " FROM tenants, generate_series(0, 300) AS n"
        )
        await connection.execute("VACUUM ANALYZE")
    await database.close()


async def _whole_tables(url: str, seen: Watched) -> set[str]:
    """Of the big ones, those that something reads from end to end."""
    database = await open_database(url, connections=1)
    found: set[str] = set()
    async with database.transaction() as connection:
        for statement in seen.seen:
            if statement.text == query("no_whole_tables"):
                await connection.execute(statement.text)
                continue
            for plan in await plans(connection, statement):
                found |= {node["Relation Name"] for node in nodes(plan, "Seq Scan")} & BIG
    await database.close()
    return found


async def test_incidents_are_compared_with_the_state_by_indexes(url: str) -> None:
    database = await open_database(url, connections=1)
    watched = Watched(database)
    async with PostgresStore(watched, BOX).transaction() as tx:  # type: ignore[arg-type]
        differing = await tx.differences(list(IncidentKind), 2000)
        assert len(differing.conditions) > 0
        ids = [each.endpoint_id for each in differing.conditions if each.endpoint_id]
        await tx.last_errors(ids[:100])
        await tx.take_due_announcements(5000)
    await database.close()
    assert {query("differing_conditions"), query("last_errors")} <= {
        each.text for each in watched.seen
    }
    assert await _whole_tables(url, watched) == set()


async def test_the_few_that_failed_are_found_in_a_long_log(url: str) -> None:
    database = await open_database(url, connections=1)
    watched = Watched(database)
    reads = PostgresNotificationReads(watched)  # type: ignore[arg-type]
    (row,) = await database.fetch("SELECT id FROM tenants LIMIT 1")
    tenant = row["id"]
    await reads.list_deliveries(tenant, DeliverySearch(status=DeliveryStatus.FAILED))
    async with database.connection() as connection:
        custom, _ = await plans(connection, watched.seen[-1])
    await database.close()
    assert {node.get("Index Name") for node in nodes(custom)} >= {"deliveries_failed"}
