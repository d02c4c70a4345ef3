"""The audit log as a file: a line of JSON, or a row, for each entry; as a stream."""

import csv
import json
from collections.abc import AsyncGenerator, Sequence
from enum import StrEnum
from io import StringIO
from typing import Annotated

from fastapi import Query
from starlette.responses import Response, StreamingResponse

from cadenza.application.audit_export import exported_pages
from cadenza.application.ports.records import AuditRecord, AuditSearch
from cadenza.domain.csv_cell import csv_cell
from cadenza.domain.instants import iso
from cadenza.web.api.access import Admin, ApiDependencies
from cadenza.web.api.parsing.query import Action, Actor, From, To, check_order
from cadenza.web.api.routes import router

routes = router("Records")
COLUMNS = ("id", "at", "actor", "action", "subject", "data")


class ExportFormat(StrEnum):
    NDJSON = "ndjson"
    CSV = "csv"


_MEDIA_TYPES = {ExportFormat.NDJSON: "application/x-ndjson", ExportFormat.CSV: "text/csv"}
_FILE = {
    "description": "Entries, newest first; with format=csv a header, and a row for each.",
    "content": {media_type: {"schema": {"type": "string"}} for media_type in _MEDIA_TYPES.values()},
}


@routes.get("/audit/export", response_class=Response, responses={200: _FILE})
async def export_audit(
    caller: Admin,
    dependencies: ApiDependencies,
    format: Annotated[ExportFormat, Query()] = ExportFormat.NDJSON,  # noqa: A002 - as it is sent
    actor: Actor = None,
    action: Action = None,
    from_at: From = None,
    to: To = None,
) -> Response:
    """The whole log, or a part of it, newest first. The export itself is an entry, too."""
    check_order(from_at, to)
    search = AuditSearch(from_at, to, actor=actor, action=action)
    reads = dependencies.reads
    pages = exported_pages(reads.store, reads.records, caller, search, format)
    first = await anext(pages)  # what goes wrong here is still an answer
    return StreamingResponse(
        _pieces(first, pages, format),
        media_type=_MEDIA_TYPES[format],
        headers={"Content-Disposition": f'attachment; filename="audit.{format}"'},
    )


async def _pieces(
    first: Sequence[AuditRecord],
    pages: AsyncGenerator[Sequence[AuditRecord]],
    form: ExportFormat,
) -> AsyncGenerator[str]:
    write = _rows if form is ExportFormat.CSV else _lines
    if form is ExportFormat.CSV:
        yield ",".join(COLUMNS) + "\r\n"
    yield write(first)
    async for page in pages:
        yield write(page)


def _lines(entries: Sequence[AuditRecord]) -> str:
    lines = (json.dumps(_fields(entry), ensure_ascii=False) for entry in entries)
    return "".join(f"{line}\n" for line in lines)


def _rows(entries: Sequence[AuditRecord]) -> str:
    text = StringIO()
    writer = csv.writer(text)
    for entry in entries:
        fields = _fields(entry)
        fields["data"] = json.dumps(fields["data"], ensure_ascii=False)
        writer.writerow([csv_cell(str(fields[column])) for column in COLUMNS])
    return text.getvalue()


def _fields(entry: AuditRecord) -> dict[str, object]:
    return {
        "id": entry.id.int,
        "at": iso(entry.at),
        "actor": entry.actor,
        "action": entry.action,
        "subject": entry.subject,
        "data": entry.data,
    }
