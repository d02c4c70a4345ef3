"""What a graph wants as its input, where it says so without being run."""

import dataclasses
import inspect
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast, get_type_hints, is_typeddict

MAX_SCHEMA = 16_384  # characters; a longer one is of little use to a person


def input_schema_of(graph_id: str, target: Any) -> Mapping[str, Any] | None:
    """Never a reason not to have a graph: what cannot be said is left out."""
    with suppress(Exception):
        is_library = graph_id.startswith("langgraph:")
        schema = _terse(_of_graph(target) if is_library else _of_callable(target))
        if schema and len(json.dumps(schema, allow_nan=False)) <= MAX_SCHEMA:
            return schema
    return None


def _of_graph(target: Any) -> Mapping[str, Any] | None:
    """Of one that is compiled; a factory would have to be called."""
    ask = getattr(target, "get_input_jsonschema", None)
    return None if ask is None or inspect.isclass(target) else ask()


def _of_callable(target: Any) -> Mapping[str, Any] | None:
    """Where its first parameter is a TypedDict, a dataclass or a model of Pydantic."""
    names = list(inspect.signature(target).parameters)
    routine = target if inspect.isroutine(target) else type(target).__call__
    hints: dict[str, Any] = get_type_hints(routine, include_extras=True)
    hint: Any = hints.get(names[0]) if names else None
    if not _has_fields(hint):
        return None
    from pydantic import TypeAdapter  # noqa: PLC0415 — only for those who use it

    if is_typeddict(hint) and sys.version_info < (3, 12):  # Pydantic refuses those of typing
        from typing_extensions import TypedDict  # noqa: PLC0415

        fields = get_type_hints(hint, include_extras=True)
        hint = TypedDict(hint.__name__, fields, total=hint.__total__)  # type: ignore[operator]
    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    return adapter.json_schema()


def _terse(schema: Any) -> Any:
    """Of messages alone the prose would be ten thousand characters."""
    if isinstance(schema, dict):
        items = cast(dict[str, Any], schema).items()
        return {key: _terse(value) for key, value in items if not _is_prose(key, value)}
    return (
        [_terse(value) for value in cast(list[Any], schema)] if isinstance(schema, list) else schema
    )


def _is_prose(key: str, value: Any) -> bool:
    return key in ("description", "title", "examples") and not isinstance(value, dict)


def _has_fields(hint: Any) -> bool:
    is_class = is_typeddict(hint) or dataclasses.is_dataclass(hint)
    return is_class or hasattr(hint, "model_json_schema")
