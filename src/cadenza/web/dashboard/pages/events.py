"""The stream that the tabs of a browser share: what happens, in summary, once a second at most."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.web.api.events import EventStream, begin
from cadenza.web.api.problems import Gone
from cadenza.web.api.streams import EventFilter
from cadenza.web.dashboard.visitor import PageDependencies, Reader

routes = APIRouter()


@routes.get("/live")
async def follow(request: Request, visitor: Reader, dependencies: PageDependencies) -> Response:
    streams, caller = dependencies.around.streams, visitor.caller

    async def is_signed_in() -> bool:
        dependencies.authentication.forget()
        return await dependencies.sign_ins.caller_of(visitor.token) == caller

    try:
        position = await begin(streams, caller, request.headers.get("last-event-id"))
    except Gone:  # a laptop that slept for a week: its page is read anew, and follows from now on
        position = await begin(streams, caller, None)
    wanted = EventFilter(caller.tenant_id, job_ids=caller.limits.readable)
    events = streams.follow(wanted, position, is_signed_in, in_summary=True)
    return EventStream(streams, caller, events)
