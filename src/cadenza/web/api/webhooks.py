"""Outbound webhooks: events that are sent on, and the log of what was sent, to be sent again."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from cadenza.application.ports.notifications import DeliverySearch
from cadenza.domain.delivery import DeliveryStatus
from cadenza.web.api.access import Admin, ApiDependencies
from cadenza.web.api.parsing.cursors import read_time_cursor, write_time_cursor
from cadenza.web.api.parsing.headers import Idempotency
from cadenza.web.api.parsing.notification_bodies import WebhookBody, WebhookPatchBody, one_filter
from cadenza.web.api.parsing.query import Cursor, Limit
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.notifications import (
    DeliveryDetailResponse,
    DeliveryResponse,
    WebhookResponse,
    WebhooksResponse,
    delivery_detail_response,
    delivery_response,
    webhook_response,
    webhooks_response,
)
from cadenza.web.api.schemas.pages import Page, page_response

routes = router("Webhooks", "/webhooks")
delivery_routes = router("Deliveries", "/deliveries")


@routes.get("")
async def list_webhooks(caller: Admin, dependencies: ApiDependencies) -> WebhooksResponse:
    """By name."""
    reads = dependencies.reads.notifications
    return webhooks_response(await reads.list_subscriptions(caller.tenant_id))


@routes.post("", status_code=201)
async def create_webhook(
    body: WebhookBody, caller: Admin, dependencies: ApiDependencies, idempotency: Idempotency
) -> WebhookResponse:
    """Events from now on, signed with the tenant's signing key."""
    record = idempotency.record(body)
    webhook, replayed = await dependencies.webhooks.create(caller, body.parsed(), record)
    idempotency.mark(replayed)
    return webhook_response(webhook)


@routes.patch("/{webhook_id}")
async def change_webhook(
    webhook_id: UUID, body: WebhookPatchBody, caller: Admin, dependencies: ApiDependencies
) -> WebhookResponse:
    """Fields that are left out stay. Enabling one that failed for long forgets its trouble."""
    return webhook_response(await dependencies.webhooks.change(caller, webhook_id, body.parsed()))


@routes.delete("/{webhook_id}")
async def delete_webhook(
    webhook_id: UUID, caller: Admin, dependencies: ApiDependencies
) -> WebhookResponse:
    """With its log; what waits for it is not sent."""
    return webhook_response(await dependencies.webhooks.delete(caller, webhook_id))


@routes.post("/{webhook_id}/test", status_code=202)
async def test_webhook(
    webhook_id: UUID, caller: Admin, dependencies: ApiDependencies
) -> DeliveryResponse:
    """Sends `webhook.test` through a notifier; read the delivery to see how that ended."""
    return delivery_response(await dependencies.webhooks.test(caller, webhook_id))


@delivery_routes.get("")
async def list_deliveries(
    caller: Admin,
    dependencies: ApiDependencies,
    channel_id: UUID | None = None,
    webhook_id: UUID | None = None,
    status: Annotated[DeliveryStatus | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[DeliveryResponse]:
    """Messages to channels and events to webhooks, the newest first."""
    one_filter(channel_id, webhook_id)
    search = DeliverySearch(channel_id, webhook_id, status, read_time_cursor(cursor), limit + 1)
    deliveries = await dependencies.reads.notifications.list_deliveries(caller.tenant_id, search)
    return page_response(
        deliveries,
        limit,
        delivery_response,
        lambda delivery: write_time_cursor((delivery.created_at, delivery.id)),
    )


@delivery_routes.get("/{delivery_id}")
async def get_delivery(
    delivery_id: UUID, caller: Admin, dependencies: ApiDependencies
) -> DeliveryDetailResponse:
    """With what is or was sent."""
    reads = dependencies.reads.notifications
    return delivery_detail_response(await reads.get_delivery(caller.tenant_id, delivery_id))


@delivery_routes.post("/{delivery_id}/resend", status_code=202)
async def resend_delivery(
    delivery_id: UUID, caller: Admin, dependencies: ApiDependencies
) -> DeliveryResponse:
    """The same content once more, as a new delivery with an id of its own."""
    return delivery_response(await dependencies.webhooks.send_again(caller, delivery_id))
