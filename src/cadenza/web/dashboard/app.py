"""The dashboard as an application of its own, beside the API's in the same process."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from cadenza.domain.errors import CadenzaError, InvalidFields, InvalidInput, Refused
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.problems import kind_of_problem
from cadenza.web.dashboard import assets
from cadenza.web.dashboard.pages import (
    activity,
    archive,
    drafts,
    endpoint_lists,
    endpoints,
    events,
    graphs,
    jobs,
    manifest,
    money,
    overview,
    pauses,
    planner,
    rules,
    runs,
    scores,
    search,
    settings,
    sign_in,
    steering,
)
from cadenza.web.dashboard.policy import HEADERS
from cadenza.web.dashboard.query import with_query
from cadenza.web.dashboard.rendering import done, page
from cadenza.web.dashboard.visitor import SignInNeeded, local_path

ENTRIES = (  # a fixed address before those with an id in its place
    assets, overview, manifest, endpoint_lists, jobs, scores, rules, endpoints, steering, pauses,
    archive, drafts, runs, planner, graphs, money, activity, settings, search, events, sign_in,
)  # fmt: skip
OF_API = ("/api/", "/healthz", "/readyz", "/metrics")


def create_dashboard(dependencies: Dependencies) -> FastAPI:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.dependencies = dependencies
    for entry in ENTRIES:
        app.router.routes.extend(entry.routes.routes)
    app.add_exception_handler(SignInNeeded, _on_sign_in_needed)
    app.add_exception_handler(CadenzaError, _on_our_error)
    app.add_exception_handler(RequestValidationError, _on_no_page)
    app.add_exception_handler(HTTPException, _on_http_error)
    return app


class BesideApi:
    """Whatever is not the API's is the dashboard's."""

    def __init__(self, app: ASGIApp, dashboard: ASGIApp) -> None:
        self._api = app
        self._dashboard = dashboard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_page = scope["type"] == "http" and not scope["path"].startswith(OF_API)
        await (self._dashboard if is_page else self._api)(scope, receive, send)


# --- Errors -----------------------------------------------------------------------------------


async def _on_sign_in_needed(request: Request, _error: Exception) -> Response:
    if "hx-request" in request.headers or request.method != "GET":
        return Response("Sign in again.", 401, HEADERS, "text/plain")
    wanted = "" if request.url.path == "/" else f"?next={_quoted(with_query(request))}"
    return RedirectResponse(f"/sign-in{wanted}", 303, HEADERS)


def _quoted(path: str) -> str:
    return local_path(path).replace("&", "%26").replace("#", "%23").replace("+", "%2B")


async def _on_our_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, CadenzaError)
    status, _, title = kind_of_problem(error)
    mendable = isinstance(error, Refused | InvalidInput | InvalidFields)
    if request.method == "POST" and mendable and status != 403:
        return done(_back(request), str(error), is_error=True)
    detail = str(error) if status < 500 else "Try again in a moment; the log has more."
    return await page(request, "error.html", status=status, title=title, detail=detail)


def _back(request: Request) -> str:
    """The page that a form was on, as it says; else the one above, which is that of its subject."""
    return getattr(request.state, "back", "") or request.url.path.rsplit("/", 1)[0] or "/"


async def _on_no_page(request: Request, _error: Exception) -> Response:
    return await _not_found(request)


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return await _not_found(request)
    title, detail = "That is not possible here", str(error.detail)
    return await page(request, "error.html", status=error.status_code, title=title, detail=detail)


async def _not_found(request: Request) -> Response:
    detail = f"There is nothing at {request.url.path}."
    return await page(request, "error.html", status=404, title="No such page", detail=detail)
