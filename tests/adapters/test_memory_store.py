"""What only the store in memory can show: when listeners are woken, and events are there."""

from uuid import uuid4

import pytest

from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import EVENTS, Tables
from cadenza.adapters.simulated.time import SimulatedClock
from cadenza.application.ports.event_log import BEGINNING
from cadenza.application.ports.store import Channel, Transaction
from cadenza.domain.audit import PendingEvent
from tests.factories import NOON, id_of

TENANT = id_of("tenant")
EVENT = PendingEvent("job.change", TENANT)


class Listening:
    """A store, and the channels on which something was heard."""

    def __init__(self) -> None:
        self.memory = MemoryStores(Tables(SimulatedClock(NOON), uuid4))
        self.heard: list[str] = []
        for channel in (Channel.DUE, Channel.FINISHED, EVENTS):
            self.memory.tables.listen(channel, lambda channel=channel: self.heard.append(channel))

    async def write(self, tx: Transaction) -> None:
        await tx.add_events([EVENT, EVENT])
        await tx.notify(Channel.FINISHED)
        await tx.notify(Channel.FINISHED)
        assert self.heard == []
        assert not await self.memory.event_log.read_after(TENANT, BEGINNING, 10)


async def test_listeners_are_woken_once_when_a_transaction_is_stored() -> None:
    store = Listening()
    async with store.memory.store.transaction() as tx:
        await store.write(tx)
    assert store.heard == [Channel.FINISHED, EVENTS]
    assert len(await store.memory.event_log.read_after(TENANT, BEGINNING, 10)) == 2


async def test_nobody_hears_of_a_transaction_that_failed() -> None:
    store = Listening()

    async def fail() -> None:
        async with store.memory.store.transaction() as tx:
            await store.write(tx)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert store.heard == []
    assert not await store.memory.event_log.read_after(TENANT, BEGINNING, 10)


async def test_events_have_the_order_of_their_transactions() -> None:
    store = Listening()
    log = store.memory.event_log
    for _ in range(3):
        async with store.memory.store.transaction() as tx:
            await tx.add_events([EVENT, EVENT])
    events = await log.read_after(TENANT, BEGINNING, 10)
    positions = [event.position for event in events]
    assert positions == sorted(set(positions))
    assert len({position.xact for position in positions}) == 3
    assert [each.position for each in await log.read_after(TENANT, positions[1], 2)] == positions[
        2:4
    ]
    assert await log.last_position(TENANT) == positions[-1]
    assert await log.is_kept(TENANT, positions[0])
    assert not await log.is_kept(id_of("another"), positions[0])
