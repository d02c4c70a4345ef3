"""What the verbs of a transaction share: each write notes how to take it back.

No verb ever waits, so nobody else sees a transaction that is not finished, as long as the use case
waits for nothing but its verbs.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from operator import setitem
from types import TracebackType
from typing import Self, TypeVar

from cadenza.adapters.memory.tables import EVENTS, Tables
from cadenza.application.ports.event_log import Position, StoredEvent
from cadenza.application.ports.grants import Starting
from cadenza.domain.audit import PendingEvent
from cadenza.domain.graph import GraphRequest

K = TypeVar("K")
V = TypeVar("V")


class Writes:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._undo: list[Callable[[], object]] = []
        self._events: list[tuple[PendingEvent, datetime]] = []
        self._channels: dict[str, None] = {}  # in the order in which they were named

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._publish()
            return
        for take_back in reversed(self._undo):
            take_back()

    def _starting(self, request: GraphRequest) -> Starting:
        tables = self._tables
        row = tables.grants.get(request.caller.grant_id)
        account = tables.accounts.get(row.grant.account_id) if row else None
        return Starting(request, row.grant if row else None, account.balance if account else 0)

    def _put(self, table: dict[K, V], key: K, value: V) -> None:
        if key in table:
            self._undo.append(partial(setitem, table, key, table[key]))
        else:
            self._undo.append(partial(table.pop, key))
        table[key] = value

    def _delete(self, table: dict[K, V], key: K) -> None:
        self._undo.append(partial(setitem, table, key, table.pop(key)))

    def _delete_where(self, table: dict[K, V], is_meant: Callable[[K, V], bool]) -> None:
        for key in [key for key, value in table.items() if is_meant(key, value)]:
            self._delete(table, key)

    @property
    def _now(self) -> datetime:
        return self._tables.clock.now()

    def _publish(self) -> None:
        tables = self._tables
        if self._events:
            number = next(tables.transaction_numbers)
            for event, at in self._events:
                position = Position(number, next(tables.event_numbers))
                ids = (event.job_id, event.endpoint_id)
                stored = StoredEvent(position, at, event.kind, *ids, event.data)
                tables.events[event.tenant_id].append(stored)
            self._channels[EVENTS] = None
        for channel in self._channels:
            tables.notify(channel)
