"""What happens now, as server-sent events."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from typing import Annotated
from uuid import UUID

from fastapi import Header, Query
from pydantic import StringConstraints
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cadenza.application.ports.event_log import Position
from cadenza.application.waiting import end_all
from cadenza.domain.access import Caller
from cadenza.domain.errors import InvalidInput
from cadenza.web.api.access import ApiDependencies, Reader
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.problems import Gone
from cadenza.web.api.routes import documented, router
from cadenza.web.api.streams import Streams, Wanted

routes = router("Events")
Kind = Annotated[str, StringConstraints(max_length=60, pattern=r"^[a-z]+([.-][a-z]+)*$")]
_STREAM = {
    "description": "A stream that does not end by itself. Each event has an `id` to resume from, "
    "an `event` (its kind) and `data` in JSON: `at`, `kind`, `job_id`, `endpoint_id`, `data`. "
    "`ready` comes first, `passed` moves the id on where nothing fitted, `closed` says why it "
    "ends.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


@routes.get("/events", response_class=Response, responses={200: _STREAM, **documented(410)})
async def follow_events(
    caller: Reader,
    dependencies: ApiDependencies,
    kind: Annotated[
        list[Kind] | None,
        Query(max_length=20, description="Like `run.failed`, or `run` for all that begin so."),
    ] = None,
    job_id: UUID | None = None,
    endpoint_id: UUID | None = None,
    last_event_id: Annotated[
        str | None,
        Header(max_length=60, description="Where a stream that broke off had come to."),
    ] = None,
) -> Response:
    """What happens now: failed and recovered runs, acts of people and of the planner; and while
    somebody follows, every finished run. From `Last-Event-ID` on, nothing is left out."""
    streams = dependencies.reads.streams
    wanted = Wanted(caller.tenant_id, frozenset(kind or ()), job_id, endpoint_id)
    with streams.place(caller.key_id):
        position = await _begin(streams, caller, last_event_id)
        await streams.log.watch(caller.tenant_id)
    return EventStream(dependencies, caller, wanted, position)


async def _begin(streams: Streams, caller: Caller, last_event_id: str | None) -> Position:
    if not last_event_id:
        return await streams.log.last_position(caller.tenant_id)
    position = Position.read(last_event_id)
    if position is None:
        fix = "take the `id` of the last event as it was, or leave it out"
        raise InvalidInput("Last-Event-ID", last_event_id, fix)
    if not await streams.log.is_kept(caller.tenant_id, position):
        raise Gone(
            "events after this Last-Event-ID are no longer kept; leave it out to follow from now "
            "on, and read /api/v1/runs for what happened before"
        )
    return position


class EventStream(Response):
    """Sends as fast as the client takes it, and no faster; ends when it goes away or stands still.

    Not starlette's: that would wait for ever for a client that takes nothing.
    """

    media_type = "text/event-stream"

    def __init__(
        self, dependencies: Dependencies, caller: Caller, wanted: Wanted, position: Position
    ) -> None:
        self.status_code = 200
        self.background = None
        self._dependencies = dependencies
        self._caller = caller
        self._wanted = wanted
        self._position = position
        self._streams = dependencies.reads.streams
        self.init_headers({"X-Accel-Buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        # The place was free a moment ago; where it is not, this one ends as soon as it began.
        with self._streams.place(self._caller.key_id):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            pieces = self._streams.follow(self._wanted, self._position, self._still_open)
            sending = asyncio.create_task(self._send_all(pieces, send))
            leaving = asyncio.create_task(_until_gone(receive))
            try:
                await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await end_all([sending, leaving])

    async def _send_all(self, pieces: AsyncGenerator[bytes], send: Send) -> None:
        slowest = self._streams.pace.slowest.total_seconds()
        # A client that is gone, or stands still, needs no word about it.
        with suppress(TimeoutError, OSError):
            async with aclosing(pieces):
                async for piece in pieces:
                    async with asyncio.timeout(slowest):
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _still_open(self) -> bool:
        found = await self._dependencies.keys.find_key(self._caller.key_id)
        return found is not None and found[0].in_force(found[2])


async def _until_gone(receive: Receive) -> None:
    message: Mapping[str, object] = await receive()
    while message["type"] != "http.disconnect":
        message = await receive()
