"""Runs, as their owners and brains look for them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter
from uuid import UUID

from cadenza.adapters.memory.rows import EndpointRow, KnownHealth
from cadenza.adapters.memory.searching import contains, is_among, newest_first
from cadenza.adapters.memory.tables import OverTables, Tables
from cadenza.application.ports.run_search import ListedRun, RunAround, RunInFull, RunRef, RunSearch
from cadenza.application.ports.search_result import SearchResult
from cadenza.domain.analysis import LONGEST_RECENT_BODY, Response
from cadenza.domain.health import WINDOWS, Health, health_of
from cadenza.domain.instants import FOREVER
from cadenza.domain.run import Body, Run, RunStatus
from cadenza.domain.target import masking_secrets
from cadenza.domain.track_record import Ending

_listed_fields = attrgetter(*ListedRun._fields)


class MemoryRunReads(OverTables):
    async def search_runs(self, tenant_id: UUID, search: RunSearch) -> SearchResult[ListedRun]:
        runs = (
            run for run in self._tables.runs.values() if self._is_wanted(run, tenant_id, search)
        )
        matches = newest_first(runs, lambda run: (run.slot_at, run.id), search)
        listed = [ListedRun._make(_listed_fields(run)) for run in matches.items]
        return SearchResult(listed, matches.reached)

    def _is_wanted(self, run: Run, tenant_id: UUID, search: RunSearch) -> bool:
        job_id = self._tables.endpoints[run.endpoint_id].endpoint.job_id
        return (
            run.tenant_id == tenant_id
            and search.endpoint_id in (None, run.endpoint_id)
            and search.job_id in (None, job_id)
            and is_among(job_id, search.job_ids)
            and (not search.statuses or run.status in search.statuses)
            and (not search.sources or run.source in search.sources)
            and search.is_manual in (None, run.is_manual)
            and search.status_code in (None, run.status_code)
            and (search.error is None or _has_error(run, search.error))
        )

    async def get_run(self, tenant_id: UUID, run_id: UUID) -> RunInFull:
        run, tables = self._tables.run(tenant_id, run_id), self._tables
        lost, late = tables.lost_attempts.get(run_id, ()), tables.late_results.get(run_id, ())
        return RunInFull(run, lost, late, self._around(run))

    def _around(self, run: Run) -> RunAround:
        tables = self._tables
        row, slots = tables.endpoints[run.endpoint_id], tables.runs_of[run.endpoint_id]
        earlier = max((slot for slot in slots if slot < run.slot_at), default=None)
        later = min((slot for slot in slots if slot > run.slot_at), default=None)
        before, after = (
            _ref(tables.runs[slots[slot]]) if slot is not None else None
            for slot in (earlier, later)
        )
        job = tables.jobs[row.endpoint.job_id].job
        target = masking_secrets(row.target)
        names = (row.endpoint.name, job.id, job.name)
        return RunAround(*names, target, row.target_changed_at, before, after)

    async def health_of(self, tenant_id: UUID, endpoint_id: UUID) -> Health:
        return health_now(self._tables, self._tables.endpoint(tenant_id, endpoint_id))


def _has_error(run: Run, piece: str) -> bool:
    return contains(run.error_message, piece) or contains(run.error_kind, piece)


def _ref(run: Run) -> RunRef:
    return RunRef(run.id, run.slot_at, run.status)


class MemoryLatestAnswers(OverTables):
    async def latest_answers(
        self, tenant_id: UUID, jobs: Sequence[str]
    ) -> Mapping[str, Mapping[str, Body]]:
        answers = {name: self._answers_of(tenant_id, name) for name in jobs}
        return {name: bodies for name, bodies in answers.items() if bodies}

    def _answers_of(self, tenant_id: UUID, job_name: str) -> dict[str, Body]:
        """By endpoint; one that is too long is not among them."""
        job_id = self._tables.job_names.get((tenant_id, job_name))
        rows = self._tables.members_of(job_id) if job_id is not None else []
        return {
            row.endpoint.name: row.recent[0].body
            for row in rows
            if row.recent and row.recent[0].is_well and row.recent[0].body is not None
        }


def ended_runs(tables: Tables, endpoint_id: UUID) -> Iterator[Run]:
    """Newest first."""
    for run_id in reversed(tables.runs_of[endpoint_id].values()):
        run = tables.runs[run_id]
        if run.status is not RunStatus.RUNNING:
            yield run


def health_now(tables: Tables, row: EndpointRow) -> Health:
    """Siblings are looked at ten times as often as they run, and it is the same until then."""
    endpoint, now = row.endpoint, tables.clock.now()
    known = tables.known_health.get(endpoint.id)
    if known is None or not known.holds(row, now):
        runs = _runs_of_a_day(tables, endpoint.id, now)
        health = health_of(runs, endpoint.failure_count, now)
        known = KnownHealth(health, row.latest, _first_leaves_at(runs, now))
        tables.known_health[endpoint.id] = known
    return known.health


def _runs_of_a_day(tables: Tables, endpoint_id: UUID, now: datetime) -> list[Run]:
    oldest, runs = now - WINDOWS[-1], list[Run]()
    for run in ended_runs(tables, endpoint_id):
        if run.finished_at is None or run.finished_at <= oldest:
            break
        runs.append(run)
    return runs


def _first_leaves_at(runs: Sequence[Run], now: datetime) -> datetime:
    """When the first of them is too old for a window that it is in now."""
    ends = [run.finished_at for run in runs if run.finished_at is not None]
    leaving = [
        ended_at + length for length in WINDOWS for ended_at in ends if ended_at + length > now
    ]
    return min(leaving, default=FOREVER)


def response_of(run: Run) -> Response:
    assert run.finished_at is not None
    fields = (run.status, run.body, run.duration, run.status_code, run.error_kind)
    return Response(run.slot_at, run.finished_at, *fields)


def ending_of(run: Run) -> Ending:
    assert run.finished_at is not None
    return Ending(run.finished_at, run.status, run.status_code, run.error_kind)


def recent_response(run: Run) -> Response:
    """Without a body that is too long to be shown by the hundred."""
    response = response_of(run)
    return replace(response, body=None) if _is_long(run.body) else response


def _is_long(body: Body) -> bool:
    if body is None or isinstance(body, int | float):
        return False
    try:
        return len(json.dumps(body, ensure_ascii=False)) > LONGEST_RECENT_BODY
    except (RecursionError, ValueError, TypeError):
        return True  # nested without end: not a body that anybody can read
