"""The audit log, and a job's timeline, as they are sent."""

from datetime import datetime
from typing import Any, Literal

from cadenza.application.ports.records import AuditRecord
from cadenza.application.ports.run_search import ListedRun
from cadenza.application.timeline import Entry, cursor_of
from cadenza.web.api.schemas.base import ResponseSchema
from cadenza.web.api.schemas.runs import RunResponse, run_response
from cadenza.web.api.schemas.sessions import SessionResponse, session_response


class AuditEntryResponse(ResponseSchema):
    id: int
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


def audit_entry_response(record: AuditRecord) -> AuditEntryResponse:
    return AuditEntryResponse(
        id=record.id.int,
        at=record.at,
        actor=record.actor,
        action=record.action,
        subject=record.subject,
        data=record.data,
    )


def timeline_entry_response(entry: Entry) -> TimelineEntryResponse:
    at, _ = cursor_of(entry)
    if isinstance(entry, ListedRun):
        return TimelineEntryResponse(at=at, kind="run", run=run_response(entry))
    if isinstance(entry, AuditRecord):
        return TimelineEntryResponse(at=at, kind="act", act=audit_entry_response(entry))
    return TimelineEntryResponse(at=at, kind="session", session=session_response(entry))
