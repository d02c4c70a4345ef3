"""The audit log, and a job's timeline, as they are sent."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AliasPath, Field

from cadenza.application.ports.records import AuditRecord
from cadenza.application.ports.run_search import ListedRun
from cadenza.application.timeline import Entry, place_of
from cadenza.web.api.schemas.base import ResponseSchema
from cadenza.web.api.schemas.runs import RunResponse, run_response
from cadenza.web.api.schemas.sessions import SessionResponse, session_response


class AuditEntryResponse(ResponseSchema):
    id: Annotated[int, Field(validation_alias=AliasPath("id", "int"))]
    at: datetime
    actor: str
    action: str
    subject: str
    data: dict[str, Any]


class TimelineEntryResponse(ResponseSchema):
    at: datetime
    kind: Literal["run", "act", "session"]
    run: RunResponse | None = None
    act: AuditEntryResponse | None = None
    session: SessionResponse | None = None


def timeline_entry_response(entry: Entry) -> TimelineEntryResponse:
    at, _ = place_of(entry)
    if isinstance(entry, ListedRun):
        return TimelineEntryResponse(at=at, kind="run", run=run_response(entry))
    if isinstance(entry, AuditRecord):
        return TimelineEntryResponse(
            at=at, kind="act", act=AuditEntryResponse.model_validate(entry)
        )
    return TimelineEntryResponse(at=at, kind="session", session=session_response(entry))
