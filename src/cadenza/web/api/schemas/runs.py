"""Runs and an endpoint's health, as they are sent."""

from datetime import datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, Field
from typing_extensions import TypedDict  # before Python 3.12, pydantic knows no other

from cadenza.application.ports.catalogue import EndpointName
from cadenza.application.ports.run_authors import RunAuthor
from cadenza.application.ports.run_search import ListedRun, RunInFull, RunRef
from cadenza.application.sent_requests import sent_request
from cadenza.domain.instants import milliseconds
from cadenza.domain.plan import Source
from cadenza.domain.run import Run, RunStatus
from cadenza.domain.score import SteeredBy
from cadenza.web.api.schemas.base import AS_TEXT, Id, ResponseSchema

HOUR = timedelta(hours=1)


class RunResponse(TypedDict):
    """A dictionary, because runs are listed by hundreds and need no check."""

    id: Id
    endpoint_id: Id
    slot_at: Annotated[datetime, Field(description="When it was due.")]
    source: Annotated[Source, AS_TEXT]
    status: Annotated[RunStatus, AS_TEXT]
    attempt: int
    is_manual: bool
    started_at: datetime | None
    finished_at: datetime | None
    duration_ms: int | None
    status_code: int | None
    error_kind: str | None
    error_message: str | None
    skipped_slots: Annotated[int, Field(description="Slots that passed while it waited or ran.")]
    skipped_reason: str | None


class AskedByResponse(TypedDict):
    """Who asked for a run by hand, or whose hint chose its slot."""

    kind: Annotated[SteeredBy, Field(description="person, rule, model or detector.")]
    name: Annotated[str | None, Field(description="Of the person or the declared rule.")]
    user_id: UUID | None
    session_id: UUID | None
    reason: Annotated[str, Field(description="Of the hint.")]


class ListedRunResponse(RunResponse):
    asked_by: Annotated[
        AskedByResponse | None,
        Field(description="null where the baseline or a limit chose it, or nobody knows any more."),
    ]
    endpoint: Annotated[str, Field(description="The name of its endpoint.")]
    job_id: Id
    job: Annotated[str, Field(description="The name of its job.")]


class NeighbourResponse(ResponseSchema):
    id: UUID
    slot_at: datetime
    status: RunStatus


class SentRequestResponse(ResponseSchema):
    """Put together again from the target; secrets are masked, the signature is left out."""

    kind: str = Field(description="http, shell, graph, function or queue.")
    is_exact: bool = Field(
        description="Whether the target has stayed as it was when the run was claimed."
    )
    changed_at: datetime | None = Field(description="Where it has not: when it last changed.")
    method: str | None
    url: str | None
    headers: dict[str, str] | None
    body: Any
    command: list[str]
    graph_id: str | None
    function: str | None
    topic: str | None = Field(description="Of a queue: where the message went.")


class LostAttemptResponse(ResponseSchema):
    attempt: int
    noted_at: datetime


class LateResultResponse(ResponseSchema):
    status: RunStatus
    received_at: datetime


class RunDetailResponse(ListedRunResponse):
    sent: SentRequestResponse
    before: Annotated[
        NeighbourResponse | None, Field(description="The run of its endpoint before it.")
    ]
    after: NeighbourResponse | None
    claimed_at: datetime
    body: Annotated[Any, Field(description="What the target answered, cut at 64 KiB.")]
    plan: Annotated[
        dict[str, Any] | None,
        Field(
            description="The plan that led to it: every candidate, the winner, clamps and inputs. "
            "null for a run that a person asked for."
        ),
    ]
    lost_attempts: Annotated[
        list[LostAttemptResponse], Field(description="Whose worker never answered.")
    ]
    late_results: Annotated[
        list[LateResultResponse],
        Field(
            description="Results that came when another worker had taken over; they changed "
            "nothing."
        ),
    ]


class HealthWindowResponse(ResponseSchema):
    hours: Annotated[
        int, BeforeValidator(lambda length: length // HOUR), Field(validation_alias="length")
    ]
    runs: int
    successes: int
    success_rate: float | None = Field(description="From 0 to 1; null where nothing ran.")


class HealthResponse(ResponseSchema):
    endpoint_id: UUID
    windows: list[HealthWindowResponse]
    mean_duration_ms: float | None = Field(description="Over a day; null where nothing ran.")
    failure_streak: int


def listed_run_response(
    run: ListedRun, name: EndpointName | None, author: RunAuthor | None = None
) -> ListedRunResponse:
    """An endpoint that was deleted a moment ago has no name."""
    known = name or EndpointName("", run.endpoint_id, "")
    return {
        **run_response(run),
        "asked_by": None if author is None else _asked_by_response(author),
        "endpoint": known.name,
        "job_id": known.job_id,
        "job": known.job_name,
    }


def _asked_by_response(author: RunAuthor) -> AskedByResponse:
    return AskedByResponse(
        kind=author.by,
        name=author.name,
        user_id=author.user_id,
        session_id=author.session_id,
        reason=author.reason,
    )


def run_response(run: ListedRun | Run) -> RunResponse:
    started_at, finished_at = run.started_at, run.finished_at
    duration = finished_at - started_at if finished_at and started_at else None
    return {
        "id": run.id,
        "endpoint_id": run.endpoint_id,
        "slot_at": run.slot_at,
        "source": run.source,
        "status": run.status,
        "attempt": run.attempt,
        "is_manual": run.is_manual,
        "started_at": started_at,
        "finished_at": finished_at,
        "duration_ms": None if duration is None else milliseconds(duration),
        "status_code": run.status_code,
        "error_kind": run.error_kind,
        "error_message": run.error_message,
        "skipped_slots": run.skipped_slots,
        "skipped_reason": run.skipped_reason,
    }


def run_detail_response(stored: RunInFull, author: RunAuthor | None = None) -> RunDetailResponse:
    run, around = stored.run, stored.around
    return RunDetailResponse(
        **run_response(run),
        asked_by=None if author is None else _asked_by_response(author),
        endpoint=around.endpoint_name,
        job_id=around.job_id,
        job=around.job_name,
        sent=SentRequestResponse.model_validate(sent_request(run, around)),
        before=_neighbour(around.before),
        after=_neighbour(around.after),
        claimed_at=run.claimed_at,
        body=run.body,
        plan=run.plan,
        lost_attempts=[LostAttemptResponse.model_validate(row) for row in stored.lost_attempts],
        late_results=[LateResultResponse.model_validate(row) for row in stored.late_results],
    )


def _neighbour(run: RunRef | None) -> NeighbourResponse | None:
    return None if run is None else NeighbourResponse.model_validate(run)
