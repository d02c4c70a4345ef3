"""What every tool does with the client: pages, whole ids, and fields that were given."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Annotated, Any, ParamSpec, TypeVar
from uuid import UUID

from pydantic import BaseModel, Field

from cadenza.client.async_client import AsyncClient
from cadenza.client.core import Operation
from cadenza.client.errors import NoSuchName
from cadenza.client.generated import operations
from cadenza.domain.errors import InvalidInput
from cadenza.mcp.answers import Fields, Page
from cadenza.mcp.bounded import fitting

MOST = 100
AT_ONCE = 3
T = TypeVar("T", bound=BaseModel)
P = ParamSpec("P")
R = TypeVar("R")
_ONE = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mcp-yaml")
Name = Annotated[str, Field(min_length=1, max_length=500)]
Job = Annotated[Name, Field(description="A job, by name or id.", examples=["shop"])]
Endpoint = Annotated[
    Name, Field(description="An endpoint as job/endpoint, or by id.", examples=["shop/queue"])
]
Schedule = Annotated[Name, Field(description="A schedule of a graph, by name or id.")]
Instant = Annotated[
    str,
    Field(max_length=50, description="RFC 3339, with a time zone.", examples=["2026-11-18T03:47Z"]),
]
Duration = Annotated[
    str, Field(max_length=30, description="Like 90s, 5m, 2h, 1d.", examples=["5m"])
]
Reason = Annotated[
    str, Field(max_length=500, description="The reason; shown to people in the history.")
]
Limit = Annotated[int, Field(ge=1, le=MOST, description="Maximum number of items.")]
Cursor = Annotated[str, Field(max_length=1000, description="`next_cursor` of the previous page.")]
Confirm = Annotated[
    bool, Field(description="true only after the person has agreed; otherwise nothing is changed.")
]


async def off_the_loop(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """YAML takes long; one after the other, for threads share the interpreter with the loop."""
    return await asyncio.get_running_loop().run_in_executor(_ONE, partial(work, *args, **kwargs))


def without_none(**fields: Any) -> Fields:
    return {name: value for name, value in fields.items() if value is not None}


async def page(
    api: AsyncClient, line: type[T], operation: Operation, *values: str, **fields: Any
) -> Page[T]:
    make: Any = line
    asked = without_none(**fields)
    answer = await api.call(operation, *values, **asked)
    items = [make.of(item) for item in answer["items"]]
    fit = fitting([item.model_dump(exclude_none=True) for item in items])
    if fit < len(items):  # asked again, for the cursor must lead to what does not fit
        answer = await api.call(operation, *values, **{**asked, "limit": fit})
        items = [make.of(item) for item in answer["items"]]
    more = answer.get("next")
    note = "There are more: narrow it down, or ask with next_cursor." if more else None
    return Page[line](items=items, next_cursor=more, note=note)


async def together(*calls: Coroutine[Any, Any, Any]) -> list[Any]:
    """A few at once, for others ask the same server; in the order given."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(call: Coroutine[Any, Any, Any]) -> Any:
        async with places:
            return await call

    answers = await asyncio.gather(*map(one, calls), return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return answers


async def whole_id(api: AsyncClient, kind: str, field: str, text: str) -> str:
    """Of an id that may be the beginning of one."""
    try:
        return str(UUID(text))
    except ValueError:
        matches = await api.call(operations.LIST_IDS, kind=kind, begins=text)
    if len(matches["items"]) == 1:
        return matches["items"][0]
    if matches["items"]:
        raise InvalidInput(field, text, "several begin so: give more of it")
    raise NoSuchName(f"there is no {kind} whose id begins with {text!r}")


def exact_id(field: str, text: str | None) -> str:
    try:
        return str(UUID(text))
    except (TypeError, ValueError) as error:
        raise InvalidInput(field, text, "give its whole id") from error


def one_of(**options: Any) -> str:
    """The name of the one that was given."""
    names = [name for name, value in options.items() if value is not None]
    if len(names) != 1:
        value = " and ".join(names) or "nothing"
        raise InvalidInput(" or ".join(options), value, "give exactly one of them")
    return names[0]
