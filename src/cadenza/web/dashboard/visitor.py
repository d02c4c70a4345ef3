"""Who looks at the dashboard: a browser with our cookie, which may do what its key may."""

from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import quote
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fastapi import Depends, Request
from starlette.responses import Response

from cadenza.application.present import note_tenant
from cadenza.domain.access import Caller, Scope
from cadenza.domain.errors import CadenzaError, NotAllowed
from cadenza.domain.sign_in import LASTS, form_token_of, is_form_token
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.dashboard.forms import Form, read_form

SIGN_IN_COOKIE = "cadenza_sign_in"
ZONE_COOKIE = "cadenza_zone"  # written by the browser: where the person is
THEME_COOKIE = "cadenza_theme"  # written by the browser: light or dark, none for the system's
FORM_TOKEN = "form_token"  # noqa: S105 - the name of a field
BACK = "back"  # the name of the field: the page that a button is on
OWN = (None, "same-origin", "none")  # of Sec-Fetch-Site: not from another site's page


class SignInNeeded(CadenzaError):
    """Nobody is signed in here, or no longer."""


class ForeignForm(NotAllowed):
    """A form that did not come from a page of ours."""


class ExpiredForm(ForeignForm):
    """A form without the token of this sign-in: of another site, or from before a new sign-in."""


@dataclass(frozen=True, slots=True)
class Visitor:
    caller: Caller
    token: str = field(repr=False)  # it opens what the key opens, and belongs in no log

    @property
    def form_token(self) -> str:
        return form_token_of(self.token)

    @property
    def may_operate(self) -> bool:
        return self.caller.may(Scope.OPERATE)

    def operates(self, job_id: UUID | None) -> bool:
        """Whether actions on this job would work; without one, those on the whole tenant."""
        operable = self.caller.limits.operable
        return self.may_operate and (operable is None or job_id in operable)

    @property
    def may_admin(self) -> bool:
        return self.caller.may(Scope.ADMIN)


async def dependencies_of(request: Request) -> Dependencies:
    """As far as who is signed in may see and touch; all of them where nobody is."""
    visitor = await visitor_of(request)
    dependencies: Dependencies = request.app.state.dependencies
    return dependencies if visitor is None else dependencies.for_caller(visitor.caller)


PageDependencies = Annotated[Dependencies, Depends(dependencies_of)]


async def visitor_of(request: Request) -> Visitor | None:
    """Looked up once a request, whoever asks."""
    if not hasattr(request.state, "visitor"):
        token = request.cookies.get(SIGN_IN_COOKIE)
        dependencies: Dependencies = request.app.state.dependencies
        caller = await dependencies.sign_ins.caller_of(token) if token else None
        if caller is not None:
            note_tenant(caller.tenant_id)
        request.state.visitor = Visitor(caller, token) if caller and token else None
    return request.state.visitor


async def _reader(request: Request) -> Visitor:
    visitor = await visitor_of(request)
    if visitor is None:
        raise SignInNeeded("sign in first")
    return visitor


async def _form(request: Request) -> Form:
    """What was sent from a page of ours by who is signed in; 403 for everything else."""
    visitor = await _reader(request)
    check_own_page(request)
    form = await read_form(request)
    request.state.back = local_path(form.optional(BACK), "")
    if not is_form_token(form.text(FORM_TOKEN), visitor.token):
        raise ExpiredForm("this form is from an earlier sign-in; reload the page and try again")
    return form


def check_own_page(request: Request) -> None:
    """Browsers say where a request comes from; one that does not is held to the form's token."""
    if not is_from_own_page(request):
        raise ForeignForm("this request comes from another site")


def is_from_own_page(request: Request) -> bool:
    return request.headers.get("sec-fetch-site") in OWN


async def _operator(request: Request) -> Visitor:
    return _with_scope(await _reader(request), Scope.OPERATE)


async def _admin(request: Request) -> Visitor:
    return _with_scope(await _reader(request), Scope.ADMIN)


def _with_scope(visitor: Visitor, scope: Scope) -> Visitor:
    if not visitor.caller.may(scope):
        raise NotAllowed(f"this needs a key with the scope {scope}")
    return visitor


Reader = Annotated[Visitor, Depends(_reader)]
Operator = Annotated[Visitor, Depends(_operator)]
Admin = Annotated[Visitor, Depends(_admin)]
Sent = Annotated[Form, Depends(_form)]


# --- Cookies ----------------------------------------------------------------------------------


def set_sign_in(request: Request, response: Response, token: str) -> None:
    response.set_cookie(
        SIGN_IN_COOKIE,
        token,
        max_age=int(LASTS.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=is_behind_tls(request),
    )


def is_behind_tls(request: Request) -> bool:
    """Ours, or a proxy's that says so; who lies about it only loses their own cookie."""
    protocol = request.headers.get("x-forwarded-proto", "")
    return request.url.scheme == "https" or protocol.split(",")[0].strip().lower() == "https"


def zone_of(request: Request) -> ZoneInfo:
    """The person's own, as their browser told; UTC until it has."""
    name = request.cookies.get(ZONE_COOKIE, "UTC").replace("%2F", "/")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def theme_of(request: Request) -> str:
    theme = request.cookies.get(THEME_COOKIE, "")
    return theme if theme in ("light", "dark") else ""


def local_path(path: str | None, otherwise: str = "/") -> str:
    """A path on this site to go on to, whatever somebody has written into an address."""
    if path is None or not path.startswith("/") or path[:2] in ("//", "/\\"):
        return otherwise
    return quote(path, safe="/?&=%#:+,~@!$'()*;.-_")
