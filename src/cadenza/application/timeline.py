"""The timeline of a job: runs, people's actions and sessions, merged by time."""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from cadenza.application.ports.records import AuditRecord, AuditSearch, Records, SessionSearch
from cadenza.application.ports.run_search import ListedRun, RunReads, RunSearch
from cadenza.application.ports.search_result import SearchResult, Span, TimeCursor
from cadenza.domain.session import Session

Entry = ListedRun | AuditRecord | Session


async def job_timeline(
    runs: RunReads, records: Records, tenant_id: UUID, job_id: UUID, span: Span
) -> SearchResult[Entry]:
    """Newest first. Every kind is read a page at a time; the next page begins where the shortest
    one ended."""
    within = asdict(span)
    pages = (
        await runs.search_runs(tenant_id, RunSearch(job_id=job_id, **within)),
        await records.audit_of_job(tenant_id, job_id, AuditSearch(**within)),
        await records.search_sessions(tenant_id, SessionSearch(job_id=job_id, **within)),
    )
    stops = [page.reached for page in pages if page.reached is not None]
    known_to = max(stops, default=None)  # before this, one of the kinds may have more
    entries = sorted((item for page in pages for item in page.items), key=cursor_of, reverse=True)
    known = [entry for entry in entries if known_to is None or cursor_of(entry) >= known_to]
    if len(known) > span.limit:
        page = known[: span.limit]
        return SearchResult(_counted(page), cursor_of(page[-1]))
    return SearchResult(_counted(known), known_to)


def _counted(entries: Sequence[Entry]) -> list[Entry]:
    """Consecutive sessions of an endpoint with the same refusal become one entry, in the newest
    one's place."""
    counted: list[Entry] = []
    newest: dict[tuple[UUID, str], int] = {}  # by endpoint and brain: its last entry
    for entry in entries:
        if isinstance(entry, Session):
            key = (entry.endpoint_id, entry.brain)
            later = counted[newest[key]] if key in newest else None
            if isinstance(later, Session) and entry.refused and later.refused == entry.refused:
                counted[newest[key]] = later.with_earlier(entry)
                continue
            newest[key] = len(counted)
        counted.append(entry)
    return counted


def cursor_of(entry: Entry) -> TimeCursor:
    if isinstance(entry, ListedRun):
        return entry.slot_at, entry.id
    return (entry.at if isinstance(entry, AuditRecord) else entry.started_at), entry.id
