"""What a planner reads and leaves behind."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from itertools import islice, takewhile
from uuid import UUID

from cadenza.adapters.memory.responses import response_of
from cadenza.adapters.memory.tables import EndpointRow, Tables
from cadenza.domain.analysis import (
    Attention,
    Facts,
    LastAnalysis,
    Material,
    Response,
    SiblingState,
    reason_to_look,
)
from cadenza.domain.health import WINDOWS, health_of
from cadenza.domain.instants import latest
from cadenza.domain.run import Run, RunStatus
from cadenza.domain.session import Session


class MemoryInsights:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def find_for_analysis(
        self, attention: Attention, limit: int, without: Collection[UUID] = ()
    ) -> Sequence[UUID]:
        now = self._tables.clock.now()
        found: list[tuple[bool, UUID]] = []
        for row in self._tables.endpoints.values():
            if row.endpoint.archived_at is not None or row.endpoint.tenant_id in without:
                continue
            facts = self._facts(row, attention)
            if reason_to_look(facts, attention, now) is not None:
                changed = row.changed_at is not None and row.changed_at == facts.last_finished_at
                found.append((not changed, row.endpoint.id))
        found.sort(key=lambda each: each[0])
        return [endpoint_id for _, endpoint_id in found[:limit]]

    async def material_for(self, endpoint_ids: Sequence[UUID]) -> Sequence[Material]:
        return [self._material(self._tables.endpoints[each]) for each in endpoint_ids]

    async def responses(
        self, endpoint_id: UUID, *, limit: int, offset: int = 0
    ) -> Sequence[Response]:
        newest = islice(self._newest_first(endpoint_id), offset, offset + limit)
        return [response_of(run) for run in newest]

    async def siblings(self, endpoint_id: UUID) -> Sequence[SiblingState]:
        rows = self._tables.siblings_of(self._tables.endpoints[endpoint_id].endpoint)
        return [SiblingState(row.endpoint, _latest(row)) for row in rows]

    async def record_look(self, session: Session) -> None:
        self._tables.last_looks[session.endpoint_id] = session
        if session.worth_keeping:
            self._tables.sessions.append(session)
        else:
            self._tables.idle_looks += 1

    # --- Parts ----------------------------------------------------------------------------

    def _material(self, row: EndpointRow) -> Material:
        endpoint, now = row.endpoint, self._tables.clock.now()
        look = self._tables.last_looks.get(endpoint.id)
        siblings = sorted(
            self._tables.siblings_of(endpoint), key=lambda sibling: sibling.endpoint.name
        )
        return Material(
            now=now,
            endpoint=endpoint,
            job=self._tables.jobs[endpoint.job_id],
            health=health_of(self._recent(endpoint.id, now), endpoint.failure_count, now),
            sibling_names=tuple(each.endpoint.name for each in siblings),
            last_analysis=LastAnalysis(look.started_at, look.reasoning) if look else None,
            recent=tuple(row.recent),
            siblings=tuple(_recent_state(each) for each in siblings),
        )

    def _facts(self, row: EndpointRow, attention: Attention) -> Facts:
        cares = attention is not Attention.OWN_RUNS
        siblings = self._tables.siblings_of(row.endpoint) if cares else []
        look = self._tables.last_looks.get(row.endpoint.id)
        return Facts(
            last_finished_at=_finished_at(row),
            last_failed_at=row.last_failed_at,
            sibling_finished_at=latest(*(_finished_at(each) for each in siblings)),
            sibling_changed_at=latest(*(each.changed_at for each in siblings)),
            asked_at=row.asked_at,
            looked_at=look.started_at if look else None,
            next_analysis_at=look.next_analysis_at if look else None,
        )

    def _newest_first(self, endpoint_id: UUID) -> Iterator[Run]:
        for run_id in reversed(self._tables.runs_of[endpoint_id]):
            run = self._tables.runs[run_id]
            if run.status is not RunStatus.RUNNING:
                yield run

    def _recent(self, endpoint_id: UUID, now: datetime) -> Iterator[Run]:
        oldest = now - WINDOWS[-1]
        return takewhile(
            lambda run: run.finished_at is not None and run.finished_at > oldest,
            self._newest_first(endpoint_id),
        )


def _finished_at(row: EndpointRow) -> datetime | None:
    return row.latest.finished_at if row.latest else None


def _latest(row: EndpointRow) -> Response | None:
    return response_of(row.latest) if row.latest else None


def _recent_state(row: EndpointRow) -> SiblingState:
    return SiblingState(row.endpoint, row.recent[0] if row.recent else None)
