"""What a client says and hears, without saying or hearing it: requests go out of a generator, and
answers come in. Two transports drive it, one with a loop and one without.
"""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast
from urllib.parse import quote, urlencode, urlsplit
from uuid import UUID

from cadenza.client.errors import NoSuchName, NotCadenza, Unreachable, problem_of
from cadenza.domain.errors import InvalidInput

T = TypeVar("T")
MOST_ON_A_PAGE = 200
LONGEST_WAIT = 60.0
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_KEY_CHARACTERS = range(0x21, 0x7F)


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None
    may_repeat: bool = False  # it does no harm to send it again

    def __repr__(self) -> str:
        return f"Request({self.method} {self.url})"  # not its key


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: Mapping[str, str]  # by their names in lower case
    body: bytes


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


# What a transport is asked to do, until the result is there. Unreachable is thrown in.
Flow = Generator[Request | Wait, Response | None, T]


@dataclass(frozen=True, slots=True)
class Retries:
    times: int = 3
    when_busy: bool = True  # 429, and 503 where it may be repeated
    pause: float = 0.2  # doubled each time


@dataclass(frozen=True, slots=True)
class Operation:
    """One of the API's, from its OpenAPI document."""

    method: str
    path: str
    parameters: tuple[str, ...] = ()  # of the path, in its order
    query: tuple[str, ...] = ()
    has_body: bool = False
    takes_key: bool = False  # an Idempotency-Key


@dataclass(frozen=True, slots=True)
class Api:
    """One server, one key."""

    url: str
    key: str | None = field(repr=False)
    new_id: Callable[[], object]
    retries: Retries = field(default_factory=Retries)

    def __post_init__(self) -> None:
        check_address(self.url)
        if any(ord(character) not in _KEY_CHARACTERS for character in self.key or ""):
            raise InvalidInput("key", "***", "it holds characters that no key has")

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Request:
        """`path` is below /api/v1, but for what begins with //."""
        address = self.url.rstrip("/") + (path[1:] if path[:2] == "//" else f"/api/v1{path}")
        parameters = {
            name: plain(value) for name, value in (query or {}).items() if value is not None
        }
        if parameters:
            # Half a character pair becomes a question mark: nothing has such a name.
            address += f"?{urlencode(parameters, doseq=True, errors='replace')}"
        sent = {"Accept": "application/json", **(headers or {})}
        for name, value in sent.items():
            if not (value.isascii() and value.isprintable()):
                raise InvalidInput(name, value, "printable ASCII characters only")
        if self.key is not None:
            sent["Authorization"] = f"Bearer {self.key}"
        if body is not None:
            sent["Content-Type"] = "application/json"
        content = None if body is None else json.dumps(body, default=plain).encode()
        may_repeat = method == "GET" or "Idempotency-Key" in sent
        return Request(method, address, sent, content, may_repeat)

    def ask(self, request: Request) -> Flow[Any]:
        """The JSON of its answer, tried again where that does no harm; ApiProblem, Unreachable."""
        return self.decoded((yield from self._answered(request)))

    def decoded(self, response: Response) -> Any:
        if response.status == 204:
            return None
        try:
            document: Any = json.loads(response.body)
        except ValueError as error:
            raise NotCadenza(self.url, response.status) from error
        if response.status < 300:
            return document
        if not isinstance(document, dict) or "title" not in document:
            raise NotCadenza(self.url, response.status)
        problem = cast("dict[str, Any]", document)
        raise problem_of(response.status, problem, _retry_after(response))

    def _answered(self, request: Request) -> Flow[Response]:
        pause = self.retries.pause
        for left in range(self.retries.times, -1, -1):
            try:
                response = yield request
            except Unreachable as error:
                if not (left and error.was_cut and request.may_repeat):
                    raise
                yield Wait(pause)
            else:
                assert response is not None
                if not (left and self._is_worth_waiting(request, response)):
                    return response
                yield Wait(min(_retry_after(response) or pause, LONGEST_WAIT))
            pause *= 2
        raise AssertionError("the last try returns or raises")

    def _is_worth_waiting(self, request: Request, response: Response) -> bool:
        is_busy = response.status == 429 or (response.status == 503 and request.may_repeat)
        return self.retries.when_busy and is_busy

    # --- Operations ---------------------------------------------------------------------------

    def perform(
        self, operation: Operation, values: Sequence[str], fields: Mapping[str, Any]
    ) -> Flow[Any]:
        """Names stand where ids do; fields are of the query or of the body."""
        path = operation.path
        for name, value in zip(operation.parameters, values, strict=True):
            found = yield from self._id(name, value)
            path = path.replace(f"{{{name}}}", quote(found, safe="", errors="replace"))
        query, body, headers = yield from self._sorted(operation, fields)
        if body and not operation.has_body:
            name, value = next(iter(body.items()))
            raise InvalidInput(name, value, "this operation has no such field")
        content = body if operation.has_body else None
        return (yield from self.ask(self.request(operation.method, path, content, query, headers)))

    def open_events(self, fields: Mapping[str, Any]) -> Flow[dict[str, Any]]:
        """The query of a stream of events, with ids."""
        query, _, _ = yield from self._sorted(_EVENTS, fields)
        return query

    def _sorted(
        self, operation: Operation, fields: Mapping[str, Any]
    ) -> Flow[tuple[dict[str, Any], dict[str, Any], dict[str, str]]]:
        """Into query, body and headers. `from_` is `from`; `job` is the `job_id` of a query."""
        query: dict[str, Any] = {}
        body: dict[str, Any] = {}
        headers: dict[str, str] = {}
        if operation.takes_key:
            headers["Idempotency-Key"] = str(fields.get("idempotency_key") or self.new_id())
        for name, value in fields.items():
            wire = name.removesuffix("_")
            if name == "if_match" and value is not None:
                headers["If-Match"] = f'"{value}"'
            elif f"{wire}_id" in operation.query and value is not None:
                query[f"{wire}_id"] = yield from self._id(f"{wire}_id", value)
            elif wire in operation.query:
                query[wire] = value
            elif name not in ("if_match", "idempotency_key"):
                body[wire] = value
        return query, body, headers

    def _id(self, parameter: str, value: object) -> Flow[str]:
        kind = _NAMED.get(parameter)
        if not isinstance(value, str | UUID):
            raise InvalidInput(parameter, value, "give an id or a name as text")
        value = str(value)
        if kind is None or _is_id(value):
            return value
        query: dict[str, object] = {"name": value}
        job, slash, own = value.partition("/")
        if kind == "endpoint" and slash:
            query = {"name": own, "job_id": (yield from self._id("job_id", job))}
        page = yield from self.ask(self.request("GET", f"/{kind}s", query={**query, "limit": 2}))
        if len(page["items"]) == 1:
            return page["items"][0]["id"]
        if not page["items"]:
            raise NoSuchName(f"there is no {kind} {value!r}")
        better = "job/endpoint" if kind == "endpoint" else "its id"
        raise NoSuchName(f"several {kind}s are named {value!r}; give {better}")


