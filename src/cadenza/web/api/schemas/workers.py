"""Workers as they are sent."""

from datetime import datetime

from pydantic import Field

from cadenza.application.ports.workers import KnownWorker
from cadenza.web.api.schemas.base import ResponseSchema


class WorkerResponse(ResponseSchema):
    name: str
    kind: str = Field(examples=["scheduler"])
    started_at: datetime
    seen_at: datetime = Field(description="When it last said that it lives.")
    is_alive: bool
    version: str = Field(description="Empty: of a version that did not say.")
    in_flight: int | None = Field(description="What it has to do now; null: it does not count.")
    capacity: int | None = Field(description="How much it takes at once.")
    labels: list[str] = Field(description="Of a graph worker: what a schedule may require.")


class WorkersResponse(ResponseSchema):
    items: list[WorkerResponse]


def worker_response(worker: KnownWorker) -> WorkerResponse:
    condition = worker.condition
    return WorkerResponse(
        name=worker.name,
        kind=worker.kind,
        started_at=worker.started_at,
        seen_at=worker.seen_at,
        is_alive=worker.is_alive,
        version=condition.version,
        in_flight=condition.in_flight,
        capacity=condition.capacity,
        labels=list(worker.labels),
    )
