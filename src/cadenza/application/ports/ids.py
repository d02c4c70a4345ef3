"""Ids by how they begin, as people copy them from a list."""

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Protocol
from uuid import UUID

MOST_READ = 20_000  # rows of all tenants that may begin so; a longer beginning has fewer


class IdKind(StrEnum):
    JOB = "job"
    ENDPOINT = "endpoint"
    RUN = "run"
    SESSION = "session"
    SCHEDULE = "schedule"
    SCHEDULE_RUN = "schedule-run"
    GRANT = "grant"
    ACCOUNT = "account"
    INCIDENT = "incident"
    ROUTE = "route"
    DELIVERY = "delivery"


class IdReads(Protocol):
    async def ids_between(
        self,
        tenant_id: UUID,
        kind: IdKind,
        first: UUID,
        last: UUID,
        limit: int,
        job_ids: Collection[UUID] | None = None,
    ) -> Sequence[UUID]:
        """Of one tenant, in their order; of some jobs, or of all and of what belongs to none."""
        ...
