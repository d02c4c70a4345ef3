"""Jobs and endpoints as their owners read them."""

from dataclasses import replace

from cadenza.adapters.memory.rows import EndpointRow, JobRow
from cadenza.adapters.memory.tables import Tables
from cadenza.application.ports.catalogue import StoredEndpoint, StoredJob
from cadenza.domain.target import masking_secrets, secrets_of


def stored_job(tables: Tables, row: JobRow) -> StoredJob:
    return StoredJob(
        row.job,
        row.created_at,
        tables.clock.now(),
        row.revision,
        len(tables.members_of(row.job.id)),
    )


def stored_endpoint(
    tables: Tables, row: EndpointRow, *, with_secrets: bool = False, with_plan: bool = True
) -> StoredEndpoint:
    endpoint = row.endpoint
    return StoredEndpoint(
        endpoint if with_plan else replace(endpoint, plan=None),
        masking_secrets(row.target),
        tables.jobs[endpoint.job_id].job.name,
        tables.clock.now(),
        endpoint.next_run_at,
        endpoint.next_source,
        row.revision,
        secrets_of(row.target) if with_secrets else {},
    )
