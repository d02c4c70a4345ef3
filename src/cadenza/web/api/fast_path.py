"""The short way of a GET through the framework, for reads are most of what is asked.

FastAPI finds out with every request what a route needs, in ways that no read of ours has (bodies,
files, generators, overrides). Here that is known when the route is declared: who asks, then the
parameters that were given, then the answer as JSON. A test holds both ways to the same answers.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

Read = Callable[[Request], Awaitable[Response]]
Values = dict[str, Any]


def reading(route: APIRoute) -> Read | None:
    """None where a route is no plain read."""
    if route.methods != {"GET"} or route.response_model is None or _needs_more(route.dependant):
        return None
    solve, parameters = _solver(route.dependant), _parameters(route.dependant)
    answer_with: Callable[..., Awaitable[Any]] = route.endpoint
    to_json = partial(
        TypeAdapter[Any](route.response_model).dump_json,
        by_alias=route.response_model_by_alias,
        exclude_none=route.response_model_exclude_none,
        exclude_unset=route.response_model_exclude_unset,
    )

    async def read(request: Request) -> Response:
        response = Response(media_type="application/json")
        values = await solve(request, response)
        found = await answer_with(**values, **parameters(request))
        if isinstance(found, Response):
            return found
        response.body = to_json(found)
        response.headers["content-length"] = str(len(response.body))
        return response

    return read


def is_list(parameter: Any) -> bool:
    """Whether it may be given several times."""
    return "list[" in str(parameter.field_info.annotation)


def _needs_more(needs: Dependant) -> bool:
    if needs.body_params or needs.header_params or needs.cookie_params:
        return True
    return any(each.field_info.is_required() for each in needs.query_params)


def _parameters(needs: Dependant) -> Callable[[Request], Values]:
    """Of the path and the query; what is left out of a query is not looked at."""
    in_path = needs.path_params
    in_query = {each.alias: (each, is_list(each)) for each in needs.query_params}
    defaults = {each.name: each.default for each in needs.query_params}

    def read(request: Request) -> Values:
        values, errors = dict(defaults), list[Any]()

        def take(parameter: Any, place: str, given: str | Sequence[str]) -> None:
            value, wrong = parameter.validate(given, {}, loc=(place, parameter.alias))
            values[parameter.name] = value
            errors.extend(wrong)

        for each in in_path:
            take(each, "path", request.path_params[each.alias])
        query = request.query_params
        for alias in query:
            each, several = in_query[alias]
            take(each, "query", query.getlist(alias) if several else query[alias])
        if errors:
            raise RequestValidationError(errors)
        return values

    return read


def _solver(needs: Dependant) -> Callable[[Request, Response], Awaitable[Values]]:
    """Whatever a function depends on, by the names of its parameters."""
    parts: list[tuple[Any, Any, Any]] = [
        (each.name, each.call, _solver(each)) for each in needs.dependencies
    ]
    own_request = needs.request_param_name or needs.http_connection_param_name
    own_response = needs.response_param_name

    async def solve(request: Request, response: Response) -> Values:
        values: Values = {}
        for name, call, solve_part in parts:
            values[name] = await call(**await solve_part(request, response))
        if own_request:
            values[own_request] = request
        if own_response:
            values[own_response] = response
        return values

    return solve
