"""Hints and pauses as they were, in memory."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from cadenza.adapters.memory.searching import is_among, newest_first
from cadenza.adapters.memory.tables import OverTables
from cadenza.adapters.memory.writes import Writes
from cadenza.application.ports.search_result import SearchResult
from cadenza.application.ports.steering_history import NamedEntry, SteeringSearch
from cadenza.domain.steering_history import By, SteeringChange, SteeringEnd, SteeringEntry


class MemorySteeringRows(Writes):
    async def note_steering(self, changes: Sequence[SteeringChange], by: By) -> None:
        for change in changes:
            standing = self._standing(change)
            if standing is not None:
                self._put_entry(_after(standing, change, by, self._now))
            if change.after is not None and (standing is None or not change.renews):
                number = next(self._tables.steering_numbers)
                ids = (number, change.tenant_id, change.endpoint_id, change.kind)
                self._put_entry(SteeringEntry(*ids, self._now, change.after))

    def _standing(self, change: SteeringChange) -> SteeringEntry | None:
        entries = self._tables.steering[change.endpoint_id].values()
        last = next((entry for entry in reversed(entries) if entry.kind is change.kind), None)
        return last if last is not None and last.until_at > self._now else None

    def _put_entry(self, entry: SteeringEntry) -> None:
        self._put(self._tables.steering[entry.endpoint_id], entry.id, entry)


def _after(standing: SteeringEntry, change: SteeringChange, by: By, now: datetime) -> SteeringEntry:
    new, old = change.after, standing.advice
    if change.renews and new is not None:
        longer = replace(old, until_at=new.until_at, reason=new.reason)
        return replace(standing, advice=longer, renewals=standing.renewals + 1)
    return replace(
        standing,
        advice=replace(old, until_at=now),
        planned_until_at=old.until_at,
        ended_as=SteeringEnd.CLEARED if new is None else SteeringEnd.REPLACED,
        ended_by=replace(by, reason=""),
    )


class MemorySteeringReads(OverTables):
    async def search_steering(
        self, tenant_id: UUID, search: SteeringSearch
    ) -> SearchResult[NamedEntry]:
        tables = self._tables
        entries = [
            entry
            for endpoint_id, own in tables.steering.items()
            if (row := tables.endpoints.get(endpoint_id)) is not None
            and row.tenant_id == tenant_id
            and search.endpoint_id in (None, endpoint_id)
            and search.job_id in (None, row.endpoint.job_id)
            and is_among(row.endpoint.job_id, search.job_ids)
            for entry in own.values()
        ]
        page = newest_first(entries, lambda entry: (entry.begun_at, UUID(int=entry.id)), search)
        return SearchResult([self._named(entry) for entry in page.items], page.reached)

    async def steering_between(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime, per_endpoint: int
    ) -> Sequence[NamedEntry]:
        entries: list[SteeringEntry] = []
        for endpoint_id in endpoint_ids:
            own = self._tables.steering.get(endpoint_id, {}).values()
            touching = [entry for entry in own if entry.until_at > from_at]
            touching = [entry for entry in touching if entry.begun_at < to_at]
            entries += sorted(touching, key=lambda entry: entry.until_at)[:per_endpoint]
        entries.sort(key=lambda entry: (entry.begun_at, entry.id))
        return [self._named(entry) for entry in entries]

    def _named(self, entry: SteeringEntry) -> NamedEntry:
        ender = entry.ended_by.user_id if entry.ended_by is not None else None
        return NamedEntry(entry, self._name(entry.advice.user_id), self._name(ender))

    def _name(self, user_id: UUID | None) -> str | None:
        user = self._tables.users.get(user_id) if user_id is not None else None
        return user.name if user is not None else None
