"""Whom incidents are told to, and where events are sent: channels, routes and webhooks."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.notifications import ChannelPatch
from cadenza.application.ports.catalogue import JobSearch
from cadenza.application.ports.notifications import DeliverySearch
from cadenza.application.webhooks import WebhookPatch
from cadenza.domain.incident import IncidentKind, Severity
from cadenza.domain.target import Secret
from cadenza.web.api.parsing.bodies import validated
from cadenza.web.api.parsing.notification_bodies import ChannelBody, RouteBody, WebhookBody
from cadenza.web.dashboard.forms import MENDABLE, NO_PROBLEMS, Form, Problems, problems_of
from cadenza.web.dashboard.rendering import done, page
from cadenza.web.dashboard.visitor import Admin, PageDependencies, Reader, Sent, Visitor
from cadenza.web.dashboard.words import incident_words

routes = APIRouter()
ENTRY = "/settings"
PAGE = "/settings/notifications"
DELIVERIES = 5  # that are shown here, of many
CHOICES = 200  # jobs to choose from
CHANNEL_FIELDS = ("name", "url")
ROUTE_FIELDS = ("channel_id", "kinds", "min_severity", "quiet", "cooldown", "group", "job_id")
SEVERITIES = {severity.value: f"{severity.value} and worse" for severity in Severity}
KINDS = {"": "any kind", **{kind.value: incident_words(kind) for kind in IncidentKind}}


@routes.get(PAGE)
async def show_notifications(
    request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    if not visitor.may_admin:  # addresses of others are the admins' matter
        return await page(request, "notifications.html", entry=ENTRY, problems=Problems())
    return await _shown(request, visitor, dependencies)


async def _shown(
    request: Request,
    visitor: Visitor,
    dependencies: PageDependencies,
    form: Form | None = None,
    problems: Problems = NO_PROBLEMS,
) -> Response:
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads.notifications
    channels = await reads.list_channels(tenant_id)
    webhooks = await reads.list_subscriptions(tenant_id)
    names = {one.id: one.name for one in (*channels, *webhooks)}
    form = form or Form(
        {"min_severity": Severity.WARNING, "cooldown": "1h", "group": "15s", "recovery": "yes"}
    )
    jobs = await dependencies.reads.jobs.list_jobs(tenant_id, JobSearch(limit=CHOICES))
    # What was typed as a URL is not sent back: it is a secret.
    form = Form({**form.values, "url": ""}, form.chosen)
    return await page(
        request,
        "notifications.html",
        entry=ENTRY,
        channels=channels,
        routes=await reads.list_routes(tenant_id),
        webhooks=webhooks,
        deliveries=await reads.list_deliveries(tenant_id, DeliverySearch(limit=DELIVERIES)),
        names=names,
        channel_names={str(one.id): one.name for one in channels},
        jobs={"": "every job", **{str(stored.job.id): stored.job.name for stored in jobs}},
        severities=SEVERITIES,
        kinds=KINDS,
        form=form,
        problems=problems,
    )


@routes.post("/settings/notifications/channels")
async def create_channel(
    request: Request, form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    try:
        body = validated(ChannelBody, {"name": form.text("name"), "url": form.text("url")})
        url = Secret(body.url)
        made, _ = await dependencies.channels.create(visitor.caller, body.name, url, None)
    except MENDABLE as error:
        problems = problems_of(error, CHANNEL_FIELDS)
        return await _shown(request, visitor, dependencies, form, problems)
    return done(PAGE, f"Channel {made.name} created. Add a route to send incidents to it.")


@routes.post("/settings/notifications/channels/{channel_id}/test")
async def try_channel(
    channel_id: UUID, _form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    await dependencies.channels.test(visitor.caller, channel_id)
    return done(PAGE, "Test message sent. See the result under deliveries.")


@routes.post("/settings/notifications/channels/{channel_id}/enable")
async def enable_channel(
    channel_id: UUID, form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    patch = ChannelPatch(enabled=form.text("enabled") == "true")
    changed = await dependencies.channels.change(visitor.caller, channel_id, patch)
    return done(PAGE, f"{changed.name} is {_state(is_enabled=changed.enabled)}.")


@routes.post("/settings/notifications/channels/{channel_id}/delete")
async def delete_channel(
    channel_id: UUID, _form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    gone = await dependencies.channels.delete(visitor.caller, channel_id)
    return done(PAGE, f"{gone.name} deleted, with its routes.")


@routes.post("/settings/notifications/routes")
async def create_route(
    request: Request, form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    document: dict[str, Any] = {
        "channel_id": form.text("channel_id"),
        "min_severity": form.text("min_severity"),
        "cooldown": form.text("cooldown"),
        "group": form.text("group") or "15s",
        "critical_passes": form.optional("critical_passes") is not None,
        "tells_recovery": form.optional("recovery") is not None,
        "job_id": form.optional("job_id"),
    }
    if kind := form.optional("kinds"):
        document["kinds"] = [kind]
    if quiet := form.optional("quiet"):
        begins, _, ends = quiet.partition("-")
        zone = form.optional("timezone") or "UTC"
        document["quiet"] = {"from": begins.strip(), "to": ends.strip(), "timezone": zone}
    try:
        body = validated(RouteBody, document)
        wanted = body.parsed(visitor.caller.tenant_id)
        await dependencies.notification_routes.create(visitor.caller, wanted, None)
    except MENDABLE as error:
        problems = problems_of(error, ROUTE_FIELDS)
        return await _shown(request, visitor, dependencies, form, problems)
    return done(PAGE, "Route created.")


@routes.post("/settings/notifications/routes/{route_id}/delete")
async def delete_route(
    route_id: UUID, _form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    await dependencies.notification_routes.delete(visitor.caller, route_id)
    return done(PAGE, "Route deleted.")


@routes.post("/settings/notifications/webhooks")
async def create_webhook(
    request: Request, form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    kinds = form.text("hook_kinds").replace(",", " ").split()
    document: dict[str, Any] = {
        "name": form.text("hook_name"),
        "url": form.text("hook_url"),
        "kinds": kinds,
        "job_id": form.optional("hook_job_id"),
    }
    try:
        body = validated(WebhookBody, document)
        made, _ = await dependencies.webhooks.create(visitor.caller, body.parsed(), None)
    except MENDABLE as error:
        problems = problems_of(error, ("name", "url", "kinds", "job_id"))
        fields = {f"hook_{name}": text for name, text in problems.fields.items()}
        return await _shown(
            request, visitor, dependencies, form, Problems(fields, problems.general)
        )
    return done(PAGE, f"Webhook {made.name} created.")


@routes.post("/settings/notifications/webhooks/{webhook_id}/enable")
async def enable_webhook(
    webhook_id: UUID, form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    patch = WebhookPatch(enabled=form.text("enabled") == "true")
    changed = await dependencies.webhooks.change(visitor.caller, webhook_id, patch)
    return done(PAGE, f"{changed.name} is {_state(is_enabled=changed.enabled)}.")


@routes.post("/settings/notifications/webhooks/{webhook_id}/delete")
async def delete_webhook(
    webhook_id: UUID, _form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    gone = await dependencies.webhooks.delete(visitor.caller, webhook_id)
    return done(PAGE, f"{gone.name} deleted, with its delivery log.")


@routes.post("/settings/notifications/webhooks/{webhook_id}/test")
async def try_webhook(
    webhook_id: UUID, _form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    await dependencies.webhooks.test(visitor.caller, webhook_id)
    return done(PAGE, "Test event sent. See the result under deliveries.")


def _state(*, is_enabled: bool) -> str:
    return "enabled: it is sent what happens from now on" if is_enabled else "disabled"
