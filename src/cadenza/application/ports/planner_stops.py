"""What the planner's modes were where it is stopped everywhere."""

from typing import Protocol
from uuid import UUID

from cadenza.domain.planner_stop import PlannerStop


class PlannerStopReads(Protocol):
    async def planner_stop(self, tenant_id: UUID) -> PlannerStop | None: ...


class PlannerStopRows(Protocol):
    """Under the lock of the tenant."""

    async def get_planner_stop(self, tenant_id: UUID) -> PlannerStop | None: ...

    async def save_planner_stop(self, stop: PlannerStop) -> None: ...

    async def delete_planner_stop(self, tenant_id: UUID) -> None: ...
