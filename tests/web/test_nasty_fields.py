"""Every field of every route, with what it cannot take: a 4xx that names it, and nothing done."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2 as httpx

from tests.web.furniture import furnish, path_to
from tests.web.nasty import ANYWHERE, put_into, wrong_values
from tests.web.support import ADMIN, ADMIN_KEY, Site, bearer
from tests.web.walking import Operation, fields, fitting, operations, resolved

ALL = [operation for operation in operations() if not operation.streams]
WITH_BODY = [operation for operation in ALL if operation.body_schema is not None]
JSON = {"Content-Type": "application/json"}


def _key(site: Site, operation: Operation) -> dict[str, str]:
    return bearer(ADMIN_KEY if operation.of_admin else site.ours.keys[ADMIN])


async def _send(site: Site, operation: Operation, path: str, **more: Any) -> httpx.Response:
    token = {"Cadenza-Result-Token": "cdzr_x"} if operation.path.endswith("/result") else {}
    headers = {**_key(site, operation), **token, **more.pop("headers", {})}
    method = operation.method.upper()
    return await site.client.request(method, f"/api/v1{path}", headers=headers, **more)


def _fields_named(answer: httpx.Response) -> list[str]:
    return [error["field"].lower() for error in answer.json()["errors"]]


def _refuses(answer: httpx.Response, field: str, context: str) -> None:
    assert answer.status_code in (400, 422), f"{context}: {answer.status_code} {answer.text[:300]}"
    assert answer.headers["content-type"] == "application/problem+json", context
    named = _fields_named(answer)
    names_it = any(name == field or name.startswith((f"{field}.", f"{field}[")) for name in named)
    assert names_it, f"{context}: it names {named}"


@asynccontextmanager
async def nothing_done(site: Site) -> AsyncIterator[None]:
    await furnish(site, site.ours)
    await site.ours.done("GET", "/me")
    before = await site.contents()
    yield
    assert await site.contents() == before


async def test_a_value_that_a_field_cannot_take_is_refused_by_its_name(site: Site) -> None:
    async with nothing_done(site):
        for operation in WITH_BODY:
            await _try_fields(site, operation)


async def _try_fields(site: Site, operation: Operation) -> None:
    path = path_to(site.ours, operation)
    for field, inner in fields(operation.body_schema or {}):
        name = field.rpartition(".")[2]
        for kind, value in wrong_values(name, inner):
            content = put_into(_filled(operation, field), field, value)
            answer = await _send(site, operation, path, content=content, headers=JSON)
            _refuses(answer, field, f"{operation}, {field}: {kind}")


def _filled(operation: Operation, field: str) -> Any:
    """A body in which the field has its place, also in the first of a list."""
    body = operation.body
    if "[0]" in field:
        outer = field.partition("[0]")[0]
        inner = dict(fields(operation.body_schema or {}))[outer]
        body = {**body, outer: [fitting(resolved(inner)["items"])]}
        if "[0]" in field.removeprefix(f"{outer}[0]"):
            deeper = field.removeprefix(f"{outer}[0].").partition("[0]")[0]
            item = resolved(resolved(inner)["items"])["properties"][deeper]
            body[outer][0] = {**body[outer][0], deeper: [fitting(resolved(item)["items"])]}
    return body


async def test_a_body_that_is_not_what_was_asked_for_is_refused(site: Site) -> None:
    async with nothing_done(site):
        for operation in WITH_BODY:
            await _try_bodies(site, operation)


async def _try_bodies(site: Site, operation: Operation) -> None:
    path = path_to(site.ours, operation)
    for whole in ("5", '"text"', "true", "null", "[]", "[[]]", *ANYWHERE.values()):
        answer = await _send(site, operation, path, content=whole.encode(), headers=JSON)
        context = f"{operation}: {whole[:20]}"
        assert answer.status_code in (400, 422), f"{context}: {answer.status_code} {answer.text}"
        assert answer.json()["errors"], context
    field = "no_such_field"
    answer = await _send(site, operation, path, json={**operation.body, field: 1})
    _refuses(answer, field, f"{operation}: {field}")
    twice = f'{{"{field}": 1, "{field}": 2}}'.encode()
    answer = await _send(site, operation, path, content=twice, headers=JSON)
    _refuses(answer, field, f"{operation}: a key twice")


async def test_what_an_address_cannot_hold_is_refused_by_its_name(site: Site) -> None:
    async with nothing_done(site):
        for operation in ALL:
            await _try_addresses(site, operation)


async def _try_addresses(site: Site, operation: Operation) -> None:
    body = {} if operation.body is None else {"json": operation.body}
    for name in operation.collections():
        for wrong in ("x", "0", "%00", "%ff", "..%2f", "a" * 300, "1" * 31, "null", "*", "'--"):
            path = operation.short_path.replace(f"{{{name}}}", wrong)
            path = path.replace("{", "").replace("}", "")
            answer = await _send(site, operation, path, **body)
            context = f"{operation}: {name}={wrong}"
            assert answer.status_code in (404, 422), f"{context}: {answer.status_code}"
            assert answer.status_code == 404 or name in _fields_named(answer), context
    path = path_to(site.ours, operation)
    for parameter in operation.parameters("query"):
        for wrong in _wrong_in_query(parameter):
            query = f"{parameter['name']}={wrong}"
            answer = await _send(site, operation, f"{path}?{query}", **body)
            _refuses(answer, parameter["name"], f"{operation}?{query[:60]}")
    for query, field in (("nothing_like_it=1", "nothing_like_it"), ("a%00b=1", "a\0b")):
        answer = await _send(site, operation, f"{path}?{query}", **body)
        _refuses(answer, field, f"{operation}?{query}")


def _wrong_in_query(parameter: dict[str, Any]) -> list[str]:
    schema = resolved(parameter["schema"])
    wrong = [f"a&{parameter['name']}=b"]  # twice
    if schema["type"] == "integer":
        wrong += [
            "",
            "x",
            "1.5",
            "NaN",
            "-1",
            "0",
            str(2**63),
            "1" + "0" * 400,
            "%00",
            "0x1",
            "1e2",
        ]
    elif schema["type"] == "boolean":
        wrong += ["maybe", "", "2", "%00"]
    elif "enum" in schema or schema.get("format") in ("uuid", "date-time"):
        wrong += ["nonsense", "", "%00", "x" * 5000]
    elif parameter["name"] == "cursor":
        wrong += ["x", "AAAA", "W10", "%00", "!!", "W1tb" * 250, "bnVsbA", "x" * 1001]
    else:
        wrong += ["%00", "a%00b"]
        wrong += [""] if schema.get("minLength") else []
        wrong += ["x" * (schema["maxLength"] + 1)] if "maxLength" in schema else []
    return wrong


async def test_a_header_that_cannot_be_read_is_refused_by_its_name(site: Site) -> None:
    async with nothing_done(site):
        for operation in ALL:
            await _try_headers(site, operation)


async def _try_headers(site: Site, operation: Operation) -> None:
    path = path_to(site.ours, operation)
    wrong = {
        "if-match": ["3", '"', "W/", '"a" "b"', '"a",', "'3'", '"\x7f"', '"' + "3" * 2000 + '"'],
        "idempotency-key": ["a b", "\x7f", "\xe9", "x" * 201, "a\tb"],
    }
    body = {} if operation.body is None else {"json": operation.body}
    for parameter in operation.parameters("header"):
        name = parameter["name"].lower()
        for value in wrong.get(name, ["\x7f" * 5000]):
            headers = {name: value.encode("latin-1")}
            answer = await _send(site, operation, path, headers=headers, **body)
            _refuses(answer, name, f"{operation}, {name}: {value[:20]!r}")
