"""Every operation of the OpenAPI document, and a request that fits it. A route that is added
later is walked by itself; one that asks for something unknown says so."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import uuid4

from cadenza.web.api.app import storeless_app

_CHANGING = ("post", "put", "patch", "delete")
_LAST = ("archive", "delete", "rotate")  # what ends a thing comes after what needs it


@cache
def document() -> dict[str, Any]:
    """Without a store: the document needs none."""
    return storeless_app().openapi()


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    description: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path}"

    @property
    def short_path(self) -> str:
        return self.path.removeprefix("/api/v1")

    @property
    def changes(self) -> bool:
        return self.method in _CHANGING

    @property
    def of_admin(self) -> bool:
        return any("OperatorKey" in scheme for scheme in self.description.get("security", []))

    @property
    def streams(self) -> bool:
        answers = self.description["responses"].values()
        return any("text/event-stream" in answer.get("content", {}) for answer in answers)

    def parameters(self, location: str) -> list[dict[str, Any]]:
        return [
            parameter
            for parameter in self.description.get("parameters", [])
            if parameter["in"] == location
        ]

    @property
    def body_schema(self) -> dict[str, Any] | None:
        content = self.description.get("requestBody", {}).get("content", {})
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
    return sorted(
        (operation for operation in _every() if "security" in operation.description), key=_turn
    )


def open_paths() -> set[str]:
    """Those that need no key."""
    return {operation.path for operation in _every() if "security" not in operation.description}


def _every() -> list[Operation]:
    return [
        Operation(method, path, description)
        for path, methods in document()["paths"].items()
        for method, description in methods.items()
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
        branch = next(option for option in schema["anyOf"] if option.get("type") != "null")
        beside = {key: value for key, value in schema.items() if key not in ("anyOf", "title")}
        return resolved({**branch, **beside})
    return schema


def fitting(schema: dict[str, Any], name: str = "it") -> Any:
    """A value that the schema allows."""
    schema = resolved(schema)
    for keyword in ("const", "default"):
        if schema.get(keyword) is not None and schema[keyword] != "":
            return schema[keyword]
    for keyword in ("examples", "enum"):
        if schema.get(keyword):
            return schema[keyword][0]
    kind = schema.get("type", "object")
    if kind == "object":
        properties = schema.get("properties", {})
        wanted = schema.get("required") or list(properties)
        return {name: fitting(properties[name], name) for name in wanted}
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
        location = f"{path}.{name}" if path else name
        yield location, inner
        plain = resolved(inner)
        if plain.get("type") == "array":
            item = resolved(plain["items"])
            if "properties" in item:
                yield from fields(item, f"{location}[0]")
        elif "properties" in plain:
            yield from fields(plain, location)
