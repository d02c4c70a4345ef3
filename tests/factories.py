"""Small makers of domain values, each with defaults that do not matter to the test at hand."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.domain.endpoint import Endpoint, Every
from cadenza.domain.hint import Author, IntervalHint, OneShotHint
from cadenza.domain.plan import Source
from cadenza.domain.run import Claim, FinishedRun, Outcome, RunStatus
from cadenza.domain.target import HttpTarget

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)  # a Monday
CRON = CronsimCron()
NAMESPACE = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
OK = Outcome(RunStatus.SUCCESS, status_code=200)
FAILED = Outcome(RunStatus.FAILURE, "status", "HTTP 500", status_code=500)


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def id_of(name: str) -> UUID:
    return uuid5(NAMESPACE, name)


def make_endpoint(name: str = "probe", **fields: Any) -> Endpoint:
    """Every minute, created at noon, without phase or jitter unless the test asks for them."""
    defaults: dict[str, Any] = {
        "id": id_of(name),
        "tenant_id": id_of("tenant"),
        "job_id": id_of("job"),
        "name": name,
        "baseline": Every(minutes(1)),
        "created_at": NOON,
        "spread": timedelta(0),
    }
    return Endpoint(**{**defaults, **fields})


def ran_at(anchor: datetime, **fields: Any) -> dict[str, Any]:
    """The fields of an endpoint whose last run had this slot."""
    return {"last_run_at": anchor, "last_slot_at": anchor, **fields}


def make_claim(endpoint: Endpoint, slot_at: datetime = NOON, **fields: Any) -> Claim:
    defaults: dict[str, Any] = {
        "run_id": id_of(f"run of {endpoint.name} at {slot_at}"),
        "endpoint_id": endpoint.id,
        "tenant_id": endpoint.tenant_id,
        "job_id": endpoint.job_id,
        "endpoint_name": endpoint.name,
        "target": HttpTarget("http://example.invalid/"),
        "slot_at": slot_at,
        "source": Source.BASELINE_INTERVAL,
        "epoch": 1,
        "first_claimed_at": slot_at,
    }
    return Claim(**{**defaults, **fields})


def make_finished(
    endpoint: Endpoint,
    slot_at: datetime = NOON,
    *,
    takes: timedelta = timedelta(0),
    late_by: timedelta = timedelta(0),
    outcome: Outcome = OK,
    **claim_fields: Any,
) -> FinishedRun:
    """A run that began `late_by` after its slot and took so long."""
    started_at = slot_at + late_by
    claim = make_claim(endpoint, slot_at, **claim_fields)
    return FinishedRun(claim, outcome, started_at, started_at + takes)


def interval_hint(
    interval: timedelta, expires_at: datetime, author: Author = Author.PLANNER
) -> IntervalHint:
    return IntervalHint(interval, expires_at, author, "because")


def one_shot(
    run_at: datetime, expires_at: datetime, author: Author = Author.PLANNER
) -> OneShotHint:
    return OneShotHint(run_at, expires_at, author, "because")
