"""Schedules of graphs: when one runs on its owner's behalf; and what became of each slot."""

from typing import Annotated
from uuid import UUID

from fastapi import Query, Response

from cadenza.domain.schedule import Schedule
from cadenza.domain.slot import SlotStatus
from cadenza.web.api.access import ApiDependencies, Operator, Reader
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.parsing.cursors import (
    read_cursor,
    read_time_cursor,
    write_cursor,
    write_time_cursor,
)
from cadenza.web.api.parsing.headers import (
    Idempotency,
    IfMatch,
    tag,
)
from cadenza.web.api.parsing.query import Cursor, Limit, Named
from cadenza.web.api.parsing.schedule_bodies import (
    AnswerBody,
    NewScheduleBody,
    ScheduleMergePatch,
    SchedulePatchBody,
)
from cadenza.web.api.routes import documented, router
from cadenza.web.api.schemas.pages import Page, page_response
from cadenza.web.api.schemas.schedules import (
    RunEventsResponse,
    ScheduleDetailResponse,
    ScheduleResponse,
    ScheduleRunDetailResponse,
    ScheduleRunResponse,
    SlotResponse,
    run_events_response,
    schedule_detail_response,
    schedule_response,
    schedule_run_detail_response,
    schedule_run_response,
)

routes = router("Schedules", "/schedules")
NEXT_RUNS = 5
FIRST_EVENTS = 100
After = Annotated[int | None, Query(ge=1, le=2**31 - 1, description="`next` of the events before.")]


@routes.post("", status_code=201, responses=documented(402))
async def create_schedule(
    body: NewScheduleBody,
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
    idempotency: Idempotency,
) -> ScheduleDetailResponse:
    """With its grant and its first slot, in one transaction. A graph that no worker knows is
    accepted, with a warning: the worker may come later."""
    record = idempotency.record(body)
    schedule, replayed = await dependencies.schedules.create(caller, body.parsed(), record)
    idempotency.mark(replayed)
    return await _schedule(dependencies, response, schedule)


@routes.get("")
async def list_schedules(
    caller: Reader,
    dependencies: ApiDependencies,
    name: Named = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[ScheduleResponse]:
    """Those that are not deleted, the oldest first."""
    _, after = read_cursor(cursor) or ("", None)
    schedules = await dependencies.reads.schedules.list_schedules(
        caller.tenant_id, name, after, limit + 1
    )
    return page_response(
        schedules, limit, schedule_response, lambda schedule: write_cursor("", schedule.id)
    )


@routes.get("/{schedule_id}")
async def get_schedule(
    schedule_id: UUID, response: Response, caller: Reader, dependencies: ApiDependencies
) -> ScheduleDetailResponse:
    """Also one that is deleted."""
    schedule = await dependencies.reads.schedules.get_schedule(caller.tenant_id, schedule_id)
    return await _schedule(dependencies, response, schedule)


async def _schedule(
    dependencies: Dependencies, response: Response, schedule: Schedule
) -> ScheduleDetailResponse:
    tag(response, schedule.revision)
    next_runs = dependencies.schedules.next_runs(schedule, NEXT_RUNS)
    living = [] if schedule.deleted_at else [schedule.definition]
    warnings = await dependencies.graph_warnings(living)
    return schedule_detail_response(schedule, next_runs, [text for text in warnings if text])


@routes.patch("/{schedule_id}")
async def change_schedule(
    schedule_id: UUID,
    body: SchedulePatchBody,
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
    seen: IfMatch,
) -> ScheduleDetailResponse:
    """The slot that waits changes with it; a run under way goes on as it was."""
    patch = ScheduleMergePatch(body)
    schedule = await dependencies.schedules.change(caller, schedule_id, patch, seen)
    return await _schedule(dependencies, response, schedule)


@routes.delete("/{schedule_id}", status_code=204)
async def delete_schedule(
    schedule_id: UUID, caller: Operator, dependencies: ApiDependencies, seen: IfMatch
) -> None:
    """Its history stays; the grant that was made for it is revoked."""
    await dependencies.schedules.delete(caller, schedule_id, seen)


@routes.post("/{schedule_id}/run", status_code=202)
async def run_schedule(
    schedule_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> SlotResponse:
    """Now, in a slot of its own; refused under `forbid` while a run is under way."""
    slot_at = await dependencies.schedules.run_now(caller, schedule_id)
    return SlotResponse(schedule_id=schedule_id, slot_at=slot_at, status=SlotStatus.SCHEDULED)


# --- Runs -------------------------------------------------------------------------------------


@routes.get("/{schedule_id}/runs")
async def list_schedule_runs(
    schedule_id: UUID,
    caller: Reader,
    dependencies: ApiDependencies,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[ScheduleRunResponse]:
    """Its slots, the newest first: the one that waits, then what became of the others."""
    reads, position = dependencies.reads.schedules, read_time_cursor(cursor)
    await reads.get_schedule(caller.tenant_id, schedule_id)
    before = None if position is None else position[0]
    runs = await reads.list_runs(caller.tenant_id, schedule_id, before, limit + 1)
    return page_response(
        runs,
        limit,
        schedule_run_response,
        lambda run: write_time_cursor((run.slot_at, run.schedule_id)),
    )


@routes.get("/{schedule_id}/runs/{schedule_run_id}")
async def get_schedule_run(
    schedule_id: UUID, schedule_run_id: UUID, caller: Reader, dependencies: ApiDependencies
) -> ScheduleRunDetailResponse:
    """With its first events."""
    run = await dependencies.schedules.get_run(caller, schedule_id, schedule_run_id)
    events = await dependencies.reads.schedules.list_run_events(
        caller.tenant_id, schedule_run_id, 0, FIRST_EVENTS + 1
    )
    return schedule_run_detail_response(run, run_events_response(events, FIRST_EVENTS))


@routes.get("/{schedule_id}/runs/{schedule_run_id}/events")
async def list_schedule_run_events(
    schedule_id: UUID,
    schedule_run_id: UUID,
    caller: Reader,
    dependencies: ApiDependencies,
    after: After = None,
    limit: Limit = 100,
) -> RunEventsResponse:
    await dependencies.schedules.get_run(caller, schedule_id, schedule_run_id)
    events = await dependencies.reads.schedules.list_run_events(
        caller.tenant_id, schedule_run_id, after or 0, limit + 1
    )
    return run_events_response(events, limit)


@routes.post("/{schedule_id}/runs/{schedule_run_id}/cancel")
async def cancel_schedule_run(
    schedule_id: UUID, schedule_run_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> ScheduleRunResponse:
    """It ends now, and its worker is told; what it has cost stays charged."""
    await dependencies.schedules.cancel(caller, schedule_id, schedule_run_id)
    run = await dependencies.schedules.get_run(caller, schedule_id, schedule_run_id)
    return schedule_run_response(run)


@routes.post("/{schedule_id}/runs/{schedule_run_id}/answer", status_code=202)
async def answer_schedule_run(
    schedule_id: UUID,
    schedule_run_id: UUID,
    body: AnswerBody,
    caller: Operator,
    dependencies: ApiDependencies,
) -> SlotResponse:
    """What the run waits for; it goes on as a new run of the same schedule, once."""
    slot_at = await dependencies.schedules.answer(caller, schedule_id, schedule_run_id, body.answer)
    return SlotResponse(schedule_id=schedule_id, slot_at=slot_at, status=SlotStatus.SCHEDULED)
