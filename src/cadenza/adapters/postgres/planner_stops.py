"""Where the planner is stopped everywhere, and what its modes were."""

import json
from uuid import UUID

from cadenza.adapters.postgres.database import Connection, Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.storable import to_text
from cadenza.domain.planner_stop import BRAINS, PlannerStop
from cadenza.domain.rule import Mode, Modes


class PostgresPlannerStops:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def planner_stop(self, tenant_id: UUID) -> PlannerStop | None:
        row = await self._database.fetchrow(query("get_planner_stop"), tenant_id)
        return None if row is None else _stop(row)


class PostgresPlannerStopRows:
    """In a transaction."""

    connection: Connection

    async def get_planner_stop(self, tenant_id: UUID) -> PlannerStop | None:
        row = await self.connection.fetchrow(query("get_planner_stop"), tenant_id)
        return None if row is None else _stop(row)

    async def save_planner_stop(self, stop: PlannerStop) -> None:
        await self.connection.execute(
            query("save_planner_stop"),
            stop.tenant_id,
            stop.stopped_at,
            stop.stopped_by,
            to_text(stop.reason),
            json.dumps({brain: getattr(stop.modes, brain) for brain in BRAINS}),
            json.dumps({str(job_id): modes for job_id, modes in stop.jobs.items()}),
        )

    async def delete_planner_stop(self, tenant_id: UUID) -> None:
        await self.connection.execute(query("delete_planner_stop"), tenant_id)


def _stop(row: Row) -> PlannerStop:
    return PlannerStop(
        tenant_id=row["tenant_id"],
        stopped_at=row["stopped_at"],
        stopped_by=row["stopped_by"],
        reason=row["reason"],
        modes=Modes(**_modes(json.loads(row["modes"]))),
        jobs={UUID(job_id): _modes(own) for job_id, own in json.loads(row["jobs"]).items()},
    )


def _modes(written: dict[str, str]) -> dict[str, Mode]:
    return {brain: Mode(mode) for brain, mode in written.items() if brain in BRAINS}
