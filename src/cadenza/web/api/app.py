"""The application: every resource's routes, and what belongs to all of them."""

from importlib.metadata import version
from types import SimpleNamespace
from typing import cast
from uuid import UUID

from fastapi import FastAPI
from starlette.routing import Route

from cadenza.web.api import (
    activity,
    audit_export,
    billing,
    endpoints,
    events,
    grants,
    graphs,
    ids,
    incidents,
    insights,
    job_people,
    jobs,
    keys,
    manifest,
    notifications,
    people,
    planner,
    probes,
    records,
    results,
    runs,
    schedules,
    scores,
    sign_in_links,
    steering,
    tenants,
    webhooks,
    workers,
)
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.middleware import RequestMiddleware
from cadenza.web.api.observing import UNWATCHED, ObservedRequests
from cadenza.web.api.problems import handle_problems
from cadenza.web.api.routes import with_problem_schema
from cadenza.web.dashboard.app import BesideApi, create_dashboard
from cadenza.web.docs.routes import Documentation, get_openapi

# A request is matched against one route after the other: what is asked for most comes first.
RESOURCES = (
    runs.routes,
    results.routes,
    endpoints.routes,
    endpoints.outlook_routes,
    endpoints.draft_routes,
    jobs.routes,
    scores.routes,
    activity.routes,
    insights.routes,
    records.routes,
    tenants.routes,
    workers.routes,
    probes.routes,
    steering.routes,
    steering.bulk_routes,
    records.suggestion_routes,
    planner.routes,
    planner.installation_routes,
    keys.routes,
    manifest.routes,
    keys.signing_routes,
    people.routes,
    job_people.routes,
    audit_export.routes,
    sign_in_links.routes,
    billing.routes,
    grants.routes,
    graphs.routes,
    schedules.routes,
    incidents.routes,
    notifications.routes,
    webhooks.routes,
    webhooks.delivery_routes,
    ids.routes,
    events.routes,
)


def create_app(dependencies: Dependencies) -> FastAPI:
    app = FastAPI(
        title="Cadenza",
        version=version("cadenza"),
        summary="An adaptive scheduler: a baseline, hints that bend it for a while, your limits.",
        openapi_url=None,  # ours is below: the same bytes for all who ask
        docs_url=None,  # it would load a script from elsewhere; ours is at /docs
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # asked for per request
    )
    app.state.dependencies = dependencies
    # include_router would have every request matched twice, in a context that no route needs.
    routes = [route for resource in RESOURCES for route in resource.routes]
    app.router.routes.extend(
        sorted(routes, key=lambda route: isinstance(route, Route) and route.methods != {"GET"})
    )
    app.add_route("/api/v1/openapi.json", get_openapi, include_in_schema=False)
    handle_problems(app)
    dashboard = create_dashboard(dependencies)
    app.state.documentation = Documentation(app)
    dashboard.state.documentation = app.state.documentation
    app.add_middleware(BesideApi, dashboard=dashboard)
    around = dependencies.around
    app.add_middleware(RequestMiddleware, new_id=around.new_id)
    if around.watch.telemetry is not None or around.watch.tracer is not None:
        app.add_middleware(ObservedRequests, watch=around.watch, monotonic=around.monotonic)
    generate = app.openapi
    app.openapi = lambda: app.openapi_schema or with_problem_schema(generate())  # type: ignore[method-assign]
    return app


def storeless_app() -> FastAPI:
    """For its routes and its OpenAPI document alone."""
    around = SimpleNamespace(new_id=lambda: UUID(int=0), watch=UNWATCHED)
    return create_app(cast("Dependencies", SimpleNamespace(around=around)))
