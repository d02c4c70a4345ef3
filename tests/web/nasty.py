"""Values that no field may take, made from what the document says of it. Raw JSON each, because
some of them are nothing that a JSON library would write."""

import json
from collections.abc import Iterator
from typing import Any

from tests.web.walking import fitting, resolved

HERE = "@@ here @@"
# Wrong in every field, whatever its type.
ANYWHERE = {
    "NaN": "NaN",
    "Infinity": "Infinity",
    "minus infinity": "-Infinity",
    "2^63": str(2**63),
    "minus 2^63 - 1": str(-(2**63) - 1),
    "10^400": "1" + "0" * 400,
    "1e400": "1e400",
    "half a pair": '"a\\ud800b"',
    "NUL": '"a\\u0000b"',
    "nested": "[" * 60 + "]" * 60,
}
_OF_TYPE = {
    "string": '"some text that is no other thing"',
    "integer": "7",
    "number": "1.5",
    "boolean": "true",
    "array": "[[]]",
    "object": '{"x": {"y": []}}',
}
_NO_NAMES = {
    "control": '"a\\u0007b"',
    "newline": '"a\\nb"',
    "zero width": '"a\\u200bb"',
    "turned round": '"a\\u202eb"',
    "an invisible letter": '"a\u3164b"',
    "slash": '"a/b"',
    "space": '" a"',
}
_NO_DURATIONS = ("0", "-1", '""', '"5"', '"-5m"', '"5 parsecs"', '"1m1h"', '"5m5m"', '"٥m"')
_NO_INSTANTS = (
    '"yesterday"',
    '"2026-01-01T00:00:00"',
    '"2026-13-01T00:00:00Z"',
    '"9999-12-31T23:59:59Z"',
    '"0001-01-01T00:00:00+14:00"',
    '""',
)


def wrong_values(name: str, schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What it is, and how it is written."""
    yield from ANYWHERE.items()
    allowed = set(types_of(schema))
    for kind, written in _OF_TYPE.items():
        fits = kind in allowed or (kind == "integer" and "number" in allowed)
        if not fits and allowed:
            yield f"a {kind}", written
    if "null" not in allowed and not _takes_null(schema):
        yield "null", "null"
    for branch in branches_of(schema):
        yield from _out_of_bounds(branch)
    if name == "name":
        yield from _NO_NAMES.items()
    if allowed - {"null"} == {"integer", "string"}:
        yield from ((f"the duration {text}", text) for text in _NO_DURATIONS)


def branches_of(schema: dict[str, Any]) -> list[dict[str, Any]]:
    if "$ref" in schema:
        return branches_of(resolved(schema))
    if "anyOf" in schema:
        return [inner for branch in schema["anyOf"] for inner in branches_of(branch)]
    return [schema]


def types_of(schema: dict[str, Any]) -> list[str]:
    kinds = [branch.get("type") or _type(branch) for branch in branches_of(schema)]
    return [kind for kind in kinds if kind]


def _type(schema: dict[str, Any]) -> str | None:
    return "string" if "enum" in schema or "const" in schema else None


def _takes_null(schema: dict[str, Any]) -> bool:
    return not types_of(schema)


def _out_of_bounds(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    kind = schema.get("type")
    if kind == "string":
        yield from _bad_text(schema)
    if kind == "integer":
        if "minimum" in schema:
            yield "too small", str(int(schema["minimum"]) - 1)
        if "maximum" in schema:
            yield "too large", str(int(schema["maximum"]) + 1)
        yield "a fraction", "2.5"
    if kind == "array" and schema.get("maxItems", 10_000) < 1000:
        item = fitting(schema["items"])
        yield "too many", json.dumps([item] * (schema["maxItems"] + 1))
        if schema.get("minItems"):
            yield "none", "[]"
    if kind == "object" and "maxProperties" in schema:
        yield "too many", json.dumps({f"x{n}": "y" for n in range(schema["maxProperties"] + 1)})
        yield "numbers in it", '{"x": 5}'
        yield "a list in it", '{"x": ["y"]}'


def _bad_text(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "maxLength" in schema:
        yield "too long", json.dumps("x" * (schema["maxLength"] + 1))
        yield "far too long", json.dumps("é" * 100_000)
    if schema.get("minLength"):
        yield "empty", '""'
    if "enum" in schema or schema.get("format") == "uuid":
        yield "nonsense", '"nonsense"'
        yield "empty", '""'
    if schema.get("format") == "date-time":
        yield from ((f"the instant {text}", text) for text in _NO_INSTANTS)


def put_into(body: Any, path: str, value: str) -> bytes:
    """The body with a raw value in one of its fields, `a.b[0].c`."""
    whole = json.loads(json.dumps(body))
    *way, last = path.replace("[0]", ".0").split(".")
    inner = whole
    for step in way:
        inner = inner[int(step)] if step.isdigit() else inner.setdefault(step, {})
    inner[last] = HERE
    return json.dumps(whole).replace(json.dumps(HERE), value).encode("utf-8", "surrogatepass")
