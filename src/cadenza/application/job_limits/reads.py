"""Reads for a person whose role is for single jobs. Lists are narrowed in the store's own query;
what is read by its id is checked, and does not exist for them where it is of another job."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cadenza.application.job_limits.guard import OF_WHOLE_TENANT, Guard
from cadenza.application.ports.activity import (
    Activity,
    ActivityReads,
    ActivitySearch,
    DayOfSessions,
    StateCounts,
)
from cadenza.application.ports.catalogue import (
    EndpointName,
    EndpointReads,
    EndpointSearch,
    JobReads,
    JobSearch,
    StoredEndpoint,
    StoredJob,
)
from cadenza.application.ports.ids import IdKind, IdReads
from cadenza.application.ports.notifications import IncidentSearch, NotificationReads
from cadenza.application.ports.records import AuditRecord, AuditSearch, Records, SessionSearch
from cadenza.application.ports.run_search import (
    LatestAnswers,
    ListedRun,
    RunInFull,
    RunReads,
    RunSearch,
)
from cadenza.application.ports.score import Lanes, LaneSearch, ScoreReads
from cadenza.application.ports.search_result import SearchResult
from cadenza.application.ports.steering_history import NamedEntry, SteeringReads, SteeringSearch
from cadenza.application.ports.suggestions import LedTo, SuggestionReads
from cadenza.domain.analysis import AnalysisState
from cadenza.domain.errors import NotAllowed, NotFound
from cadenza.domain.health import Health
from cadenza.domain.incident import Incident
from cadenza.domain.people import MOST_JOBS
from cadenza.domain.run import Body
from cadenza.domain.session import Session
from cadenza.domain.suggestion import Suggestion


def narrowed(guard: Guard, job_ids: Collection[UUID] | None) -> frozenset[UUID] | None:
    """Of the requested jobs, those that the caller may see."""
    if job_ids is None:
        return guard.limits.readable
    return frozenset(guard.readable_of(job_ids))


class Refusing:
    """A port that concerns the whole tenant: every call is refused."""

    def __getattr__(self, verb: str) -> Any:
        raise NotAllowed(OF_WHOLE_TENANT)


@dataclass(frozen=True, slots=True)
class LimitedCatalogue:
    jobs: JobReads
    endpoints: EndpointReads
    guard: Guard

    async def list_jobs(self, tenant_id: UUID, search: JobSearch) -> Sequence[StoredJob]:
        own = replace(search, job_ids=self.guard.limits.readable)
        return await self.jobs.list_jobs(tenant_id, own)

    async def get_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        self.guard.check_readable(job_id)
        return await self.jobs.get_job(tenant_id, job_id)

    async def list_endpoints(
        self, tenant_id: UUID, search: EndpointSearch
    ) -> Sequence[StoredEndpoint]:
        own = replace(search, job_ids=self.guard.limits.readable)
        return await self.endpoints.list_endpoints(tenant_id, own)

    async def matching_ids(
        self, tenant_id: UUID, search: EndpointSearch, limit: int
    ) -> Sequence[UUID]:
        own = replace(search, job_ids=self.guard.limits.readable)
        return await self.endpoints.matching_ids(tenant_id, own, limit)

    async def get_endpoint(
        self, tenant_id: UUID, endpoint_id: UUID, *, with_secrets: bool = False
    ) -> StoredEndpoint:
        """With its secrets it can be called, and that is more than looking."""
        stored = await self.endpoints.get_endpoint(tenant_id, endpoint_id)
        missing = f"no endpoint {endpoint_id}"
        if not with_secrets:
            self.guard.check_readable(stored.endpoint.job_id, missing)
            return stored
        self.guard.check_operable(stored.endpoint.job_id, missing)
        return await self.endpoints.get_endpoint(tenant_id, endpoint_id, with_secrets=True)

    async def endpoint_names(
        self, tenant_id: UUID, endpoint_ids: Collection[UUID]
    ) -> Mapping[UUID, EndpointName]:
        names = await self.endpoints.endpoint_names(tenant_id, endpoint_ids)
        return {own: name for own, name in names.items() if self.guard.is_readable(name.job_id)}

    async def check_endpoint(self, tenant_id: UUID, endpoint_id: UUID) -> None:
        if endpoint_id not in await self.endpoint_names(tenant_id, [endpoint_id]):
            raise NotFound(f"no endpoint {endpoint_id}")


@dataclass(frozen=True, slots=True)
class LimitedRuns:
    runs: RunReads
    catalogue: LimitedCatalogue

    async def search_runs(self, tenant_id: UUID, search: RunSearch) -> SearchResult[ListedRun]:
        own = replace(search, job_ids=self.catalogue.guard.limits.readable)
        return await self.runs.search_runs(tenant_id, own)

    async def get_run(self, tenant_id: UUID, run_id: UUID) -> RunInFull:
        run = await self.runs.get_run(tenant_id, run_id)
        self.catalogue.guard.check_readable(run.around.job_id, f"no run {run_id}")
        return run

    async def health_of(self, tenant_id: UUID, endpoint_id: UUID) -> Health:
        await self.catalogue.check_endpoint(tenant_id, endpoint_id)
        return await self.runs.health_of(tenant_id, endpoint_id)


@dataclass(frozen=True, slots=True)
class LimitedAnswers:
    answers: LatestAnswers
    catalogue: LimitedCatalogue

    async def latest_answers(
        self, tenant_id: UUID, jobs: Sequence[str]
    ) -> Mapping[str, Mapping[str, Body]]:
        stored = await self.catalogue.list_jobs(tenant_id, JobSearch(limit=MOST_JOBS))
        own = {row.job.name for row in stored}
        return await self.answers.latest_answers(tenant_id, [name for name in jobs if name in own])


@dataclass(frozen=True, slots=True)
class LimitedRecords:
    records: Records
    catalogue: LimitedCatalogue

    async def search_sessions(
        self, tenant_id: UUID, search: SessionSearch
    ) -> SearchResult[Session]:
        own = replace(search, job_ids=self.catalogue.guard.limits.readable)
        return await self.records.search_sessions(tenant_id, own)

    async def get_session(self, tenant_id: UUID, session_id: UUID) -> Session:
        session = await self.records.get_session(tenant_id, session_id)
        self.catalogue.guard.check_readable(session.job_id, f"no session {session_id}")
        return session

    async def analyses_of(self, tenant_id: UUID, endpoint_id: UUID) -> Sequence[AnalysisState]:
        await self.catalogue.check_endpoint(tenant_id, endpoint_id)
        return await self.records.analyses_of(tenant_id, endpoint_id)

    async def search_audit(
        self, _tenant_id: UUID, _search: AuditSearch
    ) -> SearchResult[AuditRecord]:
        raise NotAllowed(OF_WHOLE_TENANT)

    async def audit_of_job(
        self, tenant_id: UUID, job_id: UUID, search: AuditSearch
    ) -> SearchResult[AuditRecord]:
        self.catalogue.guard.check_readable(job_id)
        return await self.records.audit_of_job(tenant_id, job_id, search)


@dataclass(frozen=True, slots=True)
class LimitedSuggestions:
    suggestions: SuggestionReads
    records: LimitedRecords

    async def open_suggestions(
        self, tenant_id: UUID, limit: int, job_ids: frozenset[UUID] | None = None
    ) -> Sequence[Suggestion]:
        own = narrowed(self.records.catalogue.guard, job_ids)
        return await self.suggestions.open_suggestions(tenant_id, limit, own)

    async def get_suggestion(
        self, tenant_id: UUID, session_id: UUID, call: int | None
    ) -> Suggestion:
        await self.records.get_session(tenant_id, session_id)
        return await self.suggestions.get_suggestion(tenant_id, session_id, call)

    async def runs_of_session(
        self, tenant_id: UUID, session_id: UUID, limit: int
    ) -> Sequence[LedTo]:
        await self.records.get_session(tenant_id, session_id)
        return await self.suggestions.runs_of_session(tenant_id, session_id, limit)


@dataclass(frozen=True, slots=True)
class LimitedSteering:
    steering: SteeringReads
    guard: Guard

    async def search_steering(
        self, tenant_id: UUID, search: SteeringSearch
    ) -> SearchResult[NamedEntry]:
        own = replace(search, job_ids=self.guard.limits.readable)
        return await self.steering.search_steering(tenant_id, own)

    async def steering_between(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime, per_endpoint: int
    ) -> Sequence[NamedEntry]:
        """For endpoints that were checked before."""
        return await self.steering.steering_between(endpoint_ids, from_at, to_at, per_endpoint)


class LimitedScores:
    """All methods but `lanes` are given endpoints that `lanes` or the catalogue has checked."""

    def __init__(self, scores: ScoreReads, guard: Guard) -> None:
        self._scores = scores
        self._guard = guard

    async def lanes(self, tenant_id: UUID, search: LaneSearch) -> Lanes:
        self._guard.check_readable(search.job_id)
        return await self._scores.lanes(tenant_id, search)

    def __getattr__(self, verb: str) -> Any:
        return getattr(self._scores, verb)


@dataclass(frozen=True, slots=True)
class LimitedActivity:
    activity: ActivityReads
    catalogue: LimitedCatalogue

    @property
    def guard(self) -> Guard:
        return self.catalogue.guard

    async def run_activity(self, tenant_id: UUID, search: ActivitySearch) -> Activity:
        if search.endpoint_id is not None:
            await self.catalogue.check_endpoint(tenant_id, search.endpoint_id)
        if search.job_id is not None:
            self.guard.check_readable(search.job_id)
        own = replace(search, job_ids=self.guard.limits.readable)
        return await self.activity.run_activity(tenant_id, own)

    async def job_strips(
        self, tenant_id: UUID, job_ids: Sequence[UUID], from_at: datetime, width: timedelta
    ) -> Mapping[UUID, Activity]:
        own = self.guard.readable_of(job_ids)
        return await self.activity.job_strips(tenant_id, own, from_at, width)

    async def count_states(
        self, tenant_id: UUID, job_id: UUID | None = None, job_ids: Collection[UUID] | None = None
    ) -> StateCounts:
        own = narrowed(self.guard, job_ids)
        if job_id is not None:
            own = frozenset(self.guard.readable_of([job_id]))
        return await self.activity.count_states(tenant_id, job_ids=own)

    async def states_of_jobs(
        self, tenant_id: UUID, job_ids: Sequence[UUID]
    ) -> Mapping[UUID, StateCounts]:
        return await self.activity.states_of_jobs(tenant_id, self.guard.readable_of(job_ids))

    async def sessions_by_day(
        self, tenant_id: UUID, since: datetime, job_ids: Collection[UUID] | None = None
    ) -> Sequence[DayOfSessions]:
        own = narrowed(self.guard, job_ids)
        return await self.activity.sessions_by_day(tenant_id, since, own)

    async def idle_looks(self, tenant_id: UUID, job_ids: Collection[UUID] | None = None) -> int:
        return await self.activity.idle_looks(tenant_id, narrowed(self.guard, job_ids))


class LimitedNotifications:
    """Incidents of the caller's jobs; channels, routes and webhooks are the tenant's."""

    def __init__(self, notifications: NotificationReads, guard: Guard) -> None:
        self._notifications = notifications
        self._guard = guard

    async def list_incidents(self, tenant_id: UUID, search: IncidentSearch) -> Sequence[Incident]:
        own = replace(search, job_ids=self._guard.limits.readable)
        return await self._notifications.list_incidents(tenant_id, own)

    async def get_incident(self, tenant_id: UUID, incident_id: UUID) -> Incident:
        incident = await self._notifications.get_incident(tenant_id, incident_id)
        if not self._guard.is_readable(incident.job_id):
            raise NotFound(f"no incident {incident_id}")
        return incident

    def __getattr__(self, verb: str) -> Any:
        raise NotAllowed(OF_WHOLE_TENANT)


@dataclass(frozen=True, slots=True)
class LimitedIds:
    ids: IdReads
    guard: Guard

    async def ids_between(
        self,
        tenant_id: UUID,
        kind: IdKind,
        first: UUID,
        last: UUID,
        limit: int,
        job_ids: Collection[UUID] | None = None,
    ) -> Sequence[UUID]:
        own = narrowed(self.guard, job_ids)
        return await self.ids.ids_between(tenant_id, kind, first, last, limit, own)
