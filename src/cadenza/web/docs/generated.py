"""The pages that are written by the code: every route and every schema of the API, and the fields
of `cadenza.yaml`. The build of the site takes them from here, and so does `/docs` without one."""

import re
from collections.abc import Mapping
from typing import Any

from cadenza.manifest.models import manifest_schema
from cadenza.web.docs.schema_words import Linked, Schema, about, cell, table, type_words

PREFIX = "/api/v1"
ROUTES, SCHEMAS, FILE_FORMAT = (
    f"reference/{name}.md" for name in ("routes", "schemas", "file-format")
)
_FILE_SECTIONS = {
    "JobDocument": "A job",
    "EndpointDocument": "An endpoint",
    "RuleDocument": "A rule",
    "ThenDocument": "What a rule does",
    "PlannerDocument": "What planners may do",
    "ScheduleDocument": "A schedule of a graph",
    "LimitsDocument": "Limits of a graph",
    "Concurrency": "Runs of a graph that overlap",
}


def generated_pages(openapi: Mapping[str, Any]) -> dict[str, str]:
    """Markdown by its path under `docs/`."""
    return {
        ROUTES: routes_page(openapi),
        SCHEMAS: schemas_page(openapi),
        FILE_FORMAT: file_format_page(manifest_schema()),
    }


# --- Routes ---------------------------------------------------------------------------------


def routes_page(openapi: Mapping[str, Any]) -> str:
    by_tag: dict[str, list[str]] = {}
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            tag = operation.get("tags", ["Other"])[0]
            by_tag.setdefault(tag, []).append(_operation(method, path, operation))
    sections = [f"## {tag}\n\n" + "\n".join(by_tag[tag]) for tag in sorted(by_tag)]
    return (
        "# Every route\n\nWritten from the OpenAPI document of this version, which programs read "
        f"at `GET {PREFIX}/openapi.json`. Addresses are under `{PREFIX}` but for probes. "
        "What holds for all of them (keys, errors, pages, limits) is in [The API](api.md).\n\n"
        + "\n".join(sections)
    )


def _operation(method: str, path: str, operation: Schema) -> str:
    short = path.removeprefix(PREFIX)
    lines = [f"### {method.upper()} {short}\n", f"{_first_sentence(operation)}\n"]
    parameters = operation.get("parameters", ())
    if parameters:
        rows = [_parameter(parameter) for parameter in parameters]
        lines.append(table(("parameter", "where", "what", "about"), rows))
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None:
        lines.append(f"Takes {type_words(body['schema'], _to_schema)}.\n")
    lines.append(f"{_answers(operation)}\n")
    return "\n".join(lines)


def _first_sentence(operation: Schema) -> str:
    return str(operation.get("description") or f"{operation.get('summary', '')}.")


def _parameter(parameter: Schema) -> tuple[str, ...]:
    name = f"`{parameter['name']}`" + (", needed" if parameter.get("required") else "")
    schema = {"description": parameter.get("description", ""), **parameter["schema"]}
    kind = type_words(schema, _to_schema).replace(" or null", "")
    return name, parameter["in"], cell(kind), about(schema)


def _answers(operation: Schema) -> str:
    key = {"ApiKey": "a key of the tenant", "OperatorKey": "the installation admin's key"}
    names: list[str] = [name for need in operation.get("security", ()) for name in need]
    needs = f"Needs {' or '.join(key.get(name, name) for name in names)}. " if names else ""
    good = {code: response for code, response in operation["responses"].items() if code < "400"}
    words = [f"{code}{_answer_kind(response)}" for code, response in good.items()]
    return f"{needs}Answers {', '.join(words)}."


def _answer_kind(response: Schema) -> str:
    schemas = [media.get("schema") for media in response.get("content", {}).values()]
    words = [type_words(schema, _to_schema) for schema in schemas if schema]
    return f" with {' or '.join(words)}" if words else ""


def _to_schema(name: str) -> str:
    return f"[{_readable(name)}](schemas.md#{_readable(name).lower()})"


def _readable(name: str) -> str:
    """Like `PageOfJobResponse` for a page of them: a heading with a plain anchor."""
    page = re.fullmatch(r"(\w*Page)_(\w+)_", name)
    return f"{page[1]}Of{page[2]}" if page else name


# --- Schemas --------------------------------------------------------------------------------


def schemas_page(openapi: Mapping[str, Any]) -> str:
    schemas: Mapping[str, Schema] = openapi["components"]["schemas"]
    sections = [
        _section(_readable(name), schema, _to_neighbour) for name, schema in sorted(schemas.items())
    ]
    return "# Every schema\n\nWhat [routes](routes.md) take and answer.\n\n" + "\n".join(sections)


def _to_neighbour(name: str) -> str:
    return f"[{_readable(name)}](#{_readable(name).lower()})"


# --- The file -------------------------------------------------------------------------------


def file_format_page(schema: Mapping[str, Any]) -> str:
    def linked(name: str) -> str:
        heading = _FILE_SECTIONS.get(name, name)
        return f"[{heading.lower()}](#{heading.lower().replace(' ', '-')})"

    definitions: Mapping[str, Schema] = schema["$defs"]
    order = [*_FILE_SECTIONS, *(name for name in definitions if name not in _FILE_SECTIONS)]
    sections = [
        _section(_FILE_SECTIONS.get(name, name), definitions[name], linked)
        for name in order
        if name in definitions
    ]
    whole = _section("The file", schema, linked)
    return (
        "# The file format\n\nThe fields of `cadenza.yaml`, written from its JSON schema "
        "(`cadenza schema`; [the same as a file](cadenza.schema.json), for an editor). A duration "
        'is written `"5m"`, `"1h30m"`, `"90s"`, `"250ms"` or as a whole number of milliseconds, '
        "366 days at most; every field with a duration has a twin that ends in `_ms`. How files "
        "are used is in [Schedules as code](../how-to/schedules-as-code.md), what rules mean in "
        "[The rule language](rule-language.md).\n\n" + "\n".join([whole, *sections])
    )


def _section(heading: str, schema: Schema, linked: Linked) -> str:
    lines = [f"## {heading}\n"]
    if schema.get("description"):
        lines.append(f"{schema['description']}\n")
    fields = _fields(schema)
    if fields:
        needed = schema.get("required", ())
        rows = [
            (
                f"`{name}`" + (", needed" if name in needed else ""),
                cell(_without_twins(type_words(field, linked))),
                about(field),
            )
            for name, field in fields.items()
            if not (name.endswith("_ms") and name.removesuffix("_ms") in fields)
        ]
        lines.append(table(("field", "what", "about"), rows))
    elif "enum" in schema or "anyOf" in schema:
        lines.append(f"{type_words(schema, linked)}\n")
    return "\n".join(lines)


def _fields(schema: Schema) -> dict[str, Schema]:
    """Its own, or those of the form that has fields, where a word alone may stand for it."""
    either: list[Schema] = [schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    with_fields = [schema for schema in either if "properties" in schema]
    return dict(with_fields[0]["properties"]) if with_fields else {}


def _without_twins(words: str) -> str:
    duration = words.removesuffix(" or null") == "whole number or text"
    return "duration" if duration else words.removesuffix(" or null")
