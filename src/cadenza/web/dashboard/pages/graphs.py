"""Schedules of AI graphs, what became of their slots, and the grants they run under."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.domain.graph import EventKind
from cadenza.domain.slot import RunEvent
from cadenza.web.api.parsing.cursors import (
    read_cursor,
    read_time_cursor,
    write_cursor,
    write_time_cursor,
)
from cadenza.web.api.parsing.schedule_bodies import ScheduleMergePatch
from cadenza.web.dashboard.pages.jobs import word_or_none
from cadenza.web.dashboard.pages.lists import rows_of
from cadenza.web.dashboard.query import PAGE
from cadenza.web.dashboard.rendering import done, page
from cadenza.web.dashboard.visitor import Operator, PageDependencies, Reader, Sent

routes = APIRouter()
ENTRY = "/graphs"
AHEAD, LAST_RUNS, EVENTS = 5, 10, 200


@routes.get("/graphs")
async def list_schedules(
    request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads
    _, after = read_cursor(word_or_none(request, "cursor")) or ("", None)
    schedules = await reads.schedules.list_schedules(tenant_id, None, after, PAGE + 1)
    recent = await reads.schedules.list_runs(tenant_id, None, None, LAST_RUNS)
    return await page(
        request,
        "graphs/list.html",
        entry=ENTRY,
        rows=rows_of(request, schedules, lambda row: write_cursor("", row.id)),
        runs=recent,
        labels={schedule.id: schedule.label for schedule in schedules},
    )


@routes.get("/graphs/schedules/{schedule_id}")
async def show_schedule(
    schedule_id: UUID, request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads.schedules
    schedule = await reads.get_schedule(tenant_id, schedule_id)
    position = read_time_cursor(word_or_none(request, "cursor"))
    before = None if position is None else position[0]
    runs = await reads.list_runs(tenant_id, schedule_id, before, PAGE + 1)
    return await page(
        request,
        "graphs/show.html",
        entry=ENTRY,
        schedule=schedule,
        definition=schedule.definition,
        next_runs=dependencies.schedules.next_runs(schedule, AHEAD),
        rows=rows_of(request, runs, lambda run: write_time_cursor((run.slot_at, run.schedule_id))),
    )


@routes.get("/graphs/schedules/{schedule_id}/runs/{run_id}")
async def show_schedule_run(
    schedule_id: UUID,
    run_id: UUID,
    request: Request,
    visitor: Reader,
    dependencies: PageDependencies,
) -> Response:
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads.schedules
    return await page(
        request,
        "graphs/run.html",
        entry=ENTRY,
        schedule=await reads.get_schedule(tenant_id, schedule_id),
        run=await dependencies.schedules.get_run(visitor.caller, schedule_id, run_id),
        events=_joined(await reads.list_run_events(tenant_id, run_id, 0, EVENTS)),
    )


def _joined(events: Sequence[RunEvent]) -> list[RunEvent]:
    """Text that came word by word is read as one."""
    joined: list[RunEvent] = []
    for event in events:
        last = joined[-1] if joined else None
        if last and last.kind == event.kind == EventKind.TEXT_DELTA:
            text = f"{last.data.get('text', '')}{event.data.get('text', '')}"
            joined[-1] = replace(last, data={**last.data, "text": text})
        else:
            joined.append(event)
    return joined


@routes.post("/graphs/schedules/{schedule_id}/run")
async def run_schedule(
    schedule_id: UUID, _form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    await dependencies.schedules.run_now(visitor.caller, schedule_id)
    return done(
        f"{ENTRY}/schedules/{schedule_id}", "Run requested. It starts as soon as a worker is free."
    )


@routes.post("/graphs/schedules/{schedule_id}/delete")
async def delete_schedule(
    schedule_id: UUID, _form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    await dependencies.schedules.delete(visitor.caller, schedule_id)
    return done(ENTRY, "Schedule deleted. Its history is kept.")


@routes.post("/graphs/schedules/{schedule_id}/enable")
async def enable_schedule(
    schedule_id: UUID, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    enabled = form.text("enabled") == "true"
    patch = ScheduleMergePatch({"enabled": enabled})
    await dependencies.schedules.change(visitor.caller, schedule_id, patch, None)
    message = "Schedule started." if enabled else "Schedule stopped."
    return done(f"{ENTRY}/schedules/{schedule_id}", message)


@routes.post("/graphs/schedules/{schedule_id}/runs/{run_id}/cancel")
async def cancel_run(
    schedule_id: UUID,
    run_id: UUID,
    _form: Sent,
    visitor: Operator,
    dependencies: PageDependencies,
) -> Response:
    await dependencies.schedules.cancel(visitor.caller, schedule_id, run_id)
    return done(f"{ENTRY}/schedules/{schedule_id}/runs/{run_id}", "Run cancelled.")


@routes.post("/graphs/schedules/{schedule_id}/runs/{run_id}/answer")
async def answer_run(
    schedule_id: UUID, run_id: UUID, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    await dependencies.schedules.answer(visitor.caller, schedule_id, run_id, form.text("answer"))
    return done(f"{ENTRY}/schedules/{schedule_id}", "Answer sent. The graph continues.")
