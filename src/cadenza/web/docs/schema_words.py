"""A JSON schema in the words of a table: what a value may be, and its limits."""

import json
from collections.abc import Callable, Mapping
from typing import Any

Schema = Mapping[str, Any]
Linked = Callable[[str], str]  # from the name of a schema to what stands in a cell

_LEAST = (("minimum", "at least {}"), ("minLength", "at least {} characters"))
_MOST = (
    ("maximum", "at most {}"),
    ("maxLength", "at most {} characters"),
    ("maxItems", "at most {} of them"),
    ("maxProperties", "at most {} of them"),
)


def type_words(schema: Schema, linked: Linked) -> str:
    """Like `text or whole number`, with the names of other schemas as links."""
    if "$ref" in schema:
        return linked(str(schema["$ref"]).rpartition("/")[2])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    either = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if either:
        words = [type_words(schema, linked) for schema in either]
        return " or ".join(dict.fromkeys(word for word in words if word))
    return _plain(schema, linked)


def _plain(schema: Schema, linked: Linked) -> str:
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {type_words(schema.get('items', {}), linked)}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"names with {type_words(schema['additionalProperties'], linked)}"
    if kind == "string" and "format" in schema:
        kind = str(schema["format"])
        return {"date-time": "instant", "uuid": "id"}.get(kind, kind)
    words = {"string": "text", "integer": "whole number", "boolean": "yes or no", "null": "null"}
    return words.get(str(kind), str(kind))


def about(schema: Schema) -> str:
    """Its description, default, limits and an example, in one cell."""
    parts = [str(schema.get("description", "")).strip(), *_inner(schema), *_limits(schema)]
    if schema.get("default") not in (None, "", [], {}):
        parts.append(f"default `{json.dumps(schema['default'])}`")
    if schema.get("examples"):
        parts.append(f"e.g. `{json.dumps(schema['examples'][0], ensure_ascii=False)}`")
    return cell("; ".join(part.rstrip(".") for part in dict.fromkeys(parts) if part))


def _inner(schema: Schema) -> list[str]:
    either: list[Schema] = list(schema.get("anyOf", ()))
    return [
        words
        for schema in either
        for words in [str(schema.get("description", "")), *_limits(schema), *_inner(schema)]
    ]


def _limits(schema: Schema) -> list[str]:
    if schema.get("type") == "integer" and schema.get("maximum") == 31_622_400_000:
        return []  # that of every duration
    limits = [(key, words) for key, words in (*_LEAST, *_MOST) if key in schema]
    return [
        words.format(f"{schema[key]:,}") for key, words in limits if (key, schema[key]) not in _DULL
    ]


_DULL = (("minLength", 1), ("minLength", 2), ("minLength", 3), ("minimum", 0), ("minimum", 1))


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
