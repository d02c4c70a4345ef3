"""The fast path of a GET through the framework, for most requests are reads.

FastAPI finds out with every request what a route needs, in ways that no read of ours has (bodies,
files, generators, overrides). Here that is found out once, when the route is declared: who asks,
then the parameters that were sent, then the answer as JSON. A test asks both paths the same and
wants the same answers.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, get_args, get_origin

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

FastRead = Callable[[Request], Awaitable[Response]]
Values = dict[str, Any]


def fast_read(route: APIRoute) -> FastRead | None:
    """None where a route is no plain read."""
    if route.methods != {"GET"} or route.response_model is None or _needs_more(route.dependant):
        return None
    solve, parameters = _solver(route.dependant), _parameters(route.dependant)
    endpoint: Callable[..., Awaitable[Any]] = route.endpoint
    to_json = partial(
        TypeAdapter[Any](route.response_model).dump_json,
        by_alias=route.response_model_by_alias,
        exclude_none=route.response_model_exclude_none,
        exclude_unset=route.response_model_exclude_unset,
    )

    async def read(request: Request) -> Response:
        response = Response(media_type="application/json")
        values = await solve(request, response)
        result = await endpoint(**values, **parameters(request))
        if isinstance(result, Response):
            return result
        response.body = to_json(result)
        response.headers["content-length"] = str(len(response.body))
        return response

    return read


def takes_several(parameter: Any) -> bool:
    """Whether it may come several times: it is declared as a list, or as a list or nothing."""
    annotation = parameter.field_info.annotation
    return any(get_origin(choice) is list for choice in (annotation, *get_args(annotation)))


def _needs_more(needs: Dependant) -> bool:
    if needs.body_params or needs.header_params or needs.cookie_params:
        return True
    return any(field.field_info.is_required() for field in needs.query_params)


def _parameters(needs: Dependant) -> Callable[[Request], Values]:
    """Of the path and the query; a parameter that was not sent has its default unchecked."""
    in_path = needs.path_params
    in_query = {field.alias: (field, takes_several(field)) for field in needs.query_params}
    defaults = {field.name: field.default for field in needs.query_params}

    def read(request: Request) -> Values:
        values, errors = dict(defaults), list[Any]()

        def take(field: Any, origin: str, text: str | list[str]) -> None:
            values[field.name], faults = field.validate(text, {}, loc=(origin, field.alias))
            errors.extend(faults)

        for field in in_path:
            take(field, "path", request.path_params[field.alias])
        query = request.query_params
        for alias in query:
            field, several = in_query[alias]
            take(field, "query", query.getlist(alias) if several else query[alias])
        if errors:
            raise RequestValidationError(errors)
        return values

    return read


def _solver(needs: Dependant) -> Callable[[Request, Response], Awaitable[Values]]:
    """Whatever a function depends on, by the names of its parameters."""
    needed: list[tuple[Any, Any, Any]] = [
        (dependency.name, dependency.call, _solver(dependency)) for dependency in needs.dependencies
    ]
    own_request = needs.request_param_name or needs.http_connection_param_name
    own_response = needs.response_param_name

    async def solve(request: Request, response: Response) -> Values:
        values: Values = {}
        for name, call, solve_inner in needed:
            values[name] = await call(**await solve_inner(request, response))
        if own_request:
            values[own_request] = request
        if own_response:
            values[own_response] = response
        return values

    return solve
