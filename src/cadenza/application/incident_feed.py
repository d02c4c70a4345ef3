"""What events say about incidents: the kinds they concern, quotas, and short failures; and the
payloads of webhooks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from cadenza.application.ports.notifications import FeedEvent
from cadenza.domain.incident import Condition, IncidentKind
from cadenza.domain.instants import iso

# Which incidents an event may open or close, by how its kind begins.
_CONCERNED = {
    "run.failed": (IncidentKind.FAILING,),
    "endpoint.": (IncidentKind.FAILING, IncidentKind.PLANNER_PAUSE),
    "job.": (IncidentKind.FAILING, IncidentKind.PLANNER_PAUSE),
    "planner.acted": (IncidentKind.PLANNER_PAUSE,),
    "planner.suggested": (IncidentKind.SUGGESTION,),
    "grant.": (IncidentKind.GRANT,),
    "key.": (IncidentKind.KEY,),
}
QUOTA = {"quota.warning", "quota.reached", "quota.refused"}


def concerned(feed: Sequence[FeedEvent]) -> set[IncidentKind]:
    happened = {entry.event.kind for entry in feed}
    return {
        kind
        for start, kinds in _CONCERNED.items()
        if any(one.startswith(start) for one in happened)
        for kind in kinds
    }


def with_error(condition: Condition, errors: Mapping[UUID, str]) -> Condition:
    error = errors.get(condition.endpoint_id) if condition.endpoint_id else None
    if condition.kind is not IncidentKind.FAILING or error is None:
        return condition
    count = condition.measure
    often = "1 failure" if count == 1 else f"{count} failures in a row"
    return replace(condition, detail=f"{often}: {error}")


def failures(feed: Sequence[FeedEvent]) -> list[tuple[Condition, datetime | None]]:
    """Endpoints that failed, and when they recovered, where that event is among these, too."""
    failed: dict[UUID, Condition] = {}
    recovered_at: dict[UUID, datetime] = {}
    for entry in feed:
        event = entry.event
        if event.endpoint_id is None:
            continue
        if event.kind == "run.failed":
            recovered_at.pop(event.endpoint_id, None)
            name = str(event.data.get("endpoint_name", ""))
            count = int(event.data.get("failure_count") or 1)
            first = failed.get(event.endpoint_id)
            failed[event.endpoint_id] = Condition(
                entry.tenant_id,
                IncidentKind.FAILING,
                str(event.endpoint_id),
                name,
                first.since if first else event.at,
                max(count, 1),
                event.job_id,
                event.endpoint_id,
            )
        elif event.kind == "endpoint.recovered" and event.endpoint_id in failed:
            recovered_at[event.endpoint_id] = event.at
    return [(condition, recovered_at.get(id_)) for id_, condition in failed.items()]


def jobs_with_limits(feed: Sequence[FeedEvent]) -> list[UUID]:
    events = [entry.event for entry in feed]
    return list({one.job_id for one in events if one.kind in QUOTA and one.job_id is not None})


def quotas(feed: Sequence[FeedEvent], job_names: Mapping[UUID, str]) -> list[Condition]:
    """Quota incidents: opened by events, over at the end of their day or month."""
    worst: dict[tuple[UUID, str], Condition] = {}
    for entry in feed:
        event = entry.event
        if event.kind not in QUOTA:
            continue
        period, limit = str(event.data.get("period", "")), str(event.data.get("limit_name", ""))
        percent = 100 if event.kind != "quota.warning" else int(event.data.get("percent") or 80)
        ends_at = _end_of(period, event.at)
        job = job_names.get(event.job_id, "") if event.job_id is not None else ""
        name = f"{job}: {limit} {period}" if job else f"{limit} {period}"
        subject = f"{event.job_id or ''}:{period}:{limit}"
        condition = Condition(
            entry.tenant_id,
            IncidentKind.QUOTA,
            subject,
            name,
            event.at,
            min(percent, 100),
            event.job_id,
            None,
            # A session may be refused long before all is used: by what it could take.
            str(event.data.get("detail") or f"{percent} % is used"),
            ends_at=ends_at,
        )
        known = worst.get((entry.tenant_id, subject))
        if known is None or known.measure < condition.measure:
            worst[entry.tenant_id, subject] = condition
    return list(worst.values())


def _end_of(period: str, at: datetime) -> datetime:
    """The end of a month (2026-11) or a day (2026-11-18)."""
    try:
        if len(period) == len("2026-11"):
            year, month = map(int, period.split("-"))
            return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        return datetime.fromisoformat(period).replace(tzinfo=UTC) + timedelta(days=1)
    except ValueError:
        return at + timedelta(days=1)


def payload_of(entry: FeedEvent) -> dict[str, Any]:
    event = entry.event
    data = {
        **event.data,
        "job_id": None if event.job_id is None else str(event.job_id),
        "endpoint_id": None if event.endpoint_id is None else str(event.endpoint_id),
    }
    return {"type": event.kind, "timestamp": iso(event.at), "data": data}
