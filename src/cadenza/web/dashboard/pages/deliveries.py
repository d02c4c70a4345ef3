"""The log of what is sent: messages to channels, and events to webhooks."""

from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.ports.notifications import DeliverySearch
from cadenza.domain.delivery import Delivery, DeliveryStatus
from cadenza.web.api.parsing.cursors import read_time_cursor, write_time_cursor
from cadenza.web.dashboard.pages.jobs import word_or_none
from cadenza.web.dashboard.pages.lists import rows_of
from cadenza.web.dashboard.query import PAGE, choice, identifier
from cadenza.web.dashboard.rendering import back_or, done, page
from cadenza.web.dashboard.visitor import Admin, PageDependencies, Reader, Sent

routes = APIRouter()
ENTRY = "/settings"
LIST = "/settings/notifications/deliveries"


@routes.get(LIST)
async def list_deliveries(
    request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    if not visitor.may_admin:  # addresses of others are the admins' matter
        return await page(request, "deliveries.html", entry=ENTRY)
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads.notifications
    channels = {one.id: one.name for one in await reads.list_channels(tenant_id)}
    webhooks = {one.id: one.name for one in await reads.list_subscriptions(tenant_id)}
    to, status = identifier(request, "to"), choice(request, "status", DeliveryStatus)
    search = DeliverySearch(
        *((to, None) if to in channels else (None, to)),
        status=status,
        after=read_time_cursor(word_or_none(request, "cursor")),
        limit=PAGE + 1,
    )
    deliveries = await reads.list_deliveries(tenant_id, search)
    return await page(
        request,
        "deliveries.html",
        entry=ENTRY,
        rows=rows_of(request, deliveries, _cursor_of),
        names=channels | webhooks,
        statuses=list(DeliveryStatus),
        chosen=status,
        to=to,
    )


def _cursor_of(delivery: Delivery) -> str:
    return write_time_cursor((delivery.created_at, delivery.id))


@routes.post("/settings/notifications/deliveries/{delivery_id}/resend")
async def resend_delivery(
    delivery_id: UUID, form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    await dependencies.webhooks.send_again(visitor.caller, delivery_id)
    return done(back_or(form, LIST), "The message is sent again.")
