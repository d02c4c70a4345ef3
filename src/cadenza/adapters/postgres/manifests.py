"""All that a tenant has declared: read as one piece, and rewritten in one transaction."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.catalogue import redefined
from cadenza.adapters.postgres.database import Connection, Database
from cadenza.adapters.postgres.definitions import (
    StoredSecrets,
    new_endpoint_values,
    stored_endpoint,
    with_secrets,
)
from cadenza.adapters.postgres.endpoints import save_acts, wake_workers
from cadenza.adapters.postgres.jobs import declared_values, definition_of
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.recording import record
from cadenza.adapters.postgres.rows import Row, endpoint_values, target_json, to_text
from cadenza.application.ports.catalogue import StoredEndpoint
from cadenza.application.ports.manifests import Rewrite
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain import steering
from cadenza.domain.audit import AuditEntry
from cadenza.domain.cron import Cron
from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.endpoint import MAX_SPREAD, Endpoint
from cadenza.domain.errors import NotFound, SecretUnreadable

Name = tuple[str, str]  # of a job, and of one of its endpoints


@dataclass(frozen=True, slots=True)
class _Declared:
    """What is there, by name."""

    jobs: dict[str, Row]
    endpoints: dict[Name, StoredEndpoint]

    def definitions(self) -> list[JobDefinition]:
        of_job: dict[str, list[EndpointDefinition]] = defaultdict(list)
        for (job_name, _), stored in self.endpoints.items():
            of_job[job_name].append(stored.definition)
        return [definition_of(row, of_job[name]) for name, row in self.jobs.items()]


class PostgresManifests:
    def __init__(
        self,
        database: Database,
        cron: Cron,
        box: SecretBox,
        new_id: Callable[[], UUID],
        spread: timedelta = MAX_SPREAD,
    ) -> None:
        self._database = database
        self._cron = cron
        self._box = box
        self._new_id = new_id
        self._spread = spread

    async def all_jobs(self, tenant_id: UUID) -> Sequence[JobDefinition]:
        async with self._database.connection() as connection:
            return (await self._declared(connection, tenant_id)).definitions()

    async def rewrite(self, tenant_id: UUID, rewrite: Rewrite, entry: AuditEntry) -> None:
        async with self._database.transaction() as connection:
            now = await connection.fetchval(query("lock_tenant"), tenant_id)
            if now is None:
                raise NotFound(f"no tenant {tenant_id}")
            present = await self._declared(connection, tenant_id)
            wanted = rewrite(present.definitions())
            job_ids = await self._write_jobs(connection, tenant_id, present, wanted)
            changed = await self._write_endpoints(
                connection, tenant_id, present, wanted, job_ids, now
            )
            if changed or job_ids != {name: row["id"] for name, row in present.jobs.items()}:
                await wake_workers(connection)
            await record(connection, tenant_id, entry, "manifest")

    async def _declared(self, connection: Connection, tenant_id: UUID) -> _Declared:
        jobs = await connection.fetch(query("declared_jobs"), tenant_id)
        rows = await connection.fetch(query("declared_endpoints"), tenant_id)
        stored = [self._opened(row) for row in rows]
        return _Declared(
            {row["name"]: row for row in jobs},
            {(each.job_name, each.endpoint.name): each for each in stored},
        )

    def _opened(self, row: Row) -> StoredEndpoint:
        stored = stored_endpoint(row, self._spread)
        try:
            return with_secrets(row, stored, self._box)
        except SecretUnreadable:
            return stored

    # --- Jobs -----------------------------------------------------------------------------

    async def _write_jobs(
        self,
        connection: Connection,
        tenant_id: UUID,
        present: _Declared,
        wanted: Sequence[JobDefinition],
    ) -> dict[str, UUID]:
        """The ids of the jobs that are wanted, by name."""
        kept = {job.name for job in wanted}
        new = [(self._new_id(), job) for job in wanted if job.name not in present.jobs]
        await connection.executemany(
            query("create_job"),
            [(each, tenant_id, to_text(job.name), *declared_values(job)) for each, job in new],
        )
        await connection.executemany(
            query("declare_job"),
            [
                (present.jobs[job.name]["id"], *declared_values(job))
                for job in wanted
                if job.name in present.jobs
                and replace(job, endpoints=()) != definition_of(present.jobs[job.name])
            ],
        )
        await connection.executemany(
            query("archive_job"),
            [(row["id"],) for name, row in present.jobs.items() if name not in kept],
        )
        ids = {name: row["id"] for name, row in present.jobs.items() if name in kept}
        return ids | {job.name: each for each, job in new}

    # --- Endpoints ------------------------------------------------------------------------

    async def _write_endpoints(
        self,
        connection: Connection,
        tenant_id: UUID,
        present: _Declared,
        wanted: Sequence[JobDefinition],
        job_ids: dict[str, UUID],
        now: datetime,
    ) -> int:
        named = {(job.name, each.name): each for job in wanted for each in job.endpoints}
        new = {name: each for name, each in named.items() if name not in present.endpoints}
        touched = {
            stored.endpoint.id: named.get(name)
            for name, stored in present.endpoints.items()
            if named.get(name) != stored.definition
        }
        # Only what changes is locked: the rest of the tenant's endpoints go on running.
        rows = await connection.fetch(query("lock_endpoints"), list(touched))
        await self._change(connection, [(row, touched[row["id"]]) for row in rows])
        paused = {name: row["paused_until"] for name, row in present.jobs.items()}
        begun = [
            (self._begun(tenant_id, job_ids[job], paused.get(job), definition, now), definition)
            for (job, _), definition in new.items()
        ]
        await self._add(connection, begun)
        return len(rows) + len(begun)

    async def _change(
        self, connection: Connection, rows: Sequence[tuple[Row, EndpointDefinition | None]]
    ) -> None:
        """Redefined, or archived where nothing is wanted of it any more."""
        acts: list[tuple[Endpoint, Endpoint]] = []
        targets: list[tuple[Any, ...]] = []
        for row, wanted in rows:
            stored = stored_endpoint(row, self._spread)
            before = stored.endpoint
            if wanted is None:
                acts.append((before, steering.archive(before, stored.read_at, self._cron)))
                continue
            acts.append((before, redefined(stored, wanted, self._cron)))
            sealed = StoredSecrets.of(row, self._box).sealed(wanted.target)
            target = wanted.target
            targets.append((before.id, target_json(target), target.host, sealed))
        await connection.executemany(query("set_target"), targets)
        await save_acts(connection, acts)

    def _begun(
        self,
        tenant_id: UUID,
        job_id: UUID,
        paused_until: datetime | None,
        definition: EndpointDefinition,
        now: datetime,
    ) -> Endpoint:
        endpoint = Endpoint(
            id=self._new_id(),
            tenant_id=tenant_id,
            job_id=job_id,
            name=definition.name,
            baseline=definition.baseline,
            created_at=now,
            min_interval=definition.min_interval,
            max_interval=definition.max_interval,
            job_paused_until=paused_until,
            spread=self._spread,
        )
        return steering.begin(endpoint, now, self._cron)

    async def _add(
        self, connection: Connection, begun: Sequence[tuple[Endpoint, EndpointDefinition]]
    ) -> None:
        await connection.executemany(
            query("add_endpoint"), [self._values(endpoint, each) for endpoint, each in begun]
        )
        await connection.executemany(
            query("save_endpoint"), [(*endpoint_values(endpoint), False) for endpoint, _ in begun]
        )

    def _values(self, endpoint: Endpoint, definition: EndpointDefinition) -> tuple[Any, ...]:
        secrets = StoredSecrets(self._box, endpoint.tenant_id, endpoint.id)
        return new_endpoint_values(endpoint, definition.target, secrets)
