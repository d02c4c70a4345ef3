"""The dashboard as an application of its own, beside the API's in the same process."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from cadenza.domain.errors import CadenzaError, InvalidFields, InvalidInput, Refused
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.middleware import HeadRefused
from cadenza.web.api.problems import kind_of_problem
from cadenza.web.dashboard import assets
from cadenza.web.dashboard.pages import (
    activity,
    archive,
    deliveries,
    drafts,
    endpoint_lists,
    endpoint_matches,
    endpoints,
    events,
    graphs,
    incidents,
    job_people,
    jobs,
    manifest,
    money,
    notifications,
    overview,
    pauses,
    people,
    planner,
    provider,
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
from cadenza.web.dashboard.resending import can_resend, resend_page
from cadenza.web.dashboard.visitor import ExpiredForm, SignInNeeded, local_path
from cadenza.web.docs import routes as documents

ENTRIES = (  # a fixed address before those with an id in its place
    assets, overview, manifest, endpoint_lists, endpoint_matches, jobs, scores, rules, endpoints,
    steering, pauses, archive, drafts, runs, planner, graphs, money, incidents, activity, people,
    job_people, notifications, deliveries, settings, search, events, provider, sign_in, documents,
)  # fmt: skip
OF_API = ("/api/", "/healthz", "/readyz", "/metrics", "/mcp")


def create_dashboard(dependencies: Dependencies) -> FastAPI:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.dependencies = dependencies
    for entry in ENTRIES:
        app.router.routes.extend(entry.routes.routes)
    app.add_exception_handler(SignInNeeded, _on_sign_in_needed)
    app.add_exception_handler(CadenzaError, _on_our_error)
    app.add_exception_handler(HeadRefused, _on_refused_head)
    app.add_exception_handler(Exception, _on_fault)
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
    if can_resend(request) and "hx-request" not in request.headers:
        return await resend_page(request, 401)
    if "hx-request" in request.headers or request.method != "GET":
        return Response("Sign in again.", 401, HEADERS, "text/plain")
    wanted = "" if request.url.path == "/" else f"?next={_quoted(with_query(request))}"
    return RedirectResponse(f"/sign-in{wanted}", 303, HEADERS)


def _quoted(path: str) -> str:
    return local_path(path).replace("&", "%26").replace("#", "%23").replace("+", "%2B")


async def _on_our_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, CadenzaError)
    if isinstance(error, ExpiredForm) and can_resend(request):
        return await resend_page(request, 403)
    status, _, title = kind_of_problem(error)
    mendable = isinstance(error, Refused | InvalidInput | InvalidFields)
    if request.method == "POST" and mendable and status != 403:
        return done(_back(request), str(error), is_error=True)
    detail = str(error) if status < 500 else "Try again in a moment. The log has details."
    return await page(request, "error.html", status=status, title=title, detail=detail)


async def _on_refused_head(request: Request, error: Exception) -> Response:
    assert isinstance(error, HeadRefused)
    title = "The request is too large"
    answer = await page(request, "error.html", status=error.status, title=title, detail=f"{error}.")
    answer.headers["Connection"] = "close"  # the rest of it is on its way
    return answer


async def _on_fault(request: Request, _error: Exception) -> Response:
    """It is raised again, and logged with the request's id."""
    title = "Something went wrong"
    detail = f"The error was logged with the request id {request.state.request_id}."
    return await page(request, "error.html", status=500, title=title, detail=detail)


def _back(request: Request) -> str:
    """The page that a form was on, as it says; else the one above, which is that of its subject."""
    return getattr(request.state, "back", "") or request.url.path.rsplit("/", 1)[0] or "/"


async def _on_no_page(request: Request, _error: Exception) -> Response:
    return await _not_found(request)


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return await _not_found(request)
    title, detail = "This is not possible", str(error.detail)
    return await page(request, "error.html", status=error.status_code, title=title, detail=detail)


async def _not_found(request: Request) -> Response:
    detail = f"Nothing was found at {request.url.path}."
    return await page(request, "error.html", status=404, title="Page not found", detail=detail)
