"""Every operation of the OpenAPI document, and a request that fits it. A route that is added
later is walked by itself; one that asks for something unknown says so."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

from cadenza.web.api.app import create_app

_CHANGING = ("post", "put", "patch", "delete")
_LAST = ("archive", "delete", "rotate")  # what ends a thing comes after what needs it


@cache
def document() -> dict[str, Any]:
    """Without a store: the document needs none."""
    around = SimpleNamespace(new_id=uuid4)
    return create_app(cast("Any", SimpleNamespace(around=around))).openapi()


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    told: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path}"

    @property
    def short_path(self) -> str:
        return self.path.removeprefix("/api/v1")

    @property
    def changes(self) -> bool:
        return self.method in _CHANGING

    @property
    def of_operator(self) -> bool:
        return any("OperatorKey" in each for each in self.told.get("security", []))

    @property
    def streams(self) -> bool:
        answers = self.told["responses"].values()
        return any("text/event-stream" in each.get("content", {}) for each in answers)

    def parameters(self, place: str) -> list[dict[str, Any]]:
        return [each for each in self.told.get("parameters", []) if each["in"] == place]

    @property
    def body_schema(self) -> dict[str, Any] | None:
        content = self.told.get("requestBody", {}).get("content", {})
        return content["application/json"]["schema"] if "application/json" in content else None

    @property
    def body(self) -> Any:
        """One that fits: its example, or made from the schema."""
        schema = self.body_schema
        return None if schema is None else fitting(schema)

    def collections(self) -> dict[str, str]:
        """Each parameter in the path, with what it is one of: `job_id` of `jobs`."""
        return {name: kind for kind, name in re.findall(r"/([a-z-]+)/\{([a-z_]+)\}", self.path)}


def operations() -> list[Operation]:
    """All that need a key, those that end something last."""
    return sorted((each for each in _every() if "security" in each.told), key=_turn)


def open_paths() -> set[str]:
    """Those that need no key."""
    return {each.path for each in _every() if "security" not in each.told}


def _every() -> list[Operation]:
    return [
        Operation(method, path, told)
        for path, methods in document()["paths"].items()
        for method, told in methods.items()
    ]


def _turn(operation: Operation) -> tuple[int, int]:
    ends = operation.method == "delete" or operation.path.endswith(_LAST)
    depth = -operation.path.count("/") if ends else 0
    return (2 if ends else int(operation.changes), depth)


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """A reference followed, and the first branch of a choice that is not null taken."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return resolved({**document()["components"]["schemas"][name], **beside})
    if "anyOf" in schema:
        branch = next(each for each in schema["anyOf"] if each.get("type") != "null")
        beside = {key: value for key, value in schema.items() if key not in ("anyOf", "title")}
        return resolved({**branch, **beside})
    return schema


def fitting(schema: dict[str, Any], name: str = "it") -> Any:
    """A value that the schema allows."""
    schema = resolved(schema)
    for given in ("const", "default"):
        if schema.get(given) is not None and schema[given] != "":
            return schema[given]
    for given in ("examples", "enum"):
        if schema.get(given):
            return schema[given][0]
    kind = schema.get("type", "object")
    if kind == "object":
        properties = schema.get("properties", {})
        wanted = schema.get("required") or list(properties)
        return {each: fitting(properties[each], each) for each in wanted}
    if kind == "array":
        return [fitting(schema["items"], name)]
    if kind == "string":
        return _text(schema, name)
    return {"integer": schema.get("minimum", 1), "number": 1.5, "boolean": True}[kind]


def _text(schema: dict[str, Any], name: str) -> str:
    form = schema.get("format")
    if form == "date-time":
        return "2099-01-01T00:00:00Z"
    return str(uuid4()) if form == "uuid" else f"{name} {uuid4().hex[:8]}"


def fields(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field of a body, also inside lists and objects, by its path."""
    schema = resolved(schema)
    for name, inner in schema.get("properties", {}).items():
        place = f"{path}.{name}" if path else name
        yield place, inner
        plain = resolved(inner)
        if plain.get("type") == "array":
            item = resolved(plain["items"])
            if "properties" in item:
                yield from fields(item, f"{place}[0]")
        elif "properties" in plain:
            yield from fields(plain, place)
