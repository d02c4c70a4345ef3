"""One search over jobs, endpoints, failed runs and sessions; runs and sessions of the last days."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.ports.catalogue import (
    EndpointName,
    EndpointReads,
    EndpointSearch,
    JobReads,
    JobSearch,
    StoredEndpoint,
    StoredJob,
)
from cadenza.application.ports.records import Records, SessionSearch
from cadenza.application.ports.run_search import ListedRun, RunReads, RunSearch
from cadenza.domain.session import Session

LOOKED_BACK = timedelta(days=7)
_STATUS_CODES = range(100, 1000)


@dataclass(frozen=True, slots=True)
class SearchMatches:
    jobs: Sequence[StoredJob]
    endpoints: Sequence[StoredEndpoint]
    runs: Sequence[ListedRun]
    sessions: Sequence[Session]
    names: Mapping[UUID, EndpointName]  # of the endpoints of runs and sessions
    since_at: datetime  # runs and sessions are looked for from here on


@dataclass(frozen=True, slots=True)
class Search:
    jobs: JobReads
    endpoints: EndpointReads
    runs: RunReads
    records: Records

    async def everywhere(
        self, tenant_id: UUID, text: str, now: datetime, limit: int
    ) -> SearchMatches:
        """Finds a part of a name, description, address, error or reasoning, or a status code. Each
        kind is bounded as its own list is."""
        since_at = now - LOOKED_BACK
        jobs = await self.jobs.list_jobs(tenant_id, JobSearch(search=text, limit=limit))
        endpoints = await self.endpoints.list_endpoints(
            tenant_id, EndpointSearch(search=text, limit=limit)
        )
        runs = await self.runs.search_runs(tenant_id, _run_search(text, since_at, limit))
        sessions = await self.records.search_sessions(
            tenant_id, SessionSearch(since_at, limit=limit, search=text)
        )
        ids = {row.endpoint_id for row in (*runs.items, *sessions.items)}
        names = await self.endpoints.endpoint_names(tenant_id, ids)
        return SearchMatches(jobs, endpoints, runs.items, sessions.items, names, since_at)


def _run_search(text: str, since_at: datetime, limit: int) -> RunSearch:
    is_number = text.isascii() and text.isdigit() and len(text) == 3
    if is_number and int(text) in _STATUS_CODES:
        return RunSearch(since_at, limit=limit, status_code=int(text))
    return RunSearch(since_at, limit=limit, error=text)
