"""Signing in with a key or with a link that works once, and out again."""

from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from cadenza.web.dashboard.forms import Form, Problems, read_form
from cadenza.web.dashboard.policy import HEADERS
from cadenza.web.dashboard.rendering import page
from cadenza.web.dashboard.visitor import (
    SIGN_IN_COOKIE,
    PageDependencies,
    Reader,
    Sent,
    check_own_page,
    is_from_own_page,
    local_path,
    set_sign_in,
    visitor_of,
)

routes = APIRouter()
LINK_IS_OVER = "This link has been used, or is older than a minute. Sign in with your key."
OPENED_ELSEWHERE = (
    "This link was opened by another site's page, which could sign you in as somebody else. If it "
    "is yours, copy it into the address bar."
)
UNKNOWN_KEY = "This key is unknown, revoked or expired."


@routes.get("/sign-in")
async def show_sign_in(request: Request) -> Response:
    if await visitor_of(request) is not None:
        return RedirectResponse(local_path(request.query_params.get("next")), 303, HEADERS)
    message = LINK_IS_OVER if "over" in request.query_params else ""
    return await _form(request, Problems(general=message))


@routes.post("/sign-in")
async def sign_in(request: Request, dependencies: PageDependencies) -> Response:
    check_own_page(request)
    form, failures = await read_form(request), dependencies.around.failed_sign_ins
    address, now = request.client.host if request.client else "", dependencies.around.monotonic()
    if not failures.is_allowed(address, now):
        message = "Too many failed sign-ins from this address. Try again in a minute."
        return await _form(request, Problems(general=message), form, 429)
    signed_in = await dependencies.sign_ins.with_key(form.text("key"))
    if signed_in is None:
        failures.take(address, now)
        return await _form(request, Problems({"key": UNKNOWN_KEY}), form, 401)
    return _signed_in(request, signed_in[1], form.optional("next"))


@routes.get("/sign-in/{token}")
async def follow_link(token: str, request: Request, dependencies: PageDependencies) -> Response:
    if not is_from_own_page(request):  # it is not used up
        return await _form(request, Problems(general=OPENED_ELSEWHERE), status=403)
    signed_in = await dependencies.sign_ins.with_link(token)
    if signed_in is not None:
        return _signed_in(request, signed_in[1], request.query_params.get("next"))
    if await visitor_of(request) is not None:
        return RedirectResponse("/", 303, HEADERS)
    return RedirectResponse(f"/sign-in?{urlencode({'over': 1})}", 303, HEADERS)


@routes.post("/sign-out")
async def sign_out(visitor: Reader, _form: Sent, dependencies: PageDependencies) -> Response:
    await dependencies.sign_ins.sign_out(visitor.caller, visitor.token)
    return _signed_out()


@routes.post("/sign-out-everywhere")
async def sign_out_everywhere(
    visitor: Reader, _form: Sent, dependencies: PageDependencies
) -> Response:
    await dependencies.sign_ins.sign_out_everywhere(visitor.caller)
    return _signed_out()


async def _form(
    request: Request, problems: Problems, form: Form | None = None, status: int = 200
) -> Response:
    following = request.query_params.get("next") or (form.text("next") if form else "")
    provider = request.app.state.dependencies.provider
    return await page(
        request,
        "sign_in.html",
        provider=None if provider is None else provider.provider.name,
        status=status,
        problems=problems,
        following=local_path(following, ""),
    )


def _signed_in(request: Request, token: str, following: str | None) -> Response:
    response = RedirectResponse(local_path(following), 303, HEADERS)
    set_sign_in(request, response, token)
    return response


def _signed_out() -> Response:
    response = RedirectResponse("/sign-in", 303, HEADERS)
    response.delete_cookie(SIGN_IN_COOKIE)
    return response
