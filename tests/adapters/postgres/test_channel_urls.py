"""URLs of channels in a real database: sealed, and moved to a new master key."""

from datetime import timedelta
from uuid import uuid4

from cadenza.adapters.postgres.secrets import SealedValues
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.secrets.box import AesGcmBox
from cadenza.application.deliveries import ClaimedDeliveries, Sending
from cadenza.application.ports.claims import ClaimRequest
from cadenza.domain.delivery import Delivery, DeliveryClaim
from cadenza.domain.notification import Channel
from cadenza.domain.target import Secret
from tests.adapters.postgres.support import World
from tests.adapters.postgres.test_secrets import ID_OF_ONE, ID_OF_TWO, ONE, TWO, box_of

URL = "json://hooks.example/a-secret-path"


async def _claimed(world: World, box: AesGcmBox) -> DeliveryClaim:
    queue = ClaimedDeliveries(PostgresStore(world.database, box))
    request = ClaimRequest("n", limit=1, lease=timedelta(0))
    (claim,) = (await queue.claim_due(request)).claims
    return claim


async def _add(world: World) -> None:
    tenant_id = (await world.add()).tenant_id
    async with PostgresStore(world.database, box_of(ONE)).transaction() as tx:
        now = await tx.time()
        channel = Channel(uuid4(), tenant_id, "ops", "JSON", "json://…", now)
        await tx.insert_channel(channel, Secret(URL))
        payload = {"title": "t", "body": "b", "severity": "info"}
        known = (uuid4(), tenant_id, "notification", "t", payload, now, now)
        await tx.insert_deliveries([Delivery(*known, channel.id)])


async def test_a_rotation_takes_the_urls_of_channels_along(world: World) -> None:
    await _add(world)
    stored = await world.value("SELECT sealed FROM notification_channels")
    assert "secret" not in stored
    values = SealedValues(world.database, box_of(TWO, ONE))
    assert await values.count_by_key() == {ID_OF_ONE: 1}
    assert (await values.reseal()).values == 1
    assert await values.count_by_key() == {ID_OF_TWO: 1}
    assert (await _claimed(world, box_of(TWO))).url == URL


async def test_a_url_without_its_master_key_is_a_failed_attempt_that_says_why(world: World) -> None:
    await _add(world)
    claim = await _claimed(world, box_of(TWO))
    assert claim.unreadable is not None
    nothing_is_called = Sending(None, None)  # type: ignore[arg-type]
    finished = await nothing_is_called.execute(claim, await world.now())
    assert finished.result.error == claim.unreadable
