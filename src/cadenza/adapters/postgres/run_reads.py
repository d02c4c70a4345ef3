"""Runs, as their owners look for them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.analysis_queue import health_of_row
from cadenza.adapters.postgres.database import Connection, OverDatabase
from cadenza.adapters.postgres.endpoint_ids import endpoint_ids
from cadenza.adapters.postgres.queries import one_row, query
from cadenza.adapters.postgres.rows import STATUSES, Row
from cadenza.adapters.postgres.scanning import scan, steps_of
from cadenza.adapters.postgres.storable import from_json, like
from cadenza.adapters.postgres.targets import target_of
from cadenza.application.ports.run_search import (
    ListedRun,
    RunAround,
    RunInFull,
    RunRef,
    RunSearch,
)
from cadenza.application.ports.search_result import SearchResult, TimeCursor
from cadenza.domain.analysis import LONGEST_RECENT_BODY
from cadenza.domain.health import Health
from cadenza.domain.plan import SOURCES
from cadenza.domain.run import Body, LateResult, LostAttempt, Run, RunStatus
from cadenza.domain.target import masking_secrets

STEPS = (200, 800, 2_000, 5_000)
FEW_ENDPOINTS = 50  # each is looked up by itself; more of them are picked out of the tenant's
MOST_ENDPOINTS = 10_000  # of the jobs that somebody is limited to
FIRST = UUID(int=0)
_FAILED = frozenset((RunStatus.FAILURE, RunStatus.TIMEOUT, RunStatus.CANCELLED))


class PostgresRunReads(OverDatabase):
    async def search_runs(self, tenant_id: UUID, search: RunSearch) -> SearchResult[ListedRun]:
        async with self._database.connection() as connection:
            if search.is_plain and search.job_id is None and search.job_ids is None:
                return await _newest(connection, tenant_id, search)
            most = None if search.job_ids is None else MOST_ENDPOINTS
            own = await endpoint_ids(connection, tenant_id, search, most)
            if own is not None and not own:
                return SearchResult(())
            several = own is not None and len(own) > 1
            if several:
                # A job that runs often is among the tenant's newest; that is far less to read.
                newest = await _scan(connection, tenant_id, search, own, STEPS[:2])
                if newest.reached is None or len(newest.items) == search.limit:
                    return newest
            steps = _steps(search, own)
            few = own is not None and len(own) <= FEW_ENDPOINTS
            whose = "endpoints" if few else "tenant"
            return await _scan(connection, tenant_id, search, own, steps, whose)

    async def get_run(self, tenant_id: UUID, run_id: UUID) -> RunInFull:
        async with self._database.connection() as connection:
            row = await one_row(connection, "get_run", "run", tenant_id, run_id)
            lost = await connection.fetch(query("list_lost_attempts"), tenant_id, run_id)
            late = await connection.fetch(
                query("late_results_of_run"), tenant_id, row["endpoint_id"], run_id
            )
            around = await one_row(
                connection,
                "around_run",
                "endpoint",
                tenant_id,
                row["endpoint_id"],
                row["slot_at"],
            )
        lost_attempts = [LostAttempt(**attempt) for attempt in lost]
        late_results = [_late_result(result) for result in late]
        return RunInFull(_run(row), lost_attempts, late_results, _around(around))

    async def health_of(self, tenant_id: UUID, endpoint_id: UUID) -> Health:
        row = await one_row(self._database, "health", "endpoint", tenant_id, endpoint_id)
        return health_of_row(row, row["failure_count"])


class PostgresLatestAnswers(OverDatabase):
    async def latest_answers(
        self, tenant_id: UUID, jobs: Sequence[str]
    ) -> Mapping[str, Mapping[str, Body]]:
        rows = await self._database.fetch(
            query("latest_answers"), tenant_id, list(jobs), LONGEST_RECENT_BODY
        )
        answers: defaultdict[str, dict[str, Body]] = defaultdict(dict)
        for row in rows:
            answers[row["job"]][row["endpoint"]] = from_json(row["body"])
        return answers


async def _newest(
    connection: Connection, tenant_id: UUID, search: RunSearch
) -> SearchResult[ListedRun]:
    """Every row that is read is wanted."""
    whose = "tenant" if search.endpoint_id is None else "endpoint"
    rows = await connection.fetch(
        query(f"newest_runs_of_{whose}"),
        tenant_id,
        search.endpoint_id,
        search.from_at,
        *_start(search),
        search.limit + 1,
    )
    runs = [_listed(row) for row in rows[: search.limit]]
    return SearchResult(runs, _cursor(runs[-1]) if len(rows) > search.limit else None)


async def _scan(
    connection: Connection,
    tenant_id: UUID,
    search: RunSearch,
    endpoint_ids: list[UUID] | None,
    steps: Sequence[int],
    whose: str = "tenant",
) -> SearchResult[ListedRun]:
    # Only what did not end well has an error.
    has_failed = search.error is not None or (
        search.statuses and _FAILED.issuperset(search.statuses)
    )
    runs = "failed_runs" if has_failed else "runs"
    return await scan(
        connection,
        f"scan_{runs}_of_{whose}",
        (tenant_id, endpoint_ids, search.from_at),
        (
            *(list(search.statuses) or None, list(search.sources) or None, search.is_manual),
            *(like(search.error), search.status_code),
        ),
        start=_start(search),
        steps=steps,
        limit=search.limit,
        value_of=lambda row: _listed(row[3:]),  # behind what a scan says of itself
        cursor_of=_cursor,
    )


def _start(search: RunSearch) -> tuple[object, object]:
    """Before the last one seen, or before the end of what was asked for."""
    return search.after or (search.to_at, FIRST if search.to_at is not None else None)


def _steps(search: RunSearch, endpoint_ids: Sequence[UUID] | None) -> Sequence[int]:
    """A few endpoints are each read for as many rows; more are picked out of all the tenant's."""
    if endpoint_ids is None:
        return steps_of(STEPS, search.limit, is_plain=search.is_plain)
    if len(endpoint_ids) > FEW_ENDPOINTS:
        return steps_of(STEPS, search.limit, is_plain=False)
    shared = [size // len(endpoint_ids) for size in STEPS]
    return steps_of(shared, search.limit, is_plain=search.is_plain)


def _listed(row: Iterable[Any]) -> ListedRun:
    """The columns of listed_run."""
    run_id, endpoint_id, slot_at, source, status, *more = row
    return ListedRun(run_id, endpoint_id, slot_at, SOURCES[source], STATUSES[status], *more)


def _cursor(run: ListedRun) -> TimeCursor:
    return run.slot_at, run.id


def _run(row: Row) -> Run:
    fields: dict[str, Any] = dict(row)
    fields |= {"source": SOURCES[row["source"]], "status": STATUSES[row["status"]]}
    return Run(**fields | {name: from_json(row[name]) for name in ("body", "plan")})


def _around(row: Row) -> RunAround:
    return RunAround(
        row["endpoint_name"],
        row["job_id"],
        row["job_name"],
        masking_secrets(target_of(row["target"], row["secret_headers"])),
        row["target_changed_at"],
        _ref(row, "before"),
        _ref(row, "after"),
    )


def _ref(row: Row, which: str) -> RunRef | None:
    run_id = row[f"{which}_id"]
    if run_id is None:
        return None
    return RunRef(run_id, row[f"{which}_at"], STATUSES[row[f"{which}_status"]])


def _late_result(row: Row) -> LateResult:
    run_id, endpoint_id, epoch, status, received_at = row
    return LateResult(run_id, endpoint_id, epoch, STATUSES[status], received_at)
