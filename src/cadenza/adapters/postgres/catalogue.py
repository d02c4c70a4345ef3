"""Jobs and endpoints with their definitions: searched, read and changed by their owners."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.adapters.postgres.database import Connection, Database
from cadenza.adapters.postgres.definitions import (
    StoredSecrets,
    add_endpoint,
    stored_endpoint,
    with_secrets,
    with_secrets_masked,
)
from cadenza.adapters.postgres.endpoints import save_acts, wake_workers
from cadenza.adapters.postgres.jobs import declared_values, job_of
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.recording import created_before, record, translated_unique_violations
from cadenza.adapters.postgres.rows import Row, endpoint_of, like, target_json, to_text
from cadenza.application.ports.catalogue import (
    ChangeJob,
    EndpointSearch,
    JobSearch,
    Redefine,
    StoredEndpoint,
    StoredJob,
)
from cadenza.application.ports.endpoints import Act
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain import steering
from cadenza.domain.audit import AuditEntry, IdempotencyRecord
from cadenza.domain.cron import Cron
from cadenza.domain.definition import EndpointDefinition
from cadenza.domain.endpoint import MAX_SPREAD, Endpoint, Job
from cadenza.domain.errors import NotFound, Outdated, Refused
from cadenza.domain.target import Target


class PostgresCatalogue:
    def __init__(
        self, database: Database, cron: Cron, box: SecretBox, spread: timedelta = MAX_SPREAD
    ) -> None:
        self._database = database
        self._cron = cron
        self._box = box
        self._spread = spread

    # --- Jobs -----------------------------------------------------------------------------

    async def list_jobs(self, tenant_id: UUID, search: JobSearch) -> Sequence[StoredJob]:
        after_name, after_id = search.after or (None, None)
        async with self._database.connection() as connection:
            rows = await connection.fetch(
                query("list_jobs"),
                tenant_id,
                search.archived,
                search.name,
                like(search.search),
                after_name,
                after_id,
                search.limit,
            )
        return [_stored_job(row) for row in rows]

    async def get_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        async with self._database.connection() as connection:
            return await _get_job(connection, tenant_id, job_id)

    async def create_job(
        self, job: Job, entry: AuditEntry, once: IdempotencyRecord | None = None
    ) -> UUID:
        async with (
            translated_unique_violations(job.name),
            self._database.transaction() as connection,
        ):
            if present := await created_before(connection, job.tenant_id, once, job.id):
                return present
            await connection.execute(
                query("create_job"),
                job.id,
                job.tenant_id,
                to_text(job.name),
                *declared_values(job),
            )
            await record(connection, job.tenant_id, entry, job.id)
        return job.id

    async def change_job(
        self,
        tenant_id: UUID,
        job_id: UUID,
        change: ChangeJob,
        entry: AuditEntry,
        seen: Collection[int] | None = None,
    ) -> StoredJob:
        async with self._database.transaction() as connection:
            row = await connection.fetchrow(query("lock_job"), tenant_id, job_id)
            if row is None:
                raise NotFound(f"no job {job_id}")
            _check_revision(row, seen)
            before = job_of(row)
            after = change(before, row["now"])
            if after != before:
                async with translated_unique_violations(after.name):
                    await connection.execute(
                        query("save_job"),
                        job_id,
                        to_text(after.name),
                        *declared_values(after),
                        after.paused_until,
                        after.archived_at,
                    )
                await self._carry_over(connection, before, after)
                await record(connection, tenant_id, entry, job_id)
            return await _get_job(connection, tenant_id, job_id)

    async def _carry_over(self, connection: Connection, before: Job, after: Job) -> None:
        """A job's pause, and its end, are those of its endpoints."""
        acts: list[Act] = []
        if after.paused_until != before.paused_until:
            acts.append(_pause_like(after))
        if after.archived_at != before.archived_at:
            acts.append(steering.archive)
        for act in acts:
            rows = await connection.fetch(query("lock_endpoints_of_job"), after.tenant_id, after.id)
            endpoints = [endpoint_of(row, self._spread) for row in rows]
            changed = [
                (each, act(each, row["now"], self._cron))
                for each, row in zip(endpoints, rows, strict=True)
            ]
            await save_acts(connection, changed)

    # --- Endpoints ------------------------------------------------------------------------

    async def list_endpoints(
        self, tenant_id: UUID, search: EndpointSearch
    ) -> Sequence[StoredEndpoint]:
        after_value, after_id = search.after or (None, None)
        async with self._database.connection() as connection:
            rows = await connection.fetch(
                query(f"list_endpoints_by_{search.order}"),
                tenant_id,
                search.job_id,
                search.name,
                like(search.search),
                search.state,
                after_value,
                after_id,
                search.limit,
            )
        return [stored_endpoint(row, self._spread) for row in rows]

    async def get_endpoint(self, tenant_id: UUID, endpoint_id: UUID) -> StoredEndpoint:
        async with self._database.connection() as connection:
            return await self._get(connection, "get_endpoint", tenant_id, endpoint_id)

    async def target_to_call(self, tenant_id: UUID, endpoint_id: UUID) -> StoredEndpoint:
        async with self._database.connection() as connection:
            row = await connection.fetchrow(query("get_endpoint"), tenant_id, endpoint_id)
        if row is None:
            raise NotFound(f"no endpoint {endpoint_id}")
        return with_secrets(row, stored_endpoint(row, self._spread), self._box)

    async def create_endpoint(
        self,
        endpoint: Endpoint,
        target: Target,
        entry: AuditEntry,
        once: IdempotencyRecord | None = None,
    ) -> UUID:
        async with (
            translated_unique_violations(endpoint.name),
            self._database.transaction() as connection,
        ):
            if present := await created_before(connection, endpoint.tenant_id, once, endpoint.id):
                return present
            secrets = StoredSecrets(self._box, endpoint.tenant_id, endpoint.id)
            await add_endpoint(connection, endpoint, target, secrets, self._cron)
            await record(connection, endpoint.tenant_id, entry, endpoint.id)
            await wake_workers(connection)
        return endpoint.id

    async def redefine_endpoint(
        self,
        tenant_id: UUID,
        endpoint_id: UUID,
        redefine: Redefine,
        entry: AuditEntry,
        seen: Collection[int] | None = None,
    ) -> StoredEndpoint:
        async with self._database.transaction() as connection:
            row = await connection.fetchrow(query("lock_endpoint"), tenant_id, endpoint_id)
            if row is None:
                raise NotFound(f"no endpoint {endpoint_id}")
            _check_revision(row, seen)
            present = stored_endpoint(row, self._spread)
            if present.endpoint.archived_at is not None:
                raise Refused("it is archived, and can no longer be changed")
            if await self._redefine(connection, row, present, redefine):
                await record(connection, tenant_id, entry, endpoint_id)
            return await self._get(connection, "get_endpoint", tenant_id, endpoint_id)

    async def _redefine(
        self, connection: Connection, row: Row, present: StoredEndpoint, redefine: Redefine
    ) -> bool:
        """Whether that changed anything."""
        wanted = redefine(present)
        secrets = StoredSecrets.of(row, self._box)
        sealed = secrets.sealed(wanted.target)
        masked = replace(wanted, target=with_secrets_masked(wanted.target))
        if masked == present.definition and sealed == secrets.stored_text:
            return False
        edited = redefined(present, wanted, self._cron)
        target = wanted.target
        await connection.execute(
            query("set_target"), edited.id, target_json(target), target.host, sealed
        )
        async with translated_unique_violations(wanted.name):
            await save_acts(connection, [(present.endpoint, edited)])
        return True

    async def steer_endpoint(
        self, tenant_id: UUID, endpoint_id: UUID, act: Act, entry: AuditEntry
    ) -> StoredEndpoint:
        async with self._database.transaction() as connection:
            present = await self._get(connection, "lock_endpoint", tenant_id, endpoint_id)
            changed = act(present.endpoint, present.read_at, self._cron)
            if changed != present.endpoint:
                await save_acts(connection, [(present.endpoint, changed)])
                await record(connection, tenant_id, entry, endpoint_id)
            if changed.archived_at != present.endpoint.archived_at:
                await connection.execute(query("raise_revision"), endpoint_id)
            return await self._get(connection, "get_endpoint", tenant_id, endpoint_id)

    async def ask_for_analysis(self, tenant_id: UUID, endpoint_id: UUID, entry: AuditEntry) -> None:
        async with self._database.transaction() as connection:
            row = await connection.fetchrow(query("ask_for_analysis"), tenant_id, endpoint_id)
            if row is None:
                raise NotFound(f"no endpoint {endpoint_id}")
            if row["archived_at"] is not None:
                raise Refused("it is archived")
            await record(connection, tenant_id, entry, endpoint_id)
            await connection.execute(query("notify"), "cadenza_finished")

    async def _get(
        self, connection: Connection, name: str, tenant_id: UUID, endpoint_id: UUID
    ) -> StoredEndpoint:
        row = await connection.fetchrow(query(name), tenant_id, endpoint_id)
        if row is None:
            raise NotFound(f"no endpoint {endpoint_id}")
        return stored_endpoint(row, self._spread)


def redefined(stored: StoredEndpoint, wanted: EndpointDefinition, cron: Cron) -> Endpoint:
    return steering.edit(
        replace(stored.endpoint, name=wanted.name),
        baseline=wanted.baseline,
        min_interval=wanted.min_interval,
        max_interval=wanted.max_interval,
        now=stored.read_at,
        cron=cron,
    )


async def _get_job(connection: Connection, tenant_id: UUID, job_id: UUID) -> StoredJob:
    row = await connection.fetchrow(query("get_job"), tenant_id, job_id)
    if row is None:
        raise NotFound(f"no job {job_id}")
    return _stored_job(row)


def _pause_like(job: Job) -> Act:
    def act(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
        return steering.set_job_pause(endpoint, job.paused_until, now, cron)

    return act


def _check_revision(row: Row, seen: Collection[int] | None) -> None:
    if seen is not None and row["revision"] not in seen:
        raise Outdated(
            f"it has changed: its revision is {row['revision']}, not what you gave; read it again"
        )


def _stored_job(row: Row) -> StoredJob:
    return StoredJob(job_of(row), row["revision"], row["created_at"], row["endpoint_count"])