_EVENTS = Operation("GET", "/events", query=("kind", "job_id", "endpoint_id"))
_NAMED = {
    "job_id": "job",
    "endpoint_id": "endpoint",
    "account_id": "account",
    "schedule_id": "schedule",
}


class Pages:
    """Up to so many items, page by page. A page may be short, and still have a next one."""

    def __init__(
        self, api: Api, operation: Operation, values: Sequence[str], fields: Mapping[str, Any]
    ) -> None:
        self._api = api
        self._operation = operation
        self._values = values
        self._fields = dict(fields)
        self._left: int | None = self._fields.pop("limit", None)
        self._cursor: str | None = None
        self.is_over = False

    def next_page(self) -> Flow[list[Any]]:
        most = MOST_ON_A_PAGE if self._left is None else min(self._left, MOST_ON_A_PAGE)
        fields = {**self._fields, "limit": max(1, most), "cursor": self._cursor}
        page = yield from self._api.perform(self._operation, self._values, fields)
        items: list[Any] = page["items"]
        self._cursor = page.get("next")
        if self._left is not None:
            items = items[: self._left]
            self._left -= len(items)
        self.is_over = self._cursor is None or self._left == 0
        return items


def check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_good = is_good and not (parts.query or parts.fragment)
    except ValueError:
        is_good = False
    if "@" in url:
        raise InvalidInput("url", "***", "write it without user and password; the key is key=")
    if not is_good:
        raise InvalidInput("url", url, "write it like http://127.0.0.1:8080")


def plain(value: object) -> Any:
    """As it is sent: booleans in a query, instants and durations anywhere."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return round(value / timedelta(milliseconds=1))
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in cast("list[object]", value)]
    raise TypeError(f"a {type(value).__name__} cannot be sent")


def _is_id(value: str) -> bool:
    try:
        UUID(value)
    except ValueError:
        return False
    return True


def _retry_after(response: Response) -> float | None:
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None
