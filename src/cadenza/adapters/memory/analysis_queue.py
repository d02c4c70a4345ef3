"""Which endpoints need an analysis. Why one does is decided in domain/analysis.py."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from itertools import islice
from operator import itemgetter
from typing import NamedTuple
from uuid import UUID

from cadenza.adapters.memory.rows import AnalysisRow, EndpointRow
from cadenza.adapters.memory.run_reads import ended_runs, ending_of, health_now, response_of
from cadenza.adapters.memory.tables import OverTables, Tables
from cadenza.application.ports.analysis_queue import AnalysisRequest
from cadenza.domain.analysis import (
    AnalysisContext,
    AnalysisReason,
    Facts,
    LastAnalysis,
    Response,
    SiblingState,
    Waiting,
    reason_to_analyse,
)
from cadenza.domain.instants import latest
from cadenza.domain.target import only_reads
from cadenza.domain.track_record import Ending

_NEVER = AnalysisRow()
_Candidate = tuple[tuple[bool, bool], UUID, AnalysisReason]


class _News(NamedTuple):
    """When anything last ran, or changed its state, in a job: the newest two, for one may be the
    asker."""

    is_wanted: bool
    min_gap: timedelta
    finished: Sequence[tuple[datetime, EndpointRow]]
    changed: Sequence[tuple[datetime, EndpointRow]]


class MemoryAnalysisQueue(OverTables):
    async def claim_for_analysis(self, request: AnalysisRequest) -> Mapping[UUID, AnalysisReason]:
        now, analyses = self._tables.clock.now(), self._tables.analyses
        candidates = sorted(self._candidates(request, now), key=itemgetter(0))
        reasons = {endpoint_id: reason for _, endpoint_id, reason in candidates[: request.limit]}
        for endpoint_id in reasons:
            key = (endpoint_id, request.brain)
            analyses[key] = replace(
                analyses.get(key, _NEVER),
                leased_until=now + request.lease,
                leased_by=request.holder,
            )
        return reasons

    def _candidates(self, request: AnalysisRequest, now: datetime) -> Iterator[_Candidate]:
        """What people ask for first, then what answered other than before."""
        news_of = cache(self._news)
        for row in self._rows_since(request.since):
            endpoint = row.endpoint
            if endpoint.archived_at is not None:
                continue
            if not request.without.isdisjoint((endpoint.tenant_id, endpoint.job_id)):
                continue
            news = news_of(endpoint.job_id, request.brain)
            if not news.is_wanted:
                continue
            analysis = self._tables.analyses.get((endpoint.id, request.brain), _NEVER)
            if analysis.is_leased(now):
                continue
            facts = _facts(row, analysis, news)
            reason = reason_to_analyse(facts, request.attention, now)
            if reason is not None:
                has_changed = row.changed_at is not None and row.changed_at == row.last_finished_at
                yield (reason is not AnalysisReason.ASKED, not has_changed), endpoint.id, reason

    def _rows_since(self, since: datetime | None) -> Iterable[EndpointRow]:
        rows = self._tables.endpoints.values()
        if since is None:
            return rows
        jobs = {
            row.endpoint.job_id
            for row in rows
            if any(at is not None and at > since for at in (row.last_finished_at, row.asked_at))
        }
        return [row for row in rows if row.endpoint.job_id in jobs]

    def _news(self, job_id: UUID, brain: str) -> _News:
        """Read once for all that ask for their siblings."""
        members = self._tables.members_of(job_id)
        return _News(
            self._tables.modes_of(job_id).lets(brain),
            self._tables.jobs[job_id].job.planner.min_gap,
            _newest_two((row.last_finished_at, row) for row in members),
            _newest_two((latest(row.steered_at, row.streak_changed_at), row) for row in members),
        )

    async def contexts_for(
        self, endpoint_ids: Sequence[UUID], brain: str
    ) -> Sequence[AnalysisContext]:
        reader = _ContextReader(self._tables, brain)
        rows = (self._tables.endpoints.get(endpoint_id) for endpoint_id in endpoint_ids)
        return [reader.context_of(row) for row in rows if row is not None]

    async def responses(
        self, endpoint_id: UUID, *, limit: int, offset: int = 0
    ) -> Sequence[Response]:
        newest = islice(ended_runs(self._tables, endpoint_id), offset, offset + limit)
        return [response_of(run) for run in newest]

    async def siblings(
        self, endpoint_id: UUID, *, limit: int, offset: int = 0
    ) -> Sequence[SiblingState]:
        row = self._tables.endpoints.get(endpoint_id)
        siblings = self._tables.siblings_of(row.endpoint) if row is not None else []
        by_name = sorted(siblings, key=lambda row: row.endpoint.name)
        return [
            SiblingState(row.endpoint, response_of(row.latest) if row.latest else None)
            for row in by_name[offset : offset + limit]
        ]

    async def endings(self, endpoint_id: UUID, limit: int) -> Sequence[Ending]:
        return [ending_of(run) for run in islice(ended_runs(self._tables, endpoint_id), limit)]

    async def release(self, endpoint_ids: Sequence[UUID], brain: str, holder: str) -> None:
        analyses = self._tables.analyses
        for endpoint_id in endpoint_ids:
            analysis = analyses.get((endpoint_id, brain), _NEVER)
            if analysis.leased_by == holder:
                freed = replace(analysis, leased_until=None, leased_by=None)
                analyses[endpoint_id, brain] = freed


def _facts(row: EndpointRow, analysis: AnalysisRow, news: _News) -> Facts:
    return Facts(
        last_finished_at=row.last_finished_at,
        last_failed_at=row.last_failed_at,
        streak_changed_at=row.streak_changed_at,
        sibling_finished_at=_of_siblings(news.finished, row),
        sibling_changed_at=_of_siblings(news.changed, row),
        asked_at=row.asked_at,
        looked_at=analysis.analysed_at,
        next_analysis_at=analysis.next_analysis_at,
        streak_looked_at=analysis.streak_looked_at,
        failed_looks=analysis.failed_looks,
        min_gap=news.min_gap,
    )


def _newest_two(
    instants: Iterable[tuple[datetime | None, EndpointRow]],
) -> list[tuple[datetime, EndpointRow]]:
    known = [(at, row) for at, row in instants if at is not None]
    return sorted(known, key=itemgetter(0), reverse=True)[:2]


def _of_siblings(
    newest: Sequence[tuple[datetime, EndpointRow]], row: EndpointRow
) -> datetime | None:
    return next((at for at, other in newest if other is not row), None)


class _ContextReader:
    """For one brain. The endpoints of a job are read once for all that ask for their siblings."""

    def __init__(self, tables: Tables, brain: str) -> None:
        self._tables = tables
        self._brain = brain
        self._members_of = cache(self._read_members)

    def context_of(self, row: EndpointRow) -> AnalysisContext:
        tables, endpoint = self._tables, row.endpoint
        analysis = tables.analyses.get((endpoint.id, self._brain), _NEVER)
        members = self._members_of(endpoint.job_id)
        siblings = tuple(state for state in members if state.endpoint is not endpoint)
        at = analysis.analysed_at
        return AnalysisContext(
            now=tables.clock.now(),
            endpoint=endpoint,
            job=tables.jobs[endpoint.job_id].job,
            health=health_now(tables, row),
            sibling_names=tuple(state.endpoint.name for state in siblings),
            last_analysis=LastAnalysis(at, analysis.reasoning) if at is not None else None,
            recent=row.recent,
            siblings=siblings,
            modes=tables.modes_of(endpoint.job_id),
            fired_at=analysis.fired,
            waiting=tuple(self._waiting(endpoint.id)),
            failed_looks=analysis.failed_looks,
            memory=analysis.memory,
            only_reads=only_reads(row.target),
        )

    def _read_members(self, job_id: UUID) -> Sequence[SiblingState]:
        rows = sorted(self._tables.members_of(job_id), key=lambda row: row.endpoint.name)
        return [
            SiblingState(
                row.endpoint,
                row.recent[0] if row.recent else None,
                self._tables.analyses.get((row.endpoint.id, self._brain), _NEVER).memory,
            )
            for row in rows
        ]

    def _waiting(self, endpoint_id: UUID) -> Iterator[Waiting]:
        """What this brain suggested about an endpoint and nobody has accepted."""
        now = self._tables.clock.now()
        for session in self._tables.sessions.values():
            if session.endpoint_id == endpoint_id and session.kind == self._brain:
                calls = [call for call in session.tool_calls if call.is_open(now)]
                yield from (Waiting(call.tool, call.arguments) for call in calls)
