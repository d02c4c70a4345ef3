"""Jobs and endpoints, and acts on them."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from cadenza.adapters.postgres.database import Connection, Database
from cadenza.adapters.postgres.definitions import StoredSecrets, add_endpoint
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import endpoint_of, endpoint_values, to_text
from cadenza.application.ports.endpoints import Act
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.analysis import changes_its_state
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import MAX_SPREAD, Endpoint, Job
from cadenza.domain.errors import NotFound
from cadenza.domain.target import Target


class PostgresEndpointStore:
    def __init__(
        self, database: Database, cron: Cron, box: SecretBox, spread: timedelta = MAX_SPREAD
    ) -> None:
        self._database = database
        self._cron = cron
        self._box = box
        self._spread = spread

    async def add_job(self, job: Job) -> None:
        async with self._database.connection() as connection:
            await connection.execute(
                query("add_job"),
                job.id,
                job.tenant_id,
                to_text(job.name),
                to_text(job.description),
                job.paused_until,
                job.archived_at,
            )

    async def add_endpoint(self, endpoint: Endpoint, target: Target) -> Endpoint:
        secrets = StoredSecrets(self._box, endpoint.tenant_id, endpoint.id)
        async with self._database.transaction() as connection:
            planned = await add_endpoint(connection, endpoint, target, secrets, self._cron)
            await wake_workers(connection)
        return planned

    async def get_endpoint(self, tenant_id: UUID, endpoint_id: UUID) -> Endpoint:
        async with self._database.connection() as connection:
            row = await connection.fetchrow(query("get_endpoint"), tenant_id, endpoint_id)
        if row is None:
            raise NotFound(f"no endpoint {endpoint_id}")
        return endpoint_of(row, self._spread)

    async def list_endpoints(self, tenant_id: UUID, job_id: UUID) -> Sequence[Endpoint]:
        async with self._database.connection() as connection:
            rows = await connection.fetch(query("list_endpoints"), tenant_id, job_id)
        return [endpoint_of(row, self._spread) for row in rows]

    async def change_endpoint(self, tenant_id: UUID, endpoint_id: UUID, act: Act) -> Endpoint:
        async with self._database.transaction() as connection:
            row = await connection.fetchrow(query("lock_endpoint"), tenant_id, endpoint_id)
            if row is None:
                raise NotFound(f"no endpoint {endpoint_id}")
            before = endpoint_of(row, self._spread)
            changed = act(before, row["now"], self._cron)
            await save_acts(connection, [(before, changed)])
        return changed


async def save_acts(connection: Connection, acts: Sequence[tuple[Endpoint, Endpoint]]) -> None:
    """Write endpoints as they are after an act, and wake workers where a plan has moved."""
    changed = [(before, after) for before, after in acts if after != before]
    if not changed:
        return
    await connection.executemany(
        query("save_endpoint"),
        [(*endpoint_values(after), changes_its_state(before, after)) for before, after in changed],
    )
    if any(
        after.plan != before.plan or after.manual_slot_at != before.manual_slot_at
        for before, after in changed
    ):
        await wake_workers(connection)


async def wake_workers(connection: Connection) -> None:
    """Delivered when the transaction commits, so that a worker finds what it is woken for."""
    await connection.execute(query("notify"), "cadenza_due")
