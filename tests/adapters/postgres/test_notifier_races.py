"""What a notifier looks at may be deleted by others while it looks: it looks again, and goes on."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID, uuid4

import asyncpg
import pytest

from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.system.zones import zone_of
from cadenza.application.incidents import IncidentWatch
from cadenza.domain.delivery import Subscription
from cadenza.domain.incident import Severity
from cadenza.domain.notification import Channel, Route
from cadenza.domain.target import Secret
from tests.adapters.postgres.support import World, until
from tests.factories import id_of
from tests.postgres import BOX

TENANT = id_of("tenant")


class OnFirstCall:
    """An id, once something else has happened in a connection of its own."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act
        self.has_acted = False

    def __call__(self) -> UUID:
        if not self.has_acted:
            self.has_acted = True
            self._act()
        return uuid4()


async def _receivers(store: PostgresStore) -> None:
    async with store.transaction() as tx:
        now = await tx.time()
        await tx.insert_subscription(Subscription(uuid4(), TENANT, "hook", "http://a.example", now))
        channel = Channel(uuid4(), TENANT, "chat", "JSON", "json://…", now)
        await tx.insert_channel(channel, Secret("json://a.example"))
        plain = {"min_severity": Severity.INFO, "group": timedelta(0)}
        await tx.insert_route(Route(uuid4(), TENANT, channel.id, now, **plain))  # type: ignore[arg-type]


def _delete(url: str, table: str) -> None:
    """In a thread of its own: the loop of the test stands still meanwhile."""

    async def delete() -> None:
        connection = await asyncpg.connect(url)
        await connection.execute(f"DELETE FROM {table}")
        await connection.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, delete()).result(60)


async def _has_events(store: PostgresStore) -> bool:
    async with store.transaction() as tx:
        return bool(await tx.take_feed(1))


@pytest.mark.parametrize(
    "table", ["notification_channels", "notification_routes", "event_subscriptions", "tenants"]
)
async def test_what_is_deleted_while_a_notifier_looks_does_not_end_it(
    world: World, table: str
) -> None:
    store = PostgresStore(world.database, BOX)
    await world.add("probe")
    await _receivers(store)
    await world.execute("UPDATE endpoints SET failure_count = 1, streak_changed_at = now()")
    if table != "tenants":
        assert (await IncidentWatch(store, zone_of, uuid4).look_at_everything()).changed == 1
    if table.startswith("notification"):  # it is about to be told
        await world.execute("DELETE FROM event_subscriptions")
        await world.execute(
            "UPDATE announcements"
            " SET told_state = NULL, told = '{}', due_at = now(), not_before_at = now()"
        )
    if table == "event_subscriptions":
        assert await until(lambda: _has_events(store))  # others may have transactions open
    new_id = OnFirstCall(lambda: _delete(world.url, table))
    watch = IncidentWatch(store, zone_of, new_id)
    looked = await watch.look_at_everything()
    assert new_id.has_acted
    assert (looked.changed, looked.sent, looked.is_partial) == (0, 0, True)
    await watch.look_at_everything()
    left = await world.value("SELECT count(*) FROM incidents WHERE resolved_at IS NULL")
    assert left == (0 if table == "tenants" else 1)
