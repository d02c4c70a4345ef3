"""Pages from templates: what every page has around it, and messages that follow an action."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from typing import Any
from urllib.parse import quote, unquote
from zoneinfo import ZoneInfo

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.responses import HTMLResponse, RedirectResponse, Response

from cadenza.application.ports.catalogue import EndpointSearch
from cadenza.domain.endpoint import EndpointState
from cadenza.domain.instants import FOREVER
from cadenza.web.dashboard import authorship, times, words
from cadenza.web.dashboard.assets import asset_url
from cadenza.web.dashboard.forms import Form
from cadenza.web.dashboard.policy import HEADERS
from cadenza.web.dashboard.query import RANGES, with_query
from cadenza.web.dashboard.visitor import (
    BACK,
    Visitor,
    dependencies_of,
    local_path,
    theme_of,
    visitor_of,
    zone_of,
)

ENTRIES = (
    ("Overview", "/"),
    ("Jobs", "/jobs"),
    ("Runs", "/runs"),
    ("Planner", "/planner"),
    ("Graphs", "/graphs"),
    ("Activity", "/activity"),
    ("Settings", "/settings"),
)
MESSAGE_COOKIE = "cadenza_message"  # shown on the next page, and gone
COUNTED = 20  # suggestions are counted as far as this


@cache
def templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("cadenza.web.dashboard"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(words.FILTERS)
    known: dict[str, Any] = {
        "asset": asset_url,
        "entries": ENTRIES,
        "plural": words.plural,
        "asked": authorship.asked_words,
        "family_of": authorship.family_of,
        "next_asked": authorship.next_asked_words,
        "FOREVER": FOREVER,
        "RANGES": list(RANGES),
        "FAMILIES": words.COUNTED,
    }
    environment.globals.update(known)
    return environment


@dataclass(frozen=True, slots=True)
class Pulse:
    """What the frame of every page tells: how much waits for a person, and whether something
    fails."""

    suggestions: int = 0
    is_failing: bool = False


async def page(
    request: Request, template: str, *, status: int = 200, entry: str = "", **context: Any
) -> HTMLResponse:
    """A whole page; `entry` is the path of the menu's entry that it belongs to. A form that comes
    back with `problems` is a 422, unless another status is named."""
    if status == 200 and request.method != "GET" and context.get("problems"):
        status = 422
    visitor = await visitor_of(request)
    pulse = await _pulse(request, visitor) if visitor is not None else Pulse()
    message = _message(request)
    content = await _render(
        request, template, visitor, entry=entry, pulse=pulse, message=message, **context
    )
    response = HTMLResponse(content, status, HEADERS)
    if message is not None:
        response.delete_cookie(MESSAGE_COOKIE)
    return response


async def fragment(request: Request, template: str, **context: Any) -> HTMLResponse:
    """A part of a page that is there already."""
    content = await _render(request, template, await visitor_of(request), **context)
    return HTMLResponse(content, 200, HEADERS)


async def _render(request: Request, template: str, visitor: Visitor | None, **context: Any) -> str:
    now, zone = (await dependencies_of(request)).around.clock.now(), zone_of(request)
    return (
        templates()
        .get_template(template)
        .render(
            request=request,
            visitor=visitor,
            theme=theme_of(request),
            here=with_query(request),
            link=partial(with_query, request),
            **_clock(now, zone),
            **context,
        )
    )


def _clock(now: datetime, zone: ZoneInfo) -> dict[str, Any]:
    """How templates tell the time."""

    def absolute(at: datetime, other: ZoneInfo | None = None) -> str:
        return times.absolute(at, other or zone, now)

    return {
        "now": now,
        "zone": zone,
        "relative": partial(times.relative, now=now),
        "absolute": absolute,
        "sentence": partial(times.in_sentence, zone=zone, now=now),
        "zone_of_name": ZoneInfo,
    }


async def _pulse(request: Request, visitor: Visitor) -> Pulse:
    reads = (await dependencies_of(request)).reads
    tenant_id = visitor.caller.tenant_id
    open_suggestions = await reads.suggestions.open_suggestions(tenant_id, COUNTED)
    failing = EndpointSearch(state=EndpointState.FAILING, limit=1)
    is_failing = bool(await reads.endpoints.list_endpoints(tenant_id, failing))
    return Pulse(len(open_suggestions), is_failing)


# --- After an action --------------------------------------------------------------------------


def done(path: str, message: str, *, is_error: bool = False) -> Response:
    """On to a page, which says what was done; a reload of it does nothing again."""
    response = RedirectResponse(local_path(path), 303, HEADERS)
    value = quote(("!" if is_error else "") + message[:500])
    response.set_cookie(MESSAGE_COOKIE, value, max_age=30, httponly=True, samesite="strict")
    return response


def back_or(form: Form, path: str) -> str:
    """The page on which a button was pressed, with its filters and its place in a list."""
    return local_path(form.optional(BACK), path)


@dataclass(frozen=True, slots=True)
class Message:
    text: str
    is_error: bool


def _message(request: Request) -> Message | None:
    text = unquote(request.cookies.get(MESSAGE_COOKIE, ""))
    return Message(text.removeprefix("!"), text.startswith("!")) if text else None
