"""What a planner reads and leaves behind."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from itertools import islice
from operator import itemgetter
from typing import NamedTuple
from uuid import UUID

from cadenza.adapters.memory.responses import response_of
from cadenza.adapters.memory.suggestions import waiting_calls
from cadenza.adapters.memory.tables import AnalysisState, EndpointRow, KnownHealth, Tables
from cadenza.application.ports.analysis_queue import AnalysisRequest
from cadenza.domain.analysis import (
    AnalysisContext,
    Facts,
    LastAnalysis,
    Response,
    SiblingState,
    Waiting,
    reason_to_analyse,
)
from cadenza.domain.health import WINDOWS, Health, health_of
from cadenza.domain.instants import FOREVER
from cadenza.domain.rule import Mode
from cadenza.domain.run import Run, RunStatus
from cadenza.domain.session import Session


class _Members(NamedTuple):
    """The endpoints of a job, by name."""

    names: tuple[str, ...]
    states: tuple[SiblingState, ...]
    mode: Mode

    def without(self, name: str) -> tuple[tuple[str, ...], tuple[SiblingState, ...]]:
        names, states = self.names, self.states
        if name not in names:  # it is archived
            return names, states
        at = names.index(name)
        return names[:at] + names[at + 1 :], states[:at] + states[at + 1 :]


class _News(NamedTuple):
    """When anything last ran, and changed, in a job: the newest two, for one may be the asker."""

    mode: Mode
    finished: Sequence[tuple[datetime, EndpointRow]]
    changed: Sequence[tuple[datetime, EndpointRow]]


class MemoryAnalysisQueue:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def claim_for_analysis(self, request: AnalysisRequest) -> Sequence[UUID]:
        now = self._tables.clock.now()
        found = sorted(self._wanting(request, now), key=lambda each: each[0])
        ids = [endpoint_id for _, endpoint_id in found[: request.limit]]
        for endpoint_id in ids:
            look = self._look(endpoint_id, request.brain)
            look.leased_until, look.leased_by = now + request.lease, request.holder
        return ids

    def _wanting(self, request: AnalysisRequest, now: datetime) -> Iterator[tuple[bool, UUID]]:
        """Whether its state is as it was, so that those that changed come first."""
        news_of = cache(self._news)
        for row in self._rows_since(request.since):
            endpoint = row.endpoint
            if endpoint.archived_at is not None or endpoint.tenant_id in request.without:
                continue
            news = news_of(endpoint.job_id, request.brain)
            if news.mode is Mode.OFF:
                continue
            look = self._tables.looks.get((endpoint.id, request.brain))
            if look is not None and look.is_leased(now):
                continue
            facts = _facts(row, look, news)
            if reason_to_analyse(facts, request.attention, now) is not None:
                changed = row.changed_at is not None and row.changed_at == facts.last_finished_at
                yield not changed, endpoint.id

    def _rows_since(self, since: datetime | None) -> Iterable[EndpointRow]:
        rows = self._tables.endpoints.values()
        if since is None:
            return rows
        jobs = {
            row.endpoint.job_id
            for row in rows
            if any(at is not None and at > since for at in (_finished_at(row), row.asked_at))
        }
        return [row for row in rows if row.endpoint.job_id in jobs]

    async def contexts_for(
        self, endpoint_ids: Sequence[UUID], brain: str
    ) -> Sequence[AnalysisContext]:
        found = (self._tables.endpoints.get(each) for each in endpoint_ids)
        rows = [row for row in found if row is not None]
        members_of = cache(self._members)
        return [self._context(row, brain, members_of(row.endpoint.job_id, brain)) for row in rows]

    async def responses(
        self, endpoint_id: UUID, *, limit: int, offset: int = 0
    ) -> Sequence[Response]:
        newest = islice(self._newest_first(endpoint_id), offset, offset + limit)
        return [response_of(run) for run in newest]

    async def siblings(self, endpoint_id: UUID) -> Sequence[SiblingState]:
        rows = self._tables.siblings_of(self._tables.endpoints[endpoint_id].endpoint)
        return [SiblingState(row.endpoint, _latest(row)) for row in rows]

    async def record_analyses(self, sessions: Sequence[Session], holder: str) -> None:
        for session in sessions:
            look = self._look(session.endpoint_id, session.kind)
            look.last = session
            if session.fired or look.fired_at:
                look.fired_at = self._fired_at(look, session)
            if session.worth_keeping:
                self._tables.sessions.append(session)
            else:
                self._tables.idle_looks += 1
            look.release(holder)

    async def release(self, endpoint_ids: Sequence[UUID], brain: str, holder: str) -> None:
        for endpoint_id in endpoint_ids:
            self._look(endpoint_id, brain).release(holder)

    # --- Parts ----------------------------------------------------------------------------

    def _look(self, endpoint_id: UUID, brain: str) -> AnalysisState:
        return self._tables.looks.setdefault((endpoint_id, brain), AnalysisState())

    def _fired_at(self, look: AnalysisState, session: Session) -> dict[str, datetime]:
        """Without the rules that their owner has taken out of the job."""
        job = self._tables.jobs.get(session.job_id)
        declared = {rule.name for rule in job.rules} if job is not None else set[str]()
        known = look.fired_at | dict.fromkeys(session.fired, session.started_at)
        return {rule: at for rule, at in known.items() if rule in declared}

    def _mode(self, job_id: UUID, brain: str) -> Mode:
        job = self._tables.jobs[job_id]
        return job.planner_mode or self._tables.modes[job.tenant_id].of(brain)

    def _members(self, job_id: UUID, brain: str) -> _Members:
        """Read once for all that ask for their siblings."""
        states = map(_recent_state, self._tables.members_of(job_id))
        by_name = tuple(sorted(states, key=lambda each: each.endpoint.name))
        names = tuple(each.endpoint.name for each in by_name)
        return _Members(names, by_name, self._mode(job_id, brain))

    def _context(self, row: EndpointRow, brain: str, members: _Members) -> AnalysisContext:
        endpoint, now = row.endpoint, self._tables.clock.now()
        look = self._tables.looks.get((endpoint.id, brain)) or AnalysisState()
        names, siblings = members.without(endpoint.name)
        last, mode = look.last, members.mode
        return AnalysisContext(
            now=now,
            endpoint=endpoint,
            job=self._tables.jobs[endpoint.job_id],
            health=self._health(row, now),
            sibling_names=names,
            last_analysis=LastAnalysis(last.started_at, last.reasoning) if last else None,
            recent=row.recent,
            siblings=siblings,
            mode=mode,
            fired_at=dict(look.fired_at),
            waiting=self._waiting(endpoint.id, brain) if mode is Mode.ADVISE else (),
        )

    def _waiting(self, endpoint_id: UUID, brain: str) -> tuple[Waiting, ...]:
        calls = waiting_calls(self._tables, endpoint_id, brain)
        return tuple(Waiting(call.tool, call.arguments) for call in calls)

    def _news(self, job_id: UUID, brain: str) -> _News:
        """Read once for all that ask for their siblings."""
        members = self._tables.members_of(job_id)
        return _News(
            self._mode(job_id, brain),
            _newest_two((_finished_at(each), each) for each in members),
            _newest_two((each.changed_at, each) for each in members),
        )

    def _newest_first(self, endpoint_id: UUID) -> Iterator[Run]:
        for run_id in reversed(self._tables.runs_of[endpoint_id]):
            run = self._tables.runs[run_id]
            if run.status is not RunStatus.RUNNING:
                yield run

    def _health(self, row: EndpointRow, now: datetime) -> Health:
        """Siblings are looked at ten times as often as they run, and it is the same until then."""
        if row.health is None or not row.health.holds(row, now):
            runs = self._recent(row.endpoint.id, now)
            health = health_of(runs, row.endpoint.failure_count, now)
            row.health = KnownHealth(health, row.latest, _first_leaves_at(runs, now))
        return row.health.health

    def _recent(self, endpoint_id: UUID, now: datetime) -> list[Run]:
        oldest, found = now - WINDOWS[-1], list[Run]()
        for run in self._newest_first(endpoint_id):
            if run.finished_at is None or run.finished_at <= oldest:
                break
            found.append(run)
        return found


def _first_leaves_at(runs: Sequence[Run], now: datetime) -> datetime:
    """When the first of them is too old for a window that it is in now."""
    ends = [run.finished_at for run in runs if run.finished_at is not None]
    leaving = [ended_at + each for each in WINDOWS for ended_at in ends if ended_at + each > now]
    return min(leaving, default=FOREVER)


def _finished_at(row: EndpointRow) -> datetime | None:
    return row.latest.finished_at if row.latest else None


def _newest_two(
    told: Iterable[tuple[datetime | None, EndpointRow]],
) -> list[tuple[datetime, EndpointRow]]:
    known = [(at, row) for at, row in told if at is not None]
    return sorted(known, key=itemgetter(0), reverse=True)[:2]


def _of_siblings(
    newest: Sequence[tuple[datetime, EndpointRow]], row: EndpointRow
) -> datetime | None:
    return next((at for at, each in newest if each is not row), None)


def _facts(row: EndpointRow, look: AnalysisState | None, news: _News) -> Facts:
    last = look.last if look is not None else None
    return Facts(
        last_finished_at=_finished_at(row),
        last_failed_at=row.last_failed_at,
        sibling_finished_at=_of_siblings(news.finished, row),
        sibling_changed_at=_of_siblings(news.changed, row),
        asked_at=row.asked_at,
        looked_at=last.started_at if last else None,
        next_analysis_at=last.next_analysis_at if last else None,
    )


def _latest(row: EndpointRow) -> Response | None:
    return response_of(row.latest) if row.latest else None


def _recent_state(row: EndpointRow) -> SiblingState:
    return SiblingState(row.endpoint, row.recent[0] if row.recent else None)
