"""What the planner did, wants and costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.accounts import TenantChange
from cadenza.application.ports.activity import DayOfSessions
from cadenza.application.ports.catalogue import JobSearch
from cadenza.application.ports.records import SessionSearch
from cadenza.domain.endpoint import Job
from cadenza.domain.errors import InvalidInput
from cadenza.domain.planner_stop import PlannerStop
from cadenza.domain.quota import Allowance
from cadenza.domain.rule import Mode, Modes
from cadenza.domain.spending import Purse
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.parsing.cursors import read_cursor, read_time_cursor, write_cursor
from cadenza.web.dashboard.forms import Form
from cadenza.web.dashboard.pages.jobs import word_or_none
from cadenza.web.dashboard.pages.lists import endpoint_names, rows_by_time
from cadenza.web.dashboard.query import identifier, since, word
from cadenza.web.dashboard.rendering import back_or, done, page
from cadenza.web.dashboard.visitor import (
    Admin,
    Operator,
    PageDependencies,
    Reader,
    Sent,
    Visitor,
)

routes = APIRouter()
ENTRY = "/planner"
SUGGESTIONS, RUNS = 50, 50
DAYS = 30  # of which the cost is shown
JOBS = 10  # whose day is shown at once
MODES = ("rules_mode", "detectors_mode", "llm_mode")  # of the tenant


@routes.get("/planner")
async def show_planner(
    request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads
    now = dependencies.around.clock.now()
    search = SessionSearch(
        from_at=since(request, now),
        after=read_time_cursor(word_or_none(request, "cursor")),
        endpoint_id=identifier(request, "endpoint"),
        job_id=identifier(request, "job"),
        brain=word(request, "brain"),
        search=word(request, "search"),
    )
    sessions = await reads.records.search_sessions(tenant_id, search)
    month, allowance = await dependencies.quotas.of_tenant(tenant_id)
    tenant = await reads.tenants.get_tenant(tenant_id)
    stop = await reads.planner_stops.planner_stop(tenant_id)
    ids = {session.endpoint_id for session in sessions.items}
    if search.endpoint_id is not None:
        ids.add(search.endpoint_id)
    return await page(
        request,
        "planner/list.html",
        entry=ENTRY,
        rows=rows_by_time(request, sessions),
        names=await endpoint_names(dependencies, visitor, ids),
        search=search,
        range=request.query_params.get("range", ""),
        suggestions=await reads.suggestions.open_suggestions(tenant_id, SUGGESTIONS),
        month=month,
        allowance=allowance,
        idle_looks=await reads.activity.idle_looks(tenant_id),
        today=await _today(request, dependencies, visitor, tenant.modes),
        days=await _each_day(dependencies, visitor, now),
        tenant=tenant,
        stop=stop,
        stopped_by=await _name_of(dependencies, stop) if stop else "",
        modes=list(Mode),
    )


async def _name_of(dependencies: Dependencies, stop: PlannerStop) -> str:
    if stop.stopped_by is None:
        return "the installation's admin"
    users = await dependencies.reads.tenants.list_users(stop.tenant_id)
    names = {user.id: user.name for user in users}
    return names.get(stop.stopped_by, "somebody who is gone")


@dataclass(frozen=True, slots=True)
class Today:
    """What jobs have used of what they may use in this day."""

    jobs: Sequence[tuple[Job, Modes, Allowance, Purse]]
    next: str | None  # the cursor of those that follow by name


async def _today(
    request: Request, dependencies: Dependencies, visitor: Visitor, modes: Modes
) -> Today:
    tenant_id = visitor.caller.tenant_id
    search = JobSearch(after=read_cursor(word_or_none(request, "jobs")), limit=JOBS + 1)
    stored = await dependencies.reads.jobs.list_jobs(tenant_id, search)
    jobs = [row.job for row in stored[:JOBS]]
    quotas = await dependencies.quotas.of_jobs(tenant_id, jobs)
    now = dependencies.around.clock.now()
    purses = await dependencies.purses.of_jobs(tenant_id, jobs, now)
    is_more = len(stored) > JOBS
    return Today(
        [(job, job.planner.modes(modes), quotas[job.id][1], purses[job.id]) for job in jobs],
        write_cursor(jobs[-1].name, jobs[-1].id) if is_more else None,
    )


async def _each_day(
    dependencies: Dependencies, visitor: Visitor, now: datetime
) -> list[DayOfSessions]:
    """Also those without a session, so that a day is as wide as another; none without any."""
    first = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=DAYS - 1)
    reads = dependencies.reads.activity
    known = {day.day: day for day in await reads.sessions_by_day(visitor.caller.tenant_id, first)}
    dates = [(first + timedelta(days=number)).date() for number in range(DAYS)]
    return [known.get(date) or DayOfSessions(date, 0, 0, 0) for date in dates] if known else []


@routes.post("/planner/modes")
async def change_modes(form: Sent, visitor: Admin, dependencies: PageDependencies) -> Response:
    await _set_modes(visitor, dependencies, {name: _mode(name, form.text(name)) for name in MODES})
    return done(ENTRY, "Default modes saved. Jobs with their own modes are not affected.")


@routes.post("/planner/stop")
async def stop_planner(form: Sent, visitor: Admin, dependencies: PageDependencies) -> Response:
    """Everywhere, at once: no brain acts or advises, whatever modes a job has."""
    await dependencies.planner_switch.stop(visitor.caller)
    message = "Planner stopped. Active hints stay until they expire or you clear them."
    return done(back_or(form, ENTRY), message)


@routes.post("/planner/start")
async def start_planner(form: Sent, visitor: Admin, dependencies: PageDependencies) -> Response:
    await dependencies.planner_switch.start(visitor.caller)
    return done(back_or(form, ENTRY), "Planner restarted with its previous modes.")


async def _set_modes(
    visitor: Visitor, dependencies: Dependencies, modes: Mapping[str, Mode]
) -> None:
    change = TenantChange(dict(modes), **modes)
    await dependencies.tenants.change(visitor.caller, change)


@routes.get("/planner/{session_id}")
async def show_session(
    session_id: UUID, request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads
    session = await reads.records.get_session(tenant_id, session_id)
    names = await endpoint_names(dependencies, visitor, [session.endpoint_id])
    job = await reads.jobs.get_job(tenant_id, session.job_id)
    return await page(
        request,
        "planner/show.html",
        entry=ENTRY,
        session=session,
        name=names.get(session.endpoint_id),
        rules={rule.id: rule.name for rule in job.job.rules},
        runs=await reads.suggestions.runs_of_session(tenant_id, session_id, RUNS),
    )


@routes.post("/planner/{session_id}/accept")
async def accept(
    session_id: UUID, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    await dependencies.suggestions.accept(visitor.caller, session_id, _call(form))
    return done(back_or(form, f"{ENTRY}/{session_id}"), "Suggestion accepted. It has taken effect.")


@routes.post("/planner/{session_id}/dismiss")
async def dismiss(
    session_id: UUID, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    await dependencies.suggestions.dismiss(visitor.caller, session_id, _call(form))
    message = "Suggestion dismissed for a while. You can undo this in the session."
    return done(back_or(form, f"{ENTRY}/{session_id}"), message)


@routes.post("/planner/{session_id}/restore")
async def restore(
    session_id: UUID, form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    await dependencies.suggestions.restore(visitor.caller, session_id, _call(form))
    return done(back_or(form, f"{ENTRY}/{session_id}"), "Dismissal undone.")


def _call(form: Form) -> int:
    call = form.text("call")
    if not call.isdecimal() or len(call) > 3:
        raise InvalidInput("call", call, "the number of the call")
    return int(call)


def _mode(field: str, text: str) -> Mode:
    try:
        return Mode(text)
    except ValueError as error:
        raise InvalidInput(field, text, f"one of {', '.join(Mode)}") from error
