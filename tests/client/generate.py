"""Writes the typed part of the client from the OpenAPI document: `python -m tests.client.generate`.

Types of requests and responses, the table of operations, and for each operation a method with and
one without a loop. A test says when they are no longer fresh.
"""

import keyword
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.web.walking import document

FOLDER = Path(__file__).parents[2] / "src/cadenza/client/generated"
BY_HAND = ("follow_events", "export_audit")  # streams
NAMED = ("job_id", "endpoint_id", "account_id", "schedule_id")
MADE = '"""{about}\n\nMade by `python -m tests.client.generate`; do not change it by hand.\n"""\n'
PAGE = re.compile(r"(?:Time)?Page_(\w+)_")


# --- Types ----------------------------------------------------------------------------------


@dataclass
class Types:
    schemas: dict[str, Any]
    written: list[str] = field(default_factory=list[str])

    def all(self) -> str:
        named = [name for name in self.schemas if not PAGE.fullmatch(name)]
        enums = [name for name in named if "enum" in self.schemas[name]]
        for name in enums:
            self.written.append(f"{name} = {self.of(self.schemas[name], sent=False)}")
        for name in named:
            if name not in enums:
                self.add(name, self.schemas[name])
        return "\n\n\n".join(self.written) + "\n"

    def add(self, name: str, schema: dict[str, Any]) -> None:
        """As a class; in the form of a call where a field is a word of Python."""
        if "properties" not in schema:
            self.written.append(f"{name} = {self.of(schema, sent=True)}")
            return
        is_answer = name.endswith("Response") or name in ("Problem", "FieldProblem")
        needed = set(schema["properties"] if is_answer else schema.get("required", ()))
        fields = {
            key: kind if key in needed else f"NotRequired[{kind}]"
            for key, value in schema["properties"].items()
            for kind in (self.of(value, sent=not is_answer),)
        }
        about = _sentence(schema.get("description", ""))
        if any(keyword.iskeyword(key) for key in fields):
            lines = ", ".join(f'"{key}": {kind}' for key, kind in fields.items())
            self.written.append(f'{name} = TypedDict("{name}", {{{lines}}})')
            return
        lines = [f"    {key}: {kind}" for key, kind in fields.items()] or ["    pass"]
        body = [f'    """{about}"""\n'] if about else []
        self.written.append("\n".join([f"class {name}(TypedDict):", *body, *lines]))

    def of(self, schema: dict[str, Any], *, sent: bool) -> str:
        if "$ref" in schema:
            return f'"{schema["$ref"].rpartition("/")[2]}"'
        if "anyOf" in schema:
            kinds = dict.fromkeys(self.of(one, sent=sent) for one in schema["anyOf"])
            return f"Union[{', '.join(kinds)}]" if len(kinds) > 1 else next(iter(kinds))
        if "enum" in schema or "const" in schema:
            values = schema.get("enum", [schema.get("const")])
            return f"Literal[{', '.join(map(repr, values))}]"
        kind = schema.get("type")
        if kind == "array":
            return f"list[{self.of(schema.get('items', {}), sent=sent)}]"
        if kind == "object":
            more = schema.get("additionalProperties")
            inner = self.of(more, sent=sent) if isinstance(more, dict) else "Any"
            return f"dict[str, {inner}]"
        if sent and schema.get("format") == "date-time":
            return "Instant"
        return _PLAIN.get(kind or "", "Any")


_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


# --- Operations -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Operation:
    name: str
    method: str
    path: str
    about: str
    parameters: list[str]
    query: dict[str, tuple[dict[str, Any], bool]]
    headers: list[str]
    body: dict[str, Any] | None
    answer: str | None
    item: str | None  # of a page

    @property
    def constant(self) -> str:
        return self.name.upper()

    @property
    def row(self) -> str:
        own = self.path.removeprefix("/api/v1") if self.path.startswith("/api") else f"/{self.path}"
        given = [f"{self.method.upper()!r}", f"{own!r}"]
        if self.parameters:
            given.append(f"parameters={tuple(self.parameters)!r}")
        if self.query:
            given.append(f"query={tuple(self.query)!r}")
        if self.body is not None:
            given.append("has_body=True")
        if "idempotency-key" in self.headers:
            given.append("takes_key=True")
        return f"{self.constant} = Operation({', '.join(given)})"


