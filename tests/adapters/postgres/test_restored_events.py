"""Notifiers after a restore: the server counts its transactions anew, and events go on."""

from cadenza.adapters.postgres.store import PostgresStore
from tests.adapters.postgres.support import World, until
from tests.postgres import BOX


async def test_events_that_came_from_another_server_hide_none_that_come(world: World) -> None:
    """That server had counted much further than this one."""
    await world.add("job")
    for kind in ("seen", "unseen"):
        await world.execute(
            "INSERT INTO events (tenant_id, kind, data, xact)"
            f" SELECT id, '{kind}', '{{}}', '9000000000' FROM tenants"
        )
    await world.execute(
        "UPDATE notifier_position"
        " SET xact = '9000000000', id = (SELECT id FROM events WHERE kind = 'seen')"
    )
    assert await _kinds(world) == []
    await world.execute(
        "INSERT INTO events (tenant_id, kind, data) SELECT id, 'new', '{}' FROM tenants"
    )
    assert await until(lambda: _both(world))  # others may have transactions open


async def _both(world: World) -> bool:
    return await _kinds(world) == ["unseen", "new"]


async def _kinds(world: World) -> list[str]:
    async with PostgresStore(world.database, BOX).transaction() as tx:
        return [each.event.kind for each in await tx.take_feed(10) or ()]
