"""How a function over the client becomes a tool: strict arguments, a deadline, short answers, and
errors that say field, value and fix."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from cadenza.client.async_client import AsyncClient
from cadenza.client.errors import ClientError
from cadenza.domain.errors import CadenzaError
from cadenza.manifest.reading import errors_of
from cadenza.mcp.bounded import as_json, bounded
from cadenza.mcp.words import words_of

SECONDS = 60.0
MOST_PROBLEMS = 20
# Whoever calls a tool: the HTTP request that it came with, or None over stdio.
Clients = Callable[[Any], AbstractAsyncContextManager[AsyncClient]]
Function = Callable[..., Awaitable[BaseModel]]


@dataclass(frozen=True, slots=True)
class Spec:
    function: Function
    title: str
    is_read: bool
    is_destructive: bool
    is_idempotent: bool

    @property
    def name(self) -> str:
        return self.function.__name__


def reads(title: str) -> Callable[[Function], Spec]:
    return lambda function: Spec(function, title, True, False, True)


def writes(
    title: str, *, is_destructive: bool = False, is_idempotent: bool = False
) -> Callable[[Function], Spec]:
    return lambda function: Spec(function, title, False, is_destructive, is_idempotent)


def clients_of(ctx: Context[Any, Any]) -> AbstractAsyncContextManager[AsyncClient]:
    """What the server was given for its lifetime, asked for whoever calls."""
    clients: Clients = ctx.request_context.lifespan_context
    return clients(ctx.request_context.request)


@cache
def tool_of(spec: Spec) -> Tool:
    """The first parameter of the function is the client; a model sees the others."""
    signature = inspect.signature(spec.function, eval_str=True)
    own = list(signature.parameters.values())[1:]

    async def call(ctx: Context[Any, Any], **arguments: Any) -> BaseModel:
        async with clients_of(ctx) as api:
            return await spec.function(api, **arguments)

    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=Context)
    keywords = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    call.__signature__ = signature.replace(parameters=[context, *keywords])  # type: ignore[attr-defined]
    call.__doc__ = inspect.getdoc(spec.function)
    tool = StrictTool.from_function(
        call,
        name=spec.name,
        title=spec.title,
        description=call.__doc__,
        context_kwarg="ctx",
        annotations=ToolAnnotations(
            title=spec.title,
            read_only_hint=spec.is_read,
            destructive_hint=spec.is_destructive,
            idempotent_hint=spec.is_idempotent,
            open_world_hint=False,
        ),
    )
    return _strict(tool)


def _strict(tool: Tool) -> Tool:
    """An argument that it does not know is an error: a model would take it for done."""
    metadata = tool.fn_metadata
    strict = create_model(metadata.arg_model.__name__, __base__=metadata.arg_model)
    strict.model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")
    strict.model_rebuild(force=True)
    metadata.arg_model = strict
    tool.parameters = _untitled(strict.model_json_schema(by_alias=True))
    metadata.output_schema = _untitled(metadata.output_schema)
    return tool


def _untitled(schema: Any) -> Any:
    """Without the titles that pydantic makes of names: a model pays for every word."""
    if isinstance(schema, list):
        return [_untitled(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    fields = cast("dict[str, Any]", schema)
    return {
        name: _untitled(value)
        for name, value in fields.items()
        if not (name == "title" and isinstance(value, str))
    }


class StrictTool(Tool):
    async def run(
        self, arguments: dict[str, Any], context: Any, convert_result: bool = False
    ) -> Any:
        try:
            async with asyncio.timeout(SECONDS):
                answer = await super().run(arguments, context, convert_result=False)
        except TimeoutError:
            raise ToolError(f"{self.name} took longer than {SECONDS:.0f} s: ask for less") from None
        except (ToolError, UnexpectedToolError) as error:
            raise _explained(self.name, error) from error.__cause__
        return _result(answer) if convert_result else answer


def _explained(name: str, error: ToolError) -> ToolError:
    cause = error.__cause__
    if isinstance(cause, ValidationError):
        problems = [str(problem) for problem in errors_of(cause)[:MOST_PROBLEMS]]
        return ToolError("\n".join([f"{name} was not called:", *problems]))
    if isinstance(cause, UnicodeEncodeError):
        return ToolError(f"{name}: an argument holds half a character; send whole ones")
    if isinstance(cause, TimeoutError):
        return ToolError(f"{name} took longer than {SECONDS:.0f} s: ask for less")
    if isinstance(cause, ClientError | CadenzaError):
        return ToolError(words_of(cause))
    return error


def _result(answer: BaseModel) -> CallToolResult:
    content, was_cut = bounded(answer.model_dump(mode="json", by_alias=True, exclude_none=True))
    if was_cut:
        content["note"] = " ".join(filter(None, (content.get("note"), "Long parts are cut.")))
    text = TextContent(type="text", text=as_json(content))
    return CallToolResult(content=[text], structured_content=content)