def operations(schema: dict[str, Any]) -> Iterator[Operation]:
    for path, methods in schema["paths"].items():
        for method, told in methods.items():
            name = re.split(r"_api_v1_|_healthz_get|_readyz_get", told["operationId"])[0]
            if name in BY_HAND:
                continue
            by_place: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}}
            for one in told.get("parameters", ()):
                by_place[one["in"]][one["name"]] = one
            content = told.get("requestBody", {}).get("content", {})
            body = next(iter(content.values()))["schema"] if content else None
            answer = _answer(told["responses"])
            page = PAGE.fullmatch(answer or "")
            yield Operation(
                name,
                method,
                path,
                _sentence(told.get("description", "")),
                re.findall(r"\{(\w+)\}", path),
                {
                    key: (value["schema"], value.get("required", False))
                    for key, value in by_place["query"].items()
                },
                list(by_place["header"]),
                body,
                answer,
                page[1] if page else None,
            )


def _answer(responses: dict[str, Any]) -> str | None:
    good = next(value for status, value in responses.items() if status.startswith("2"))
    for content in good.get("content", {}).values():
        return content["schema"]["$ref"].rpartition("/")[2]
    return None


def _sentence(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().replace("\\", "\\\\").split(". ")[0].rstrip(".")


@dataclass
class Methods:
    """With a loop, or without."""

    types: Types
    is_async: bool

    def of(self, one: Operation) -> str:
        path = [self._own_name(name) + ": str" for name in one.parameters]
        given = ["self", *path, *(["/"] if path else [])]
        fields = self._fields(one)
        if fields is not None:
            given.append(f"**fields: Unpack[types.{fields}]")
        values = ", ".join(self._own_name(name) for name in one.parameters)
        values = f"({values}{',' if len(one.parameters) == 1 else ''})"
        call = f"(operations.{one.constant}, {values}, {'fields' if fields else '{}'})"
        about = f'        """{one.about}."""' if one.about else ""
        if one.item is not None:
            kind = "AsyncIterator" if self.is_async else "Iterator"
            head = f"    def {one.name}({', '.join(given)}) -> {kind}[types.{one.item}]:"
            return "\n".join(filter(None, [head, about, f"        return self._pages{call}"]))
        answer = f"types.{one.answer}" if one.answer else "None"
        head = f"def {one.name}({', '.join(given)}) -> {answer}:"
        head, wait = (f"    async {head}", "await ") if self.is_async else (f"    {head}", "")
        return "\n".join(filter(None, [head, about, f"        return {wait}self._call{call}"]))

    @staticmethod
    def _own_name(parameter: str) -> str:
        return parameter.removesuffix("_id") if parameter in NAMED else parameter

    def _fields(self, one: Operation) -> str | None:
        """The type of its fields: query, body, and what goes into headers."""
        extra: dict[str, str] = {}
        for key, (schema, is_needed) in one.query.items():
            if key == "cursor":
                continue
            kind = "int" if key == "limit" else self.types.of(schema, sent=True)
            name = self._own_name(key)
            name = f"{name}_" if keyword.iskeyword(name) else name
            extra[name] = kind if is_needed else f"NotRequired[{kind}]"
        if "idempotency-key" in one.headers:
            extra["idempotency_key"] = "NotRequired[str]"
        if "if-match" in one.headers:
            extra["if_match"] = "NotRequired[Union[int, str]]"
        base = self._body(one)
        if not extra:
            return base
        name = "".join(word.title() for word in one.name.split("_")) + "Fields"
        if not self.is_async:  # once is enough
            above = base or "TypedDict"
            lines = "\n".join(f"    {key}: {kind}" for key, kind in extra.items())
            self.types.written.append(f"class {name}({above}):\n{lines}")
        return name

    def _body(self, one: Operation) -> str | None:
        if one.body is None:
            return None
        if "$ref" in one.body:
            return one.body["$ref"].rpartition("/")[2]
        name = "".join(word.title() for word in one.name.split("_")) + "Body"
        if not self.is_async:
            if "properties" in one.body:
                self.types.add(name, one.body)
            else:  # a patch of what has a type of its own
                self.types.written.append(
                    f"class {name}({_PATCHED[one.name]}, total=False):\n    pass"
                )
        return name


_PATCHED = {"change_job": "JobPatch"}
# A merge patch is said to be any object; its fields are those of a job, each of them optional.
JOB_PATCH = '''class JobPatch(TypedDict, total=False):
    """A merge patch: fields that are left out stay, null takes one away."""

    name: str
    description: str
    rules: "list[RuleDocument]"
    planner: "Union[PlannerDocument, Literal['off', 'advise', 'act'], None]"'''


def generated() -> dict[str, str]:
    schema = document()
    types = Types(schema["components"]["schemas"])
    types.all()
    types.written.append(JOB_PATCH)
    every = sorted(operations(schema), key=lambda one: one.name)
    files: dict[str, str] = {}
    for name, is_async in (("sync_operations", False), ("async_operations", True)):
        methods = Methods(types, is_async)
        bodies = "\n\n".join(methods.of(one) for one in every)
        files[name] = _operations_file(bodies, is_async=is_async)
    files["operations"] = "\n".join(
        [
            MADE.format(about="Every operation of the API."),
            "from cadenza.client.core import Operation\n",
            *(one.row for one in every),
        ]
    )
    files["types"] = "\n".join(
        [
            MADE.format(about="What the API takes and answers."),
            "# ruff: noqa: UP007",
            "from datetime import datetime",
            "from typing import Any, Literal, Union\n",
            "from typing_extensions import NotRequired, TypedDict\n",
            "Instant = Union[str, datetime]",
            "\n\n\n".join(types.written),
        ]
    )
    return {name: _formatted(text, name) for name, text in files.items()}


def _operations_file(bodies: str, *, is_async: bool) -> str:
    kind, way = ("Async", "on a loop") if is_async else ("Sync", "without a loop")
    iterator = "AsyncIterator" if is_async else "Iterator"
    word = "async def" if is_async else "def"
    return (
        MADE.format(about=f"Every operation of the API as a method, {way}.")
        + f"""
from abc import abstractmethod
from collections.abc import {iterator}, Mapping, Sequence
from typing import Any

from typing_extensions import Unpack

from cadenza.client.core import Operation
from cadenza.client.generated import operations, types


class {kind}Operations:
    @abstractmethod
    {word} _call(
        self, operation: Operation, values: Sequence[str], fields: Mapping[str, Any]
    ) -> Any: ...

    @abstractmethod
    def _pages(
        self, operation: Operation, values: Sequence[str], fields: Mapping[str, Any]
    ) -> {iterator}[Any]: ...

{bodies}
"""
    )


def _formatted(text: str, name: str) -> str:
    ruff = [str(Path(sys.executable).with_name("ruff"))]
    where = ["--stdin-filename", str(FOLDER / f"{name}.py"), "-"]
    fixed = subprocess.run(
        [*ruff, "check", "--quiet", "--fix-only", "--select", "I,UP", *where],
        input=text, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return subprocess.run(
        [*ruff, "format", "--quiet", *where],
        input=fixed,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def main() -> None:
    (FOLDER / "__init__.py").write_text('"""Made from the OpenAPI document."""\n')
    for name, text in generated().items():
        (FOLDER / f"{name}.py").write_text(text)


if __name__ == "__main__":
    main()
