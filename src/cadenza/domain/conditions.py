"""What is not as it should be right now: of what incidents are made.

The memory store runs this code. PostgreSQL says the same in the view `incident_conditions`, and a
contract test compares the two on random data.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.domain.access import ApiKey
from cadenza.domain.delivery import Subscription
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.grant import Grant
from cadenza.domain.incident import Condition, IncidentKind
from cadenza.domain.notification import Channel

LATE_AFTER = timedelta(minutes=1)  # a restart of workers is no incident
CHANNEL_FAILS_AFTER = timedelta(minutes=5)
KEPT_AFTER_END = timedelta(days=7)  # a grant or key that nobody renewed is forgotten then
WORKER_LOST_AFTER = timedelta(seconds=30)
FOLLOWER_SEEN_WITHIN = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class WatchedEndpoint:
    endpoint: Endpoint
    job_name: str
    streak_changed_at: datetime | None = None
    last_failed_at: datetime | None = None
    steered_at: datetime | None = None
    suggested_at: datetime | None = None  # what somebody may still accept, the oldest


@dataclass(frozen=True, slots=True)
class SeenWorker:
    name: str
    kind: str
    started_at: datetime
    seen_at: datetime


def conditions_of(watched: WatchedEndpoint, now: datetime) -> Iterator[Condition]:
    endpoint = watched.endpoint
    if endpoint.archived_at is not None:
        return
    if endpoint.failure_count > 0:
        since = watched.streak_changed_at or watched.last_failed_at or endpoint.created_at
        yield _of_endpoint(watched, IncidentKind.FAILING, since, endpoint.failure_count)
    due_at, pause = endpoint.next_run_at, endpoint.planner_pause
    if due_at is not None and due_at < now - LATE_AFTER and not endpoint.in_flight:
        yield _of_endpoint(watched, IncidentKind.LATE, due_at)
    if pause is not None and pause.until_at > now:
        since = watched.steered_at or endpoint.created_at
        yield _of_endpoint(watched, IncidentKind.PLANNER_PAUSE, since, detail=pause.reason)
    if watched.suggested_at is not None:
        yield _of_endpoint(watched, IncidentKind.SUGGESTION, watched.suggested_at)


def _of_endpoint(
    watched: WatchedEndpoint,
    kind: IncidentKind,
    since: datetime,
    measure: int = 1,
    detail: str = "",
) -> Condition:
    endpoint = watched.endpoint
    name = f"{watched.job_name}/{endpoint.name}"
    ids = (endpoint.job_id, endpoint.id)
    return Condition(endpoint.tenant_id, kind, str(endpoint.id), name, since, measure, *ids, detail)


def grant_expires(grant: Grant, now: datetime) -> Condition | None:
    notice_at, ends_at = grant.expiry_notice_at, grant.expires_at
    if grant.revoked_at is not None or notice_at is None or ends_at is None:
        return None
    if notice_at > now or ends_at <= now - KEPT_AFTER_END:
        return None
    return Condition(
        grant.tenant_id,
        IncidentKind.GRANT,
        str(grant.id),
        ", ".join(grant.scopes),
        notice_at,
        measure=2 if ends_at <= now else 1,
        endpoint_id=grant.endpoint_id,
    )


def keys_expire(keys: Collection[ApiKey], now: datetime) -> Iterator[Condition]:
    """One that a later key of its user and name has followed, as after a rotation, is missed by
    nobody."""
    for key in keys:
        notice_at, ends_at = key.expiry_notice_at, key.expires_at
        if key.revoked_at is not None or notice_at is None or ends_at is None:
            continue
        if notice_at > now or ends_at <= now - KEPT_AFTER_END:
            continue
        is_followed = any(
            (other.tenant_id, other.user_id, other.name) == (key.tenant_id, key.user_id, key.name)
            and other.created_at > key.created_at
            and other.revoked_at is None
            and (other.expires_at is None or other.expires_at > ends_at)
            for other in keys
        )
        if not is_followed:
            subject = (key.tenant_id, IncidentKind.KEY, str(key.id), key.name, notice_at)
            yield Condition(*subject, measure=2 if ends_at <= now else 1)


def channel_fails(channel: Channel, now: datetime) -> Condition | None:
    since = channel.health.failing_since
    if not channel.enabled or since is None or since >= now - CHANNEL_FAILS_AFTER:
        return None
    return Condition(
        channel.tenant_id,
        IncidentKind.CHANNEL,
        str(channel.id),
        channel.name,
        since,
        detail=channel.health.last_error or "",
    )


def webhook_is_disabled(webhook: Subscription) -> Condition | None:
    if webhook.disabled_reason is None:
        return None
    since = webhook.failing_since or webhook.created_at
    return Condition(
        webhook.tenant_id,
        IncidentKind.WEBHOOK,
        str(webhook.id),
        webhook.name,
        since,
        detail=webhook.disabled_reason,
    )


def lost_workers(
    workers: Collection[SeenWorker], first_tenant_id: UUID, now: datetime
) -> Iterator[Condition]:
    """One that another of its kind has followed is missed by nobody."""
    for worker in workers:
        is_followed = any(
            other.kind == worker.kind
            and other.started_at > worker.seen_at
            and other.seen_at > now - FOLLOWER_SEEN_WITHIN
            for other in workers
        )
        if worker.seen_at < now - WORKER_LOST_AFTER and not is_followed:
            name = f"{worker.kind} {worker.name}"
            yield Condition(first_tenant_id, IncidentKind.WORKER, worker.name, name, worker.seen_at)
