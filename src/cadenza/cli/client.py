"""The API as the commands call it: JSON in and out, one readable error, pages followed."""

import http.client
import json
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit

from cadenza.cli.context import Server
from cadenza.cli.errors import CommandError, ExitCode, error_of, unreachable, usage

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Query = Mapping[str, object]
TIMEOUT = 30.0
MOST_ON_A_PAGE = 200
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_CUT = (ConnectionResetError, BrokenPipeError, http.client.IncompleteRead)
_KEY_CHARACTERS = range(0x21, 0x7F)


class Api:
    """One server, one key."""

    def __init__(
        self, server: Server, new_id: Callable[[], object], timeout: float = TIMEOUT
    ) -> None:
        self.server = server
        self._new_id = new_id
        self._timeout = timeout
        self._opener = _opener(server.url)

    def get(self, path: str, query: Query | None = None) -> Any:
        return self._ask("GET", path, query=query)

    def create(self, path: str, body: object) -> Any:
        """With an idempotency key, so that it can be sent again where the connection was cut."""
        return self._ask("POST", path, body, once=True)

    def post(self, path: str, body: object = None, *, timeout: float | None = None) -> Any:
        return self._ask("POST", path, body, timeout=timeout)

    def put(self, path: str, body: object, query: Query, *, timeout: float) -> Any:
        return self._ask("PUT", path, body, query, timeout=timeout)

    def patch(self, path: str, body: object) -> Any:
        return self._ask("PATCH", path, body)

    def delete(self, path: str, query: Query | None = None) -> Any:
        return self._ask("DELETE", path, query=query)

    def pages(self, path: str, limit: int, query: Query | None = None) -> Iterator[dict[str, Any]]:
        """Up to so many items, page by page. A page may be short, and still have a next one."""
        cursor: str | None = None
        while limit > 0:
            asked = {**(query or {}), "limit": min(limit, MOST_ON_A_PAGE), "cursor": cursor}
            page = self.get(path, asked)
            yield from page["items"]
            limit -= len(page["items"])
            cursor = page.get("next")
            if cursor is None:
                return

    def open_stream(
        self, path: str, query: Query, headers: Mapping[str, str], silence: float
    ) -> Any:
        """The answer while it comes; TimeoutError where nothing comes for so many seconds."""
        request = self._request("GET", path, None, query, headers)
        try:
            return self._opener.open(request, timeout=silence)
        except HTTPError as error:
            raise error_of(error, self.server) from error
        except (OSError, http.client.HTTPException) as error:
            raise unreachable(error, self.server) from error

    def _ask(
        self,
        method: Method,
        path: str,
        body: object = None,
        query: Query | None = None,
        *,
        once: bool = False,
        timeout: float | None = None,
    ) -> Any:
        headers = {"Idempotency-Key": str(self._new_id())} if once else {}
        request = self._request(method, path, body, query, headers)
        try:
            try:
                return self._answer(request, timeout)
            except (URLError, *_CUT) as error:
                was_cut = isinstance(getattr(error, "reason", error), _CUT)
                if not (was_cut and (once or method == "GET")):
                    raise
                return self._answer(request, timeout)
        except HTTPError as error:
            raise error_of(error, self.server) from error
        except (OSError, http.client.HTTPException) as error:
            raise unreachable(error, self.server) from error

    def _request(
        self,
        method: Method,
        path: str,
        body: object,
        query: Query | None,
        headers: Mapping[str, str],
    ) -> urllib.request.Request:
        parameters = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in (query or {}).items()
            if value is not None
        }
        url = f"{self.server.url}/api/v1{path}"
        if parameters:
            url += f"?{urlencode(parameters, doseq=True)}"
        authorised = {"Authorization": f"Bearer {self._key()}", "Accept": "application/json"}
        # The scheme was checked: urllib would open files too.
        request = urllib.request.Request(url, headers={**authorised, **headers}, method=method)  # noqa: S310
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        return request

    def _answer(self, request: urllib.request.Request, timeout: float | None) -> Any:
        with self._opener.open(request, timeout=timeout or self._timeout) as answer:
            content = answer.read()
            if answer.status == 204:
                return None
        try:
            return json.loads(content)
        except ValueError as error:
            raise CommandError(
                f"{self.server.url} answers, but not as Cadenza does. Is --server right?",
                ExitCode.UNREACHABLE,
            ) from error

    def _key(self) -> str:
        key = self.server.key
        if key is None:
            raise CommandError(
                f"No key for {self.server.url}. `make up` makes one and leaves it where this "
                f"command finds it; otherwise set {self.server.key_from}, or give --key.",
                ExitCode.NOT_ALLOWED,
            )
        if any(ord(character) not in _KEY_CHARACTERS for character in key):
            raise usage(f"The key from {self.server.key_from} holds characters that no key has.")
        return key


class AdminApi(Api):
    """The same with the key of the installation's admin, for tenants and their users."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """The key would go with it, to wherever it leads."""


def _opener(url: str) -> urllib.request.OpenerDirector:
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            proxies = [urllib.request.ProxyHandler({})] if parts.hostname in _LOOPBACK else []
            return urllib.request.build_opener(_NoRedirects, *proxies)
    raise usage(f"{url!r} is no address of a server: write it like http://127.0.0.1:8080")
