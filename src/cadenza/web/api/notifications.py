"""Notifications: channels that messages go to, and routes that say which."""

from uuid import UUID

from cadenza.domain.target import Secret
from cadenza.web.api.access import Admin, ApiDependencies
from cadenza.web.api.parsing.headers import Idempotency
from cadenza.web.api.parsing.notification_bodies import (
    ChannelBody,
    ChannelPatchBody,
    RouteBody,
    RoutePatchBody,
)
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.notifications import (
    ChannelResponse,
    ChannelsResponse,
    DeliveryResponse,
    RouteResponse,
    RoutesResponse,
    channel_response,
    channels_response,
    delivery_response,
    route_response,
    routes_response,
)

routes = router("Notifications", "/notifications")


@routes.get("/routes")
async def list_routes(caller: Admin, dependencies: ApiDependencies) -> RoutesResponse:
    """The oldest first."""
    reads = dependencies.reads.notifications
    return routes_response(await reads.list_routes(caller.tenant_id))


@routes.post("/routes", status_code=201)
async def create_route(
    body: RouteBody, caller: Admin, dependencies: ApiDependencies, idempotency: Idempotency
) -> RouteResponse:
    """Which incidents a channel is told of, and when not."""
    wanted = body.parsed(caller.tenant_id)
    route, replayed = await dependencies.notification_routes.create(
        caller, wanted, idempotency.record(body)
    )
    idempotency.mark(replayed)
    return route_response(route)


@routes.patch("/routes/{route_id}")
async def change_route(
    route_id: UUID, body: RoutePatchBody, caller: Admin, dependencies: ApiDependencies
) -> RouteResponse:
    """Fields that are left out stay."""
    sent = body.model_fields_set
    route = await dependencies.notification_routes.change(
        caller, route_id, lambda route: body.onto(route, sent), sorted(sent)
    )
    return route_response(route)


@routes.delete("/routes/{route_id}")
async def delete_route(
    route_id: UUID, caller: Admin, dependencies: ApiDependencies
) -> RouteResponse:
    return route_response(await dependencies.notification_routes.delete(caller, route_id))


@routes.get("/channels")
async def list_channels(caller: Admin, dependencies: ApiDependencies) -> ChannelsResponse:
    """By name, with how they do."""
    reads = dependencies.reads.notifications
    return channels_response(await reads.list_channels(caller.tenant_id))


@routes.post("/channels", status_code=201)
async def create_channel(
    body: ChannelBody, caller: Admin, dependencies: ApiDependencies, idempotency: Idempotency
) -> ChannelResponse:
    """The URL is checked, but nothing is sent: `test` does that."""
    channel, replayed = await dependencies.channels.create(
        caller, body.name, Secret(body.url), idempotency.record(body)
    )
    idempotency.mark(replayed)
    return channel_response(channel)


@routes.patch("/channels/{channel_id}")
async def change_channel(
    channel_id: UUID, body: ChannelPatchBody, caller: Admin, dependencies: ApiDependencies
) -> ChannelResponse:
    """Fields that are left out stay."""
    return channel_response(await dependencies.channels.change(caller, channel_id, body.parsed()))


@routes.delete("/channels/{channel_id}")
async def delete_channel(
    channel_id: UUID, caller: Admin, dependencies: ApiDependencies
) -> ChannelResponse:
    """With its routes; what waits for it is not sent."""
    return channel_response(await dependencies.channels.delete(caller, channel_id))


@routes.post("/channels/{channel_id}/test", status_code=202)
async def test_channel(
    channel_id: UUID, caller: Admin, dependencies: ApiDependencies
) -> DeliveryResponse:
    """Sends a message through a notifier; read the delivery to see how that ended."""
    return delivery_response(await dependencies.channels.test(caller, channel_id))
