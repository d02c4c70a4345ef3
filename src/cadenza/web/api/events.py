"""What happens now, as server-sent events."""

from collections.abc import AsyncGenerator
from contextlib import suppress
from uuid import UUID

from sse_starlette import EventSourceResponse
from sse_starlette.sse import SendTimeoutError
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cadenza.application.ports.event_log import Position
from cadenza.domain.access import Caller
from cadenza.domain.errors import InvalidInput
from cadenza.web.api.access import ApiDependencies, Reader
from cadenza.web.api.parsing.headers import LastEventId
from cadenza.web.api.parsing.query import InSummary, Kinds
from cadenza.web.api.problems import Gone
from cadenza.web.api.routes import documented, router
from cadenza.web.api.streams import EventFilter, Streams

SHUTDOWN_SECONDS = 5  # for the last event; then the library ends a stream that did not end itself
routes = router("Events")
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
    kind: Kinds = None,
    job_id: UUID | None = None,
    endpoint_id: UUID | None = None,
    in_summary: InSummary = False,
    last_event_id: LastEventId = None,
) -> Response:
    """What happens now: failed and recovered runs, actions of people and of the planner; and while
    somebody follows, every finished run. From `Last-Event-ID` on, nothing is left out."""
    wanted = EventFilter(
        caller.tenant_id, frozenset(kind or ()), job_id, endpoint_id, caller.limits.readable
    )

    async def key_in_force() -> bool:
        dependencies.authentication.forget()  # it is asked rarely, and then it counts
        return await dependencies.authentication.is_open(caller)

    streams = dependencies.around.streams
    position = await begin(streams, caller, last_event_id)
    events = streams.follow(wanted, position, key_in_force, in_summary=in_summary)
    return EventStream(streams, caller, events)


async def begin(streams: Streams, caller: Caller, last_event_id: str | None) -> Position:
    """Where a stream goes on from; TooManyRequests where the caller has too many."""
    with streams.open_for(caller):
        position = await _begin(streams, caller, last_event_id)
        await streams.log.watch(caller.tenant_id)
    return position


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


class EventStream(EventSourceResponse):
    """Ends without an error when the client goes away, or takes nothing for too long."""

    def __init__(self, streams: Streams, caller: Caller, pieces: AsyncGenerator[bytes]) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]: it says `dict`, of nothing
            pieces,
            ping=0,  # the stream says by itself that it lives, with its position
            send_timeout=streams.pace.slowest.total_seconds(),
            shutdown_grace_period=SHUTDOWN_SECONDS,
        )
        self._open = streams.open_for(caller)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # One more was allowed a moment ago; where it no longer is, nothing has been sent yet.
        with self._open, suppress(SendTimeoutError, OSError):
            await super().__call__(scope, receive, send)
