"""Hints and pauses as they were."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from cadenza.application.ports.search_result import SearchResult, Span
from cadenza.domain.steering_history import By, SteeringChange, SteeringEntry


class NamedEntry(NamedTuple):
    """With the name of the person who set it, and of the one who ended it."""

    entry: SteeringEntry
    user_name: str | None
    ended_by_name: str | None


@dataclass(frozen=True, slots=True)
class SteeringSearch(Span):
    endpoint_id: UUID | None = None
    job_id: UUID | None = None
    job_ids: frozenset[UUID] | None = None  # only of these; None: of all


class SteeringRows(Protocol):
    async def note_steering(self, changes: Sequence[SteeringChange], by: By) -> None:
        """End what stands in each place, or lengthen it where that is renewed; else begin a new
        one. What is past its end stands no more, and stays as it is."""
        ...


class SteeringReads(Protocol):
    async def search_steering(
        self, tenant_id: UUID, search: SteeringSearch
    ) -> SearchResult[NamedEntry]:
        """Newest begin first; `from` and `to` are about the begin."""
        ...

    async def steering_between(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime, per_endpoint: int
    ) -> Sequence[NamedEntry]:
        """What touches this time, at most so many of each endpoint, by begin."""
        ...
