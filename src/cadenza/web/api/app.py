"""The application: every resource's routes, and what belongs to all of them."""

from importlib.metadata import version

from fastapi import FastAPI
from starlette.routing import Route

from cadenza.web.api import (
    activity,
    billing,
    endpoints,
    events,
    grants,
    graphs,
    ids,
    jobs,
    keys,
    manifest,
    probes,
    records,
    runs,
    schedules,
    scores,
    sign_in_links,
    steering,
    tenants,
)
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.middleware import RequestMiddleware
from cadenza.web.api.problems import handle_problems
from cadenza.web.api.routes import with_problem_schema
from cadenza.web.dashboard.app import BesideApi, create_dashboard

# A request is matched against one route after the other: what is asked for most comes first.
RESOURCES = (
    runs.routes,
    endpoints.routes,
    endpoints.outlook_routes,
    endpoints.draft_routes,
    jobs.routes,
    scores.routes,
    activity.routes,
    records.routes,
    tenants.routes,
    probes.routes,
    steering.routes,
    steering.bulk_routes,
    records.suggestion_routes,
    keys.routes,
    manifest.routes,
    keys.signing_routes,
    sign_in_links.routes,
    billing.routes,
    grants.routes,
    graphs.routes,
    schedules.routes,
    ids.routes,
    events.routes,
)


def create_app(dependencies: Dependencies) -> FastAPI:
    app = FastAPI(
        title="Cadenza",
        version=version("cadenza"),
        summary="An adaptive scheduler: a baseline, hints that bend it for a while, your limits.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # they would load a script from elsewhere
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
    handle_problems(app)
    app.add_middleware(BesideApi, dashboard=create_dashboard(dependencies))
    app.add_middleware(RequestMiddleware, new_id=dependencies.around.new_id)
    generate = app.openapi
    app.openapi = lambda: app.openapi_schema or with_problem_schema(generate())  # type: ignore[method-assign]
    return app
