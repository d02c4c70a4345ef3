"""Room for a few connections at once, which tenants share.

A tenant takes no more of it than it leaves free: half of it while nobody else wants any. Whatever
its requests wait for (a lock that another of them holds, a slow search), those of others go on.
What is done for no tenant in particular takes what is free. Who waits gets in tenant by tenant.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from uuid import UUID

Turn = asyncio.Future[None]


class Room:
    def __init__(self, size: int) -> None:
        self._free = size
        self._held: Counter[UUID | None] = Counter()
        self._waiting: OrderedDict[UUID | None, deque[Turn]] = OrderedDict()

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    async def enter(self, whose: UUID | None, patience: float) -> None:
        """TimeoutError where there is no room for so many seconds."""
        if self._has_room_for(whose):
            self._take(whose)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(whose, deque()).append(turn)
        try:
            async with asyncio.timeout(patience):
                await turn
        except BaseException:
            if turn.cancelled():
                self._forget(whose, turn)
            else:  # its turn came as it went away
                self.leave(whose)
            raise

    def leave(self, whose: UUID | None) -> None:
        self._free += 1
        self._held[whose] -= 1
        if not self._held[whose]:
            del self._held[whose]
        while (ready := self._first_with_room()) is not None:
            other, turn = ready
            self._take(other)
            self._forget(other, turn)
            turn.set_result(None)

    def _first_with_room(self) -> tuple[UUID | None, Turn] | None:
        for whose, turns in self._waiting.items():
            turn = next((turn for turn in turns if not turn.done()), None)
            if turn is not None and self._has_room_for(whose):
                return whose, turn
        return None

    def _has_room_for(self, whose: UUID | None) -> bool:
        return self._free > (0 if whose is None else self._held[whose])

    def _take(self, whose: UUID | None) -> None:
        self._free -= 1
        self._held[whose] += 1

    def _forget(self, whose: UUID | None, turn: Turn) -> None:
        turns = self._waiting.pop(whose)
        turns.remove(turn)
        if turns:
            self._waiting[whose] = turns  # behind the others
