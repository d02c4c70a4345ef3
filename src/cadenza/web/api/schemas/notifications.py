"""Incidents, channels, routes, webhooks and deliveries, as they are sent."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from cadenza.domain.delivery import Delivery, DeliveryStatus, Subscription
from cadenza.domain.incident import Incident, IncidentKind, Severity
from cadenza.domain.instants import milliseconds
from cadenza.domain.notification import Channel, Route
from cadenza.web.api.schemas.base import ResponseSchema


class IncidentResponse(ResponseSchema):
    id: UUID
    kind: IncidentKind
    name: str = Field(description="What it is about, such as shop/checkout.")
    severity: Severity
    detail: str
    measure: int = Field(description="Failures in a row, percent of a limit; else 1.")
    times: int = Field(description="How often it was opened: the same within an hour is one.")
    job_id: UUID | None
    endpoint_id: UUID | None
    opened_at: datetime
    updated_at: datetime
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    resolved_at: datetime | None = Field(description="null: it is open.")
    resolved_by: str | None = Field(description="`state`, or who closed it by hand.")


class ChannelResponse(ResponseSchema):
    id: UUID
    name: str
    service: str = Field(examples=["Slack"])
    url: str = Field(description="Masked: the URL itself is never shown.")
    enabled: bool
    created_at: datetime
    failing_since: datetime | None
    failures: int = Field(description="In a row.")
    last_error: str | None
    last_sent_at: datetime | None


class ChannelsResponse(ResponseSchema):
    items: list[ChannelResponse]


class QuietResponse(ResponseSchema):
    begins: str = Field(serialization_alias="from", examples=["22:00"])
    ends: str = Field(serialization_alias="to", examples=["07:00"])
    timezone: str


class RouteResponse(ResponseSchema):
    id: UUID
    channel_id: UUID
    job_id: UUID | None = Field(description="null: whatever it is about.")
    kinds: list[IncidentKind] = Field(description="None: all of them.")
    min_severity: Severity
    quiet: QuietResponse | None
    critical_passes: bool
    group_ms: int
    cooldown_ms: int
    tells_recovery: bool
    enabled: bool
    created_at: datetime


class RoutesResponse(ResponseSchema):
    items: list[RouteResponse]


class WebhookResponse(ResponseSchema):
    id: UUID
    name: str
    url: str
    kinds: list[str]
    job_id: UUID | None
    enabled: bool
    disabled_reason: str | None = Field(description="Why we disabled it; null where a person did.")
    failing_since: datetime | None
    last_error: str | None
    last_sent_at: datetime | None
    created_at: datetime


class WebhooksResponse(ResponseSchema):
    items: list[WebhookResponse]


class DeliveryResponse(ResponseSchema):
    id: UUID = Field(description="The same in every attempt; `webhook-id` begins with it.")
    kind: str = Field(description="notification, event or test.")
    title: str
    channel_id: UUID | None
    webhook_id: UUID | None
    status: DeliveryStatus
    attempt: int
    error: str | None = Field(description="Of the last attempt.")
    status_code: int | None
    created_at: datetime
    due_at: datetime = Field(description="Where it waits: when it is tried next.")
    finished_at: datetime | None


class DeliveryDetailResponse(DeliveryResponse):
    payload: dict[str, Any]


def incident_response(incident: Incident) -> IncidentResponse:
    return IncidentResponse.model_validate(incident)


def channel_response(channel: Channel) -> ChannelResponse:
    health = channel.health
    return ChannelResponse(
        id=channel.id,
        name=channel.name,
        service=channel.service,
        url=channel.masked_url,
        enabled=channel.enabled,
        created_at=channel.created_at,
        failing_since=health.failing_since,
        failures=health.failures,
        last_error=health.last_error,
        last_sent_at=health.last_sent_at,
    )


def channels_response(channels: Sequence[Channel]) -> ChannelsResponse:
    return ChannelsResponse(items=[channel_response(channel) for channel in channels])


def route_response(route: Route) -> RouteResponse:
    quiet = None
    if route.quiet is not None:
        begins, ends = route.quiet.begins, route.quiet.ends
        quiet = QuietResponse(
            begins=begins.isoformat("minutes"),
            ends=ends.isoformat("minutes"),
            timezone=route.quiet.timezone,
        )
    return RouteResponse(
        id=route.id,
        channel_id=route.channel_id,
        job_id=route.job_id,
        kinds=sorted(route.kinds),
        min_severity=route.min_severity,
        quiet=quiet,
        critical_passes=route.critical_passes,
        group_ms=milliseconds(route.group),
        cooldown_ms=milliseconds(route.cooldown),
        tells_recovery=route.tells_recovery,
        enabled=route.enabled,
        created_at=route.created_at,
    )


def routes_response(routes: Sequence[Route]) -> RoutesResponse:
    return RoutesResponse(items=[route_response(route) for route in routes])


def webhook_response(webhook: Subscription) -> WebhookResponse:
    return WebhookResponse.model_validate(webhook)


def webhooks_response(webhooks: Sequence[Subscription]) -> WebhooksResponse:
    return WebhooksResponse(items=[webhook_response(webhook) for webhook in webhooks])


def delivery_response(delivery: Delivery) -> DeliveryResponse:
    return DeliveryResponse(**_delivery_fields(delivery))


def delivery_detail_response(delivery: Delivery) -> DeliveryDetailResponse:
    return DeliveryDetailResponse(**_delivery_fields(delivery), payload=delivery.payload)


def _delivery_fields(delivery: Delivery) -> dict[str, Any]:
    return {
        "id": delivery.id,
        "kind": delivery.kind,
        "title": delivery.title,
        "channel_id": delivery.channel_id,
        "webhook_id": delivery.subscription_id,
        "status": delivery.status,
        "attempt": delivery.attempt,
        "error": delivery.error,
        "status_code": delivery.status_code,
        "created_at": delivery.created_at,
        "due_at": delivery.due_at,
        "finished_at": delivery.finished_at,
    }
