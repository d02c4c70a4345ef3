"""How every route reads its request: JSON strictly, and only JSON."""

from collections.abc import Callable, Coroutine, Mapping
from functools import cached_property
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from fastapi.security.base import SecurityBase
from starlette.routing import Match
from starlette.types import ASGIApp, Receive, Scope, Send

from cadenza.domain.errors import InvalidInput
from cadenza.web.api.fast_path import FastRead, fast_read, takes_several
from cadenza.web.api.known_keys import ADMIN_SCHEME, TOKEN_HEADER, TOKEN_SCHEME, check_key
from cadenza.web.api.parsing.strict_json import parse_body
from cadenza.web.api.problems import MEDIA_TYPE, SEND_A_KEY, Problem, Unauthorised


class StrictRequest(Request):
    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            self._json = await parse_body(await self.body())
        return self._json


class StrictRoute(APIRoute):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._begins = self.path_format.partition("{")[0]
        if self.read is not None:
            self.app = _plain(self.get_route_handler())

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        # A request is held against dozens of routes: most are ruled out without a pattern.
        if not scope["path"].startswith(self._begins) and not scope.get("root_path"):
            return Match.NONE, {}
        return super().matches(scope)

    @cached_property
    def read(self) -> FastRead | None:
        """The fast path, where this is a plain read."""
        return fast_read(self)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = self.read or super().get_route_handler()
        known = {field.alias: takes_several(field) for field in self.dependant.query_params}
        takes_body = self.body_field is not None
        takes_token = _needs_key(self.dependant, TOKEN_SCHEME)
        needs_key = _needs_key(self.dependant) and not takes_token
        is_admins = _needs_key(self.dependant, ADMIN_SCHEME)

        async def strictly(request: Request) -> Response:
            if needs_key and "authorization" not in request.headers:
                raise Unauthorised(SEND_A_KEY)
            if takes_token and TOKEN_HEADER not in request.headers:
                raise Unauthorised(f"send the token of the run as {TOKEN_HEADER}")
            _check_query(request, known)
            if not takes_body:
                return await answer(request)
            if not _says_json(request):
                raise HTTPException(415, "Send the body as application/json")
            if request.headers.get("content-encoding", "identity").lower() != "identity":
                raise HTTPException(415, "Send the body as it is, without a Content-Encoding")
            if needs_key:
                await check_key(request, is_admins=is_admins)  # nothing is read for strangers
            strict = StrictRequest(request.scope, request.receive)
            if await strict.body():
                await strict.json()  # the framework would hide what is wrong with it
            return await answer(strict)

        return strictly


def _plain(handle: Callable[[Request], Coroutine[Any, Any, Response]]) -> ASGIApp:
    """Without FastAPI's exit stacks: a read opens nothing, and the app handles its errors."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        answer = await handle(Request(scope, receive, send))
        await answer(scope, receive, send)

    return app


def _needs_key(dependant: Dependant, scheme: str | None = None) -> bool:
    """Any key, or that of a scheme."""
    call = dependant.call
    if isinstance(call, SecurityBase) and scheme in (None, call.scheme_name):
        return True
    return any(_needs_key(needed, scheme) for needed in dependant.dependencies)


def _check_query(request: Request, known: Mapping[str, bool]) -> None:
    """Against the names that are known here, each with whether it may come several times."""
    names = [name for name, _ in request.query_params.multi_items()]
    for name in names:
        if name not in known:
            fix = f"known here: {', '.join(sorted(known)) or 'none'}"
            raise InvalidInput(name, request.query_params[name], f"no such parameter; {fix}")
        if names.count(name) > 1 and not known[name]:
            raise InvalidInput(name, "given twice", "give it once")


def _says_json(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind in ("application/json", "application/merge-patch+json")


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": _MEANINGS[status], "content": content} for status in statuses}


_MEANINGS = {
    400: "The request cannot be read.",
    401: "No valid key.",
    402: "The account has no credits left.",
    403: "The key may not do this.",
    404: "There is no such thing for this tenant.",
    405: "No such method here; `Allow` names those there are.",
    409: "That cannot be done now, or it exists already.",
    410: "It is no longer kept.",
    412: "It has changed since it was read.",
    413: "The body is too large.",
    414: "The address is too long.",
    415: "The body is not JSON.",
    422: "A value is not valid.",
    429: "Too many requests.",
    431: "The headers are too large.",
    500: "Something went wrong on our side; it has been logged under the request's id.",
    503: "The database does not answer now.",
}
OF_EVERY_ROUTE = documented(*(status for status in _MEANINGS if status not in (402, 410)))


def router(tag: str, prefix: str = "") -> APIRouter:
    """A resource's routes, with what each of them may answer."""
    return APIRouter(
        prefix=f"/api/v1{prefix}", tags=[tag], route_class=StrictRoute, responses=OF_EVERY_ROUTE
    )


def with_problem_schema(schema: dict[str, Any]) -> dict[str, Any]:
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schema["components"]["schemas"].update({**problem.pop("$defs"), "Problem": problem})
    return schema
