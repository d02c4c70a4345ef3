"""Runs between rows and values."""

from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.storable import from_json
from cadenza.domain.plan import SOURCES
from cadenza.domain.run import LateResult, LostAttempt, Run, RunStatus

# Looked up here: an enum takes its time, and rows come by hundreds.
STATUSES = {str(status): status for status in RunStatus}


def run_of(row: Row) -> Run:
    return Run(
        id=row["id"],
        endpoint_id=row["endpoint_id"],
        tenant_id=row["tenant_id"],
        slot_at=row["slot_at"],
        source=SOURCES[row["source"]],
        status=STATUSES[row["status"]],
        attempt=row["attempt"],
        epoch=row["epoch"],
        claimed_at=row["claimed_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        status_code=row["status_code"],
        error_kind=row["error_kind"],
        error_message=row["error_message"],
        body=from_json(row["body"]),
        plan=from_json(row["plan"]),
        skipped_slots=row["skipped_slots"],
        skipped_reason=row["skipped_reason"],
        is_manual=row["is_manual"],
    )


def lost_attempt_of(row: Row) -> LostAttempt:
    return LostAttempt(row["run_id"], row["attempt"], row["noted_at"])


def late_result_of(row: Row) -> LateResult:
    return LateResult(
        row["run_id"],
        row["endpoint_id"],
        row["epoch"],
        STATUSES[row["status"]],
        row["received_at"],
    )
