"""The API as the commands call it: `cadenza.client`, with errors that a person can act on."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from cadenza.cli.context import Server
from cadenza.cli.errors import CommandError, ExitCode, command_error, usage
from cadenza.client import core
from cadenza.client.core import MOST_ON_A_PAGE, Retries
from cadenza.client.errors import ClientError
from cadenza.client.sync_transport import TIMEOUT, SyncTransport
from cadenza.domain.errors import InvalidInput

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Query = Mapping[str, object]
# A person waits: once more where the connection was cut, and nothing besides.
ONCE_MORE = Retries(times=1, when_busy=False, pause=0)


class Api:
    """One server, one key."""

    def __init__(
        self, server: Server, new_id: Callable[[], object], timeout: float = TIMEOUT
    ) -> None:
        self.server = server
        self._new_id = new_id
        try:
            core.check_address(server.url)
        except InvalidInput as error:
            why = f"{server.url!r} is no address of a server"
            raise usage(f"{why}: {error.fix}") from error
        self._transport = SyncTransport(server.url, timeout)

    def get(self, path: str, query: Query | None = None) -> Any:
        return self._ask("GET", path, query=query)

    def create(self, path: str, body: object) -> Any:
        """With an idempotency key, so that it can be sent again where the connection was cut."""
        return self._ask("POST", path, body, is_idempotent=True)

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
        api = self._api()
        try:
            answer = self._transport.open_stream(
                api.request("GET", path, query=query, headers=headers), silence
            )
            if answer.status == 200:
                return answer
            with answer:
                return api.decoded(core.Response(answer.status, {}, answer.read()))
        except ClientError as error:
            raise command_error(error, self.server) from error

    def _ask(
        self,
        method: Method,
        path: str,
        body: object = None,
        query: Query | None = None,
        *,
        is_idempotent: bool = False,
        timeout: float | None = None,
    ) -> Any:
        headers = {"Idempotency-Key": str(self._new_id())} if is_idempotent else {}
        api = self._api()
        request = api.request(method, path, body, query, headers)
        try:
            return self._transport.drive(api.ask(request), timeout)
        except ClientError as error:
            raise command_error(error, self.server) from error

    def _api(self) -> core.Api:
        try:
            return core.Api(self.server.url, self._key(), self._new_id, ONCE_MORE)
        except InvalidInput as error:
            message = f"The key from {self.server.key_from} holds characters that no key has."
            raise usage(message) from error

    def _key(self) -> str:
        key = self.server.key
        if key is None:
            raise CommandError(
                f"No API key for {self.server.url}. Set {self.server.key_from} or --key, or "
                "run this in the folder where `cadenza up` was started.",
                ExitCode.NOT_ALLOWED,
            )
        return key


class AdminApi(Api):
    """The same with the key of the installation's admin, for tenants and their users."""
