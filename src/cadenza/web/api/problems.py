"""Errors as problem details (RFC 9457): what was wrong, where, and what to do about it."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pydantic_core
import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route

from cadenza.domain.errors import (
    AlreadyThere,
    CadenzaError,
    InsufficientCredits,
    InvalidFields,
    InvalidInput,
    LimitReached,
    NotAllowed,
    NotFound,
    Outdated,
    Refused,
    StoreUnavailable,
)
from cadenza.manifest.reading import field_errors
from cadenza.web.api.parsing.patterns import WHAT_FITS

MEDIA_TYPE = "application/problem+json"
SEND_A_KEY = "send a key as `Authorization: Bearer cdz_…`"
UNKNOWN_KEY = "this key is unknown, revoked or expired"
_log = structlog.get_logger()
_MAX_ERRORS = 100
_MAX_FIELD = 200


class FieldProblem(BaseModel):
    field: str
    value: str = Field(description="What was given, cut; secrets are masked.")
    fix: str


class Problem(BaseModel):
    """RFC 9457."""

    type: str = Field(examples=["/problems/invalid-input"])
    title: str
    status: int
    detail: str
    errors: list[FieldProblem] = Field(default_factory=list[FieldProblem])
    request_id: str | None = None


class Unauthorised(CadenzaError):
    """No key, or one that opens nothing."""

    headers: ClassVar = {"WWW-Authenticate": 'Bearer realm="cadenza"'}


class TooManyRequests(CadenzaError):
    """Over the rate limit."""

    def __init__(self, message: str, headers: dict[str, str]) -> None:
        self.headers = headers
        super().__init__(message)


class Gone(CadenzaError):
    """What was asked for is no longer kept."""


class Malformed(InvalidInput):
    """A request that cannot be read at all."""


_KINDS: tuple[tuple[type[CadenzaError], int, str, str], ...] = (
    (AlreadyThere, 409, "already-there", "It exists already"),
    (Malformed, 400, "malformed", "The request cannot be read"),
    (InvalidInput, 422, "invalid-input", "A value is not valid"),
    (InvalidFields, 422, "invalid-input", "Some values are not valid"),
    (Unauthorised, 401, "unauthorised", "A valid API key is needed"),
    (NotAllowed, 403, "not-allowed", "The key may not do this"),
    (NotFound, 404, "not-found", "There is no such thing"),
    (Gone, 410, "gone", "It is no longer kept"),
    (Outdated, 412, "outdated", "It has changed since"),
    (InsufficientCredits, 402, "insufficient-credits", "The account has no credits"),
    (LimitReached, 409, "limit-reached", "A limit is reached"),
    (Refused, 409, "refused", "That cannot be done now"),
    (TooManyRequests, 429, "too-many-requests", "Too many requests"),
)
_TITLES = {404: "not-found", 405: "method-not-allowed", 413: "too-large", 415: "media-type"}


def handle_problems(app: FastAPI) -> None:
    app.add_exception_handler(CadenzaError, _on_our_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(HTTPException, _on_http_error)


def problem_response(
    request: Request,
    status: int,
    kind: str,
    title: str,
    detail: str,
    errors: Sequence[InvalidInput] = (),
    headers: dict[str, str] | None = None,
) -> Response:
    problem = Problem(
        type=f"/problems/{kind}",
        title=title,
        status=status,
        detail=storable(detail[:2000]),
        errors=[_field_problem(error) for error in errors[:_MAX_ERRORS]],
        request_id=request.scope.get("state", {}).get("request_id"),
    )
    content = pydantic_core.to_json(problem, exclude_none=True)
    return Response(content, status, headers, MEDIA_TYPE)


def storable(text: str) -> str:
    """A value from a request may hold half a character pair, which no answer can."""
    return text.encode("utf-8", "backslashreplace").decode()


def _field_problem(error: InvalidInput) -> FieldProblem:
    message = str(error).removeprefix(f"{error.field}: ")
    value = message.removesuffix(f" is not valid: {error.fix}")
    field = storable(error.field[:_MAX_FIELD])
    return FieldProblem(field=field, value=storable(value), fix=storable(error.fix))


def kind_of_problem(error: CadenzaError) -> tuple[int, str, str]:
    """Status, name and title; 503 for what only the installation's admin can mend."""
    for kind, status, name, title in _KINDS:
        if isinstance(error, kind):
            return status, name, title
    return 503, "unavailable", "Something is wrong on our side"


async def _on_our_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, CadenzaError)
    status, name, title = kind_of_problem(error)
    if status < 500:
        alone = [error] if isinstance(error, InvalidInput) else []
        fields = error.problems if isinstance(error, InvalidFields) else alone
        headers = getattr(error, "headers", None)
        return problem_response(request, status, name, title, str(error), fields, headers)
    # What only the installation's admin can mend (a lost key, a database that is away) is logged.
    _log.error("api.trouble", error=str(error), path=request.url.path)
    detail, headers = "the installation's admin finds it in the log", None
    if isinstance(error, StoreUnavailable):
        title, detail = "The database does not answer", "try again in a moment"
        headers = {"Retry-After": "1"}
    return problem_response(request, status, name, title, detail, headers=headers)


async def _on_invalid_request(request: Request, error: Exception) -> Response:
    """Fields of the body by their own path; parameters by their name."""
    assert isinstance(error, RequestValidationError)
    # A path begins with `body`, `query` or the like.
    lines: list[Any] = [
        {**line, "loc": line["loc"][1:] or line["loc"], "msg": _what_fits(line)}
        for line in error.errors()
    ]
    return await _on_our_error(request, InvalidFields(field_errors(lines)))


def _what_fits(line: Mapping[str, Any]) -> str:
    """A pattern is no word to people."""
    message: str = line["msg"]
    return WHAT_FITS.get(line.get("ctx", {}).get("pattern"), message)


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind = _TITLES.get(error.status_code, "refused")
    detail = str(error.detail)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_methods_of(request))
    return problem_response(request, error.status_code, kind, detail, detail, headers=headers)


def _methods_of(request: Request) -> list[str]:
    """All that the path takes; the router knows only those of the first route that matches."""
    routes: list[Route] = request.app.routes
    matching = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted(method for route in matching for method in route.methods or ())
