"""What is not as it should be right now, in memory: the view `incident_conditions`."""

from collections.abc import Iterator
from datetime import datetime

from cadenza.adapters.memory.rows import EndpointRow
from cadenza.adapters.memory.tables import Tables
from cadenza.domain.conditions import (
    SeenWorker,
    WatchedEndpoint,
    channel_fails,
    conditions_of,
    grant_expires,
    keys_expire,
    lost_workers,
    webhook_is_disabled,
)
from cadenza.domain.incident import Condition


def conditions(tables: Tables) -> Iterator[Condition]:
    now = tables.clock.now()
    for row in tables.endpoints.values():
        yield from conditions_of(_watched(tables, row, now), now)
    single = (
        *(grant_expires(row.grant, now) for row in tables.grants.values()),
        *(channel_fails(channel, now) for channel in tables.channels.values()),
        *(webhook_is_disabled(webhook) for webhook in tables.subscriptions.values()),
    )
    yield from (condition for condition in single if condition is not None)
    yield from keys_expire(tables.keys.values(), now)
    workers = [
        SeenWorker(name, row.kind, row.started_at or row.seen_at, row.seen_at)
        for name, row in tables.workers.items()
    ]
    tenant_id = next(iter(tables.tenants), None)
    if tenant_id is not None:
        yield from lost_workers(workers, tenant_id, now)


def _watched(tables: Tables, row: EndpointRow, now: datetime) -> WatchedEndpoint:
    suggested = [
        session.started_at
        for session in tables.sessions.values()
        if session.endpoint_id == row.endpoint.id
        and any(call.can_be_accepted(now) for call in session.tool_calls)
    ]
    return WatchedEndpoint(
        row.endpoint,
        tables.jobs[row.endpoint.job_id].job.name,
        row.streak_changed_at,
        row.last_failed_at,
        row.steered_at,
        min(suggested, default=None),
    )
