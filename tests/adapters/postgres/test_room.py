"""Connections that tenants share."""

import asyncio
from uuid import UUID, uuid4

import pytest

from cadenza.adapters.postgres.room import Room

OURS, THEIRS = uuid4(), uuid4()
PATIENCE = 60.0


async def entered(room: Room, whose: UUID | None, count: int = 1) -> None:
    for _ in range(count):
        await room.enter(whose, PATIENCE)


async def waits(room: Room, whose: UUID | None) -> asyncio.Task[None]:
    entering = asyncio.create_task(room.enter(whose, PATIENCE))
    await asyncio.sleep(0)
    assert not entering.done()
    return entering


async def test_a_tenant_takes_no_more_than_it_leaves() -> None:
    room = Room(8)
    await entered(room, OURS, 4)
    fifth = await waits(room, OURS)
    await entered(room, THEIRS, 2)
    third = await waits(room, THEIRS)
    await entered(room, None, 2)  # what is no tenant's takes what is left
    nobodys = await waits(room, None)
    room.leave(OURS)
    await nobodys
    assert not fifth.done()
    for _ in range(3):
        room.leave(None)
    await third
    assert not fifth.done()
    for _ in range(3):
        room.leave(THEIRS)
    await fifth


async def test_one_who_leaves_may_let_two_in() -> None:
    room = Room(9)
    await entered(room, OURS, 3)
    await entered(room, THEIRS, 3)
    waiting = [await waits(room, THEIRS), await waits(room, OURS)]
    room.leave(OURS)
    await asyncio.gather(*waiting)


@pytest.mark.parametrize("size", [1, 2, 3])
async def test_everybody_gets_in_however_little_room_there_is(size: int) -> None:
    room = Room(size)
    entries = 0

    async def enter_and_leave(whose: UUID | None) -> None:
        nonlocal entries
        await room.enter(whose, PATIENCE)
        entries += 1
        await asyncio.sleep(0)
        room.leave(whose)

    everybody = [OURS] * 20 + [THEIRS] * 20 + [None] * 20
    await asyncio.gather(*map(enter_and_leave, everybody))
    assert (entries, room.waiting) == (60, 0)


async def test_those_who_wait_get_in_tenant_by_tenant() -> None:
    room = Room(1)
    await entered(room, None)
    order: list[UUID | None] = []

    async def enter(whose: UUID) -> None:
        await room.enter(whose, PATIENCE)
        order.append(whose)
        room.leave(whose)

    waiting = [asyncio.create_task(enter(whose)) for whose in [OURS] * 3 + [THEIRS] * 2]
    await asyncio.sleep(0)
    room.leave(None)
    await asyncio.gather(*waiting)
    assert order == [OURS, THEIRS, OURS, THEIRS, OURS]


async def test_who_goes_away_takes_nobodys_place() -> None:
    room = Room(1)
    await entered(room, OURS)
    left, second = await waits(room, THEIRS), await waits(room, THEIRS)
    left.cancel()
    room.leave(OURS)
    await second
    late = await waits(room, OURS)
    room.leave(THEIRS)
    late.cancel()  # at the moment when it is its turn
    await asyncio.gather(left, late, return_exceptions=True)
    assert room.waiting == 0
    await entered(room, OURS)


async def test_no_room_for_long_is_an_error() -> None:
    room = Room(1)
    await entered(room, None)
    with pytest.raises(TimeoutError):
        await room.enter(OURS, 0.01)
    room.leave(None)
    await entered(room, OURS)
