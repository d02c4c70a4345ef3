"""What a batch of ended runs tells whoever follows: most of the time nothing, at no cost."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row, to_json
from cadenza.domain.instants import iso
from cadenza.domain.run import FinishedRun, RunStatus


@dataclass(slots=True)
class PendingEvents:
    """Failures and recoveries always; other runs where somebody watches their tenant."""

    events: list[tuple[str, UUID, UUID, UUID, str]] = field(
        default_factory=list[tuple[str, UUID, UUID, UUID, str]]
    )

    def add(self, finished: FinishedRun, row: Row, failure_count: int) -> None:
        claim, outcome = finished.claim, finished.outcome
        watched: Sequence[UUID] | None = row["watched"]
        recovered = outcome.status is RunStatus.SUCCESS and row["failure_count"] > 0
        if outcome.failed:
            kinds = ["run.failed"]
        else:
            kinds = ["run.finished"] if watched and claim.tenant_id in watched else []
        if recovered:
            kinds.append("endpoint.recovered")
        for kind in kinds:
            data = to_json(_data(finished, failure_count))
            self.events.append((kind, claim.tenant_id, claim.job_id, claim.endpoint_id, data))

    async def tell(self, connection: Connection, now: datetime) -> None:
        if self.events:
            columns = [list(column) for column in zip(*self.events, strict=True)]
            await connection.execute(query("tell_runs"), now, *columns)


def _data(finished: FinishedRun, failure_count: int) -> dict[str, Any]:
    claim, outcome = finished.claim, finished.outcome
    return {
        "run_id": str(claim.run_id),
        "endpoint_name": claim.endpoint_name,
        "slot_at": iso(claim.slot_at),
        "source": claim.source,
        "status": outcome.status,
        "status_code": outcome.status_code,
        "error_kind": outcome.error_kind,
        "failure_count": failure_count,
    }
