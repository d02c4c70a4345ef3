"""What happened to a job: runs, acts and sessions, merged by time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from cadenza.application.ports.records import AuditRecord, AuditSearch, Records, SessionSearch
from cadenza.application.ports.run_search import ListedRun, RunReads, RunSearch
from cadenza.application.ports.search_result import SearchResult, TimeCursor
from cadenza.domain.session import Session

Entry = ListedRun | AuditRecord | Session


@dataclass(frozen=True, slots=True)
class Span:
    from_at: datetime | None = None
    to_at: datetime | None = None
    after: TimeCursor | None = None
    limit: int = 50


async def job_timeline(
    runs: RunReads, records: Records, tenant_id: UUID, job_id: UUID, span: Span
) -> SearchResult[Entry]:
    """Newest first. Each kind is asked for a page; what one has not reached is for the next."""
    began, end, after, limit = span.from_at, span.to_at, span.after, span.limit
    some_runs = RunSearch(job_id=job_id, from_at=began, to_at=end, after=after, limit=limit)
    some_acts = AuditSearch(from_at=began, to_at=end, after=after, limit=limit)
    sessions = SessionSearch(job_id=job_id, from_at=began, to_at=end, after=after, limit=limit)
    pages = (
        await runs.search_runs(tenant_id, some_runs),
        await records.audit_of_job(tenant_id, job_id, some_acts),
        await records.search_sessions(tenant_id, sessions),
    )
    return _merged(pages, span.limit)


def _merged(
    pages: Sequence[SearchResult[ListedRun] | SearchResult[AuditRecord] | SearchResult[Session]],
    limit: int,
) -> SearchResult[Entry]:
    stops = [page.reached for page in pages if page.reached is not None]
    known_to = max(stops, default=None)  # before this, one of the kinds may have more
    entries = sorted((each for page in pages for each in page.items), key=place_of, reverse=True)
    known = [each for each in entries if known_to is None or place_of(each) >= known_to]
    if len(known) > limit:
        return SearchResult(known[:limit], place_of(known[limit - 1]))
    return SearchResult(known, known_to)


def place_of(entry: Entry) -> TimeCursor:
    if isinstance(entry, ListedRun):
        return entry.slot_at, entry.id
    return (entry.at if isinstance(entry, AuditRecord) else entry.started_at), entry.id
