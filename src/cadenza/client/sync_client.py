"""The client without a loop."""

import http.client
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any
from uuid import uuid4

from cadenza.client.core import Api, Operation, Pages, Response, Retries
from cadenza.client.errors import ClientError
from cadenza.client.events import LONGEST_LINE, SILENCE, Event, EventReader, Reconnection
from cadenza.client.generated.sync_operations import SyncOperations
from cadenza.client.sync_transport import TIMEOUT, SyncTransport


class SyncClient(SyncOperations):
    """Every operation of the API. Names stand where ids do: a job's, `job/endpoint`, an account's,
    a schedule's. Lists are followed page by page, up to `limit` or to their end."""

    def __init__(
        self,
        url: str,
        key: str | None,
        *,
        timeout: float = TIMEOUT,
        retries: Retries | None = None,
        new_id: Callable[[], object] = uuid4,
    ) -> None:
        self._api = Api(url, key, new_id, retries or Retries())
        self._transport = SyncTransport(url, timeout)

    def _call(self, operation: Operation, values: Sequence[str], fields: Mapping[str, Any]) -> Any:
        return self._transport.drive(self._api.perform(operation, values, fields))

    def _pages(
        self, operation: Operation, values: Sequence[str], fields: Mapping[str, Any]
    ) -> Iterator[Any]:
        pages = Pages(self._api, operation, values, fields)
        while not pages.is_over:
            yield from self._transport.drive(pages.next_page())

    def events(
        self,
        *,
        kind: Sequence[str] | None = None,
        job: str | None = None,
        endpoint: str | None = None,
        last_id: str | None = None,
    ) -> Iterator[Event]:
        """What happens, as it happens, without an end; taken up again where it broke off. With a
        `last_id` of before, from there on: Missing where that is no longer kept."""
        asked = {"kind": kind, "job": job, "endpoint": endpoint}
        query = self._transport.drive(self._api.open_events(asked))
        reader, again = EventReader(last_id), Reconnection()
        while True:
            failure = None
            try:
                yield from self._followed(query, reader, again)
            except ClientError as error:
                failure = error
            except (OSError, http.client.HTTPException):
                pass  # it broke off while it was read
            reader.broken_off()
            time.sleep(again.pause_after(failure))

    def _followed(
        self, query: Mapping[str, Any], reader: EventReader, again: Reconnection
    ) -> Iterator[Event]:
        request = self._api.request("GET", "/events", query=query, headers=reader.headers)
        with closing(self._transport.open_stream(request, SILENCE)) as answer:
            if answer.status != 200:
                self._api.decoded(Response(answer.status, {}, answer.read()))
            while line := answer.readline(LONGEST_LINE):
                again.heard()
                if (event := reader.read(line)) is not None:
                    yield event
