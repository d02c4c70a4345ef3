"""Health from the runs in memory, remembered until it may have changed."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from uuid import UUID

from cadenza.adapters.memory.rows import EndpointRow, KnownHealth
from cadenza.adapters.memory.tables import Tables
from cadenza.domain.health import WINDOWS, Health, health_of
from cadenza.domain.instants import FOREVER
from cadenza.domain.run import Run, RunStatus


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
