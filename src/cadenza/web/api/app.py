"""The application: every resource's routes, and what belongs to all of them."""

from importlib.metadata import version
from typing import Any

from fastapi import FastAPI

from cadenza.web.api import (
    endpoints,
    events,
    jobs,
    keys,
    manifest,
    outlook,
    probes,
    records,
    runs,
    signing_keys,
    steering,
    suggestions,
    tenants,
    usage,
)
from cadenza.web.api.envelope import Envelope
from cadenza.web.api.parts import Parts
from cadenza.web.api.problems import handle_problems
from cadenza.web.api.routes import add_problem_schema

RESOURCES = (
    jobs.routes,
    endpoints.routes,
    steering.routes,
    keys.routes,
    keys.me_routes,
    tenants.routes,
    manifest.routes,
    signing_keys.routes,
    suggestions.routes,
    runs.routes,
    outlook.routes,
    records.routes,
    usage.routes,
    events.routes,
    probes.routes,
)


def create_app(parts: Parts) -> FastAPI:
    app = FastAPI(
        title="Cadenza",
        version=version("cadenza"),
        summary="An adaptive scheduler: a baseline, hints that bend it for a while, your limits.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # they would load a script from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.parts = parts
    for each in RESOURCES:
        # Not included: that has every request matched twice, in a context that no route needs.
        app.router.routes.extend(each.routes)
    handle_problems(app)
    app.add_middleware(Envelope, new_id=parts.new_id)
    _complete_schema(app)
    return app


def _complete_schema(app: FastAPI) -> None:
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            add_problem_schema(generate())
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
