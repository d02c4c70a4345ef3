"""Where the planner is stopped everywhere."""

from uuid import UUID

from cadenza.adapters.memory.tables import OverTables
from cadenza.adapters.memory.writes import Writes
from cadenza.domain.planner_stop import PlannerStop


class MemoryPlannerStops(OverTables):
    async def planner_stop(self, tenant_id: UUID) -> PlannerStop | None:
        return self._tables.planner_stops.get(tenant_id)


class MemoryPlannerStopRows(Writes):
    """A transaction's verbs."""

    async def get_planner_stop(self, tenant_id: UUID) -> PlannerStop | None:
        return self._tables.planner_stops.get(tenant_id)

    async def save_planner_stop(self, stop: PlannerStop) -> None:
        self._put(self._tables.planner_stops, stop.tenant_id, stop)

    async def delete_planner_stop(self, tenant_id: UUID) -> None:
        self._delete_where(self._tables.planner_stops, lambda key, _: key == tenant_id)
