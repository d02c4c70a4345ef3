"""Signing in at the OpenID provider, and joining by an invitation."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote, urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from cadenza.application.ports.identity import (
    IdentityRefused,
    ProviderUnavailable,
    SignInAttempt,
)
from cadenza.application.provider_sign_ins import (
    ProviderSignIns,
    SeveralTenants,
    attempt_of,
    is_state,
)
from cadenza.domain.access import hash_of
from cadenza.domain.errors import CadenzaError, NotFound
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.dashboard.policy import HEADERS
from cadenza.web.dashboard.rendering import page
from cadenza.web.dashboard.visitor import (
    check_own_page,
    is_behind_tls,
    local_path,
    set_sign_in,
)

routes = APIRouter()
BEGIN, BACK = "/sign-in/provider", "/sign-in/provider/back"
COOKIE = "cadenza_provider"
LASTS = 600  # seconds that somebody may take at the provider
LONGEST = 2000
OVER = "This link has been used, revoked or has expired. Ask for a new one."
LOST = "This sign-in was not started in this browser, or took too long. Start again."


@dataclass(frozen=True, slots=True)
class Begun:
    """What the browser keeps in the meantime; it is told to nobody else."""

    secret: str
    following: str = ""
    invitation: str = ""
    tenant: str = ""

    def written(self) -> str:
        parts = (self.secret, self.following, self.invitation, self.tenant)
        return ".".join(quote(part, safe="").replace(".", "%2E") for part in parts)

    @classmethod
    def read(cls, text: str | None) -> "Begun | None":
        parts = [unquote(part) for part in (text or "").split(".")]
        return cls(*parts) if len(parts) == 4 and len(parts[0]) >= 32 else None


def _everything(request: Request) -> Dependencies:
    """Of nobody in particular: who it is comes out here."""
    return request.app.state.dependencies


def _provider(request: Request) -> ProviderSignIns:
    provider = _everything(request).provider
    if provider is None:
        raise NotFound("no OpenID provider is set up here; sign in with a key")
    return provider


def _attempt(request: Request, begun: Begun) -> SignInAttempt:
    public = _everything(request).around.public_url
    scheme = "https" if is_behind_tls(request) else "http"
    origin = public or f"{scheme}://{request.url.netloc}"
    return attempt_of(begun.secret, f"{origin.rstrip('/')}{BACK}")


@routes.get(BEGIN)
async def begin(request: Request) -> Response:
    query = request.query_params
    invitation = query.get("invitation", "")[:100]
    return await _begin(request, query.get("next"), invitation, query.get("tenant", ""))


async def _begin(
    request: Request, following: str | None, invitation: str, tenant: str = ""
) -> Response:
    provider, secret = _provider(request), _everything(request).around.new_secret()
    begun = Begun(secret, local_path(following, "")[:LONGEST], invitation, tenant[:200])
    try:
        address = await provider.provider.address(_attempt(request, begun))
    except ProviderUnavailable as error:
        return await _refused(request, _away(provider, error), 503)
    response = RedirectResponse(address, 303, HEADERS)
    # Lax: the way back is a link from the provider's site, with which a strict cookie stays home.
    response.set_cookie(
        COOKIE,
        begun.written(),
        LASTS,
        path="/sign-in/provider",
        httponly=True,
        samesite="lax",
        secure=is_behind_tls(request),
    )
    return response


def _away(provider: ProviderSignIns, error: Exception) -> str:
    name = provider.provider.name
    return f"{name} cannot be asked now: {error}. You can sign in with a key meanwhile."


@routes.get(BACK)
async def come_back(request: Request) -> Response:
    provider, query = _provider(request), request.query_params
    begun = Begun.read(request.cookies.get(COOKIE))
    attempt = _attempt(request, begun) if begun is not None else None
    if begun is None or attempt is None or not is_state(query.get("state", ""), attempt):
        return await _refused(request, LOST, 400)
    if "code" not in query:
        why = "".join(sign for sign in query.get("error", "no code")[:60] if sign.isprintable())
        return await _refused(request, f"{provider.provider.name} did not sign you in: {why}.", 403)
    try:
        user_id = await provider.user_of(
            query["code"], attempt, begun.invitation or None, begun.tenant or None
        )
    except SeveralTenants as error:
        return await _choose(request, error, begun)
    except ProviderUnavailable as error:
        return await _refused(request, _away(provider, error), 503)
    except (IdentityRefused, CadenzaError) as error:
        return await _refused(request, f"You are not signed in: {error}.", 403)
    signed_in = await _everything(request).sign_ins.as_person(user_id)
    if signed_in is None:
        return await _refused(request, LOST, 403)
    return await _signed_in(request, signed_in[1], begun.following)


async def _signed_in(request: Request, token: str, following: str) -> Response:
    """A page that goes on by itself: a redirect would still be part of the way from the other
    site, and our cookie is not sent with that."""
    response = await page(request, "signed_in.html", following=local_path(following))
    response.delete_cookie(COOKIE, path="/sign-in/provider")
    set_sign_in(request, response, token)
    return response


async def _choose(request: Request, error: SeveralTenants, begun: Begun) -> Response:
    choices = {
        name: f"{BEGIN}?{urlencode({'tenant': name, 'next': begun.following})}"
        for name in error.names
    }
    return await page(request, "choose_tenant.html", choices=choices)


async def _refused(request: Request, why: str, status: int) -> Response:
    response = await page(
        request, "error.html", status=status, title="You are not signed in", detail=why
    )
    response.delete_cookie(COOKIE, path="/sign-in/provider")
    return response


# --- Invitations ------------------------------------------------------------------------------


@routes.get("/join/{token}")
async def show_invitation(token: str, request: Request) -> Response:
    """Looking at it does not use it up: scanners of mail follow links, too."""
    match = await _everything(request).reads.people.find_invitation(hash_of(token))
    if match is None or not match[0].is_open(match[2]):
        return await _refused(request, OVER, 404)
    invitation, tenant, _ = match
    about: dict[str, Any] = {"invitation": invitation, "tenant": tenant, "token": token}
    provider = _everything(request).provider
    name = None if provider is None else provider.provider.name
    return await page(request, "join.html", **about, provider=name)


@routes.post("/join/{token}")
async def join(token: str, request: Request) -> Response:
    """At the provider, where there is one; else the link is the proof."""
    check_own_page(request)
    dependencies = _everything(request)
    if dependencies.provider is not None:
        return await _begin(request, None, token)
    user_id = await dependencies.invitations.accept(token)
    signed_in = None if user_id is None else await dependencies.sign_ins.as_person(user_id)
    if signed_in is None:
        return await _refused(request, OVER, 404)
    response = RedirectResponse("/", 303, HEADERS)
    set_sign_in(request, response, signed_in[1])
    return response
