"""How every route reads its request: JSON strictly, and only JSON."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.routing import APIRoute

from cadenza.domain.errors import InvalidInput
from cadenza.web.api.problems import MEDIA_TYPE, Malformed, Problem
from cadenza.web.api.strict_json import parse


class StrictRequest(Request):
    async def json(self) -> Any:
        try:
            return parse(await self.body())
        except InvalidInput as error:
            raise Malformed(error) from error


class StrictRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()
        known = {each.alias for each in self.dependant.query_params}
        takes_body = self.body_field is not None

        async def strictly(request: Request) -> Response:
            for name in request.query_params:
                if name not in known:
                    fix = f"known here: {', '.join(sorted(known)) or 'none'}"
                    raise InvalidInput(
                        name, request.query_params[name], f"no such parameter; {fix}"
                    )
            if takes_body and not _says_json(request):
                raise HTTPException(415, "Send the body as application/json")
            return await answer(StrictRequest(request.scope, request.receive))

        return strictly


def _says_json(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind in ("application/json", "application/merge-patch+json")


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": _MEANINGS[status], "content": content} for status in statuses}


_MEANINGS = {
    400: "The request cannot be read.",
    401: "No valid key.",
    403: "The key may not do this.",
    404: "There is no such thing for this tenant.",
    409: "That cannot be done now, or it exists already.",
    410: "It is no longer kept.",
    412: "It has changed since it was read.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "A value is not valid.",
    429: "Too many requests.",
    503: "The database does not answer now.",
}
OF_EVERY_ROUTE = documented(*(status for status in _MEANINGS if status != 410))


def router(tag: str, prefix: str = "") -> APIRouter:
    """A resource's routes, with what each of them may answer."""
    return APIRouter(
        prefix=f"/api/v1{prefix}", tags=[tag], route_class=StrictRoute, responses=OF_EVERY_ROUTE
    )


def add_problem_schema(schema: dict[str, Any]) -> None:
    schema["components"]["schemas"]["Problem"] = Problem.model_json_schema(
        ref_template="#/components/schemas/{model}"
    )
