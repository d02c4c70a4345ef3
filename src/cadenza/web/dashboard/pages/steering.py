"""What a person does to an endpoint between its runs: pause, hint, run now, and the like."""

from collections.abc import Awaitable, Callable
from uuid import UUID
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.steering import Steering
from cadenza.domain.access import Caller
from cadenza.web.api.parsing.bodies import IntervalHintBody, OneShotHintBody, validated
from cadenza.web.dashboard.forms import MENDABLE, NO_PROBLEMS, Form, Problems, problems_of
from cadenza.web.dashboard.query import local_instant
from cadenza.web.dashboard.rendering import back_or, done, page
from cadenza.web.dashboard.visitor import Operator, PageDependencies, Sent, zone_of
from cadenza.web.dashboard.words import interval_words

routes = APIRouter()
ENTRY = "/jobs"
HINT_FIELDS = ("interval", "ttl", "reason", "at", "in", "kind")


# --- One click --------------------------------------------------------------------------------


async def _pause(steering: Steering, caller: Caller, endpoint_id: UUID) -> None:
    await steering.pause(caller, endpoint_id, None, "")


Transition = Callable[[Steering, Caller, UUID], Awaitable[object]]
_BUTTONS: dict[str, tuple[Transition, str]] = {
    "pause": (_pause, "Endpoint paused until resumed."),
    "resume": (Steering.resume, "Endpoint resumed."),
    "clear-hints": (Steering.clear_hints, "Hints cleared. The baseline is back."),
    "reset-failures": (
        Steering.reset_failures,
        "Failures reset. The back-off has ended.",
    ),
    "run": (Steering.run_now, "Run requested. It starts as soon as a worker is free."),
}


def _press(transition: Transition, message: str) -> Callable[..., Awaitable[Response]]:
    """What a button does that needs nothing but the endpoint."""

    async def press(
        endpoint_id: UUID, form: Sent, visitor: Operator, dependencies: PageDependencies
    ) -> Response:
        await transition(dependencies.steering, visitor.caller, endpoint_id)
        return done(back_or(form, f"/endpoints/{endpoint_id}"), message)

    return press


for action, button in _BUTTONS.items():
    routes.add_api_route(f"/endpoints/{{endpoint_id}}/{action}", _press(*button), methods=["POST"])


@routes.post("/endpoints/{endpoint_id}/analyse")
async def analyse(
    endpoint_id: UUID, _form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    await dependencies.analysis_requests.ask(visitor.caller, endpoint_id)
    return done(f"/endpoints/{endpoint_id}", "Analysis requested. The planner starts it soon.")


@routes.post("/endpoints/{endpoint_id}/archive")
async def archive_endpoint(
    endpoint_id: UUID, _form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    await dependencies.endpoints.archive(visitor.caller, endpoint_id)
    message = "Endpoint archived. Its history is kept, and you can restore it."
    return done(f"/endpoints/{endpoint_id}", message)


@routes.post("/endpoints/{endpoint_id}/test")
async def call_once(
    endpoint_id: UUID,
    request: Request,
    _form: Sent,
    visitor: Operator,
    dependencies: PageDependencies,
) -> Response:
    """It is no run and counts for nothing; a reload would call again, and the browser asks."""
    outcome, took = await dependencies.endpoint_test.call(visitor.caller, endpoint_id)
    reads = dependencies.reads.endpoints
    stored = await reads.get_endpoint(visitor.caller.tenant_id, endpoint_id)
    return await page(
        request,
        "endpoints/test.html",
        entry=ENTRY,
        stored=stored,
        endpoint=stored.endpoint,
        outcome=outcome,
        took=took,
    )


# --- With a form ------------------------------------------------------------------------------


@routes.get("/endpoints/{endpoint_id}/hint")
async def show_hint(
    endpoint_id: UUID, request: Request, visitor: Operator, dependencies: PageDependencies
) -> Response:
    form = Form({"kind": "interval", "ttl": "1h"})
    return await _hint_form(request, endpoint_id, visitor, dependencies, form)


@routes.post("/endpoints/{endpoint_id}/hint")
async def hint(
    endpoint_id: UUID,
    request: Request,
    form: Sent,
    visitor: Operator,
    dependencies: PageDependencies,
) -> Response:
    steering, caller = dependencies.steering, visitor.caller
    try:
        if form.text("kind") == "once":
            body = validated(OneShotHintBody, _one_shot(form, zone_of(request)))
            run_at, ttl = body.parsed()
            await steering.hint_run(caller, endpoint_id, run_at, ttl, body.reason, body.written)
            message = "Run requested."
        else:
            asked = validated(IntervalHintBody, _interval(form))
            interval, ttl = asked.parsed()
            await steering.hint_interval(caller, endpoint_id, interval, ttl, asked.reason)
            message = f"Hint set: every {interval_words(interval)} for {interval_words(ttl)}."
    except MENDABLE as error:
        problems = problems_of(error, HINT_FIELDS)
        return await _hint_form(request, endpoint_id, visitor, dependencies, form, problems)
    return done(f"/endpoints/{endpoint_id}", message)


async def _hint_form(
    request: Request,
    endpoint_id: UUID,
    visitor: Operator,
    dependencies: PageDependencies,
    form: Form,
    problems: Problems = NO_PROBLEMS,
) -> Response:
    reads = dependencies.reads.endpoints
    stored = await reads.get_endpoint(visitor.caller.tenant_id, endpoint_id)
    return await page(
        request,
        "endpoints/hint.html",
        entry=ENTRY,
        stored=stored,
        endpoint=stored.endpoint,
        form=form,
        problems=problems,
    )


# --- What was typed ---------------------------------------------------------------------------


def _interval(form: Form) -> dict[str, str]:
    fields = {"interval": form.text("interval"), "ttl": form.text("ttl") or "1h"}
    return {**fields, "reason": form.text("reason")}


def _one_shot(form: Form, zone: ZoneInfo) -> dict[str, str]:
    fields = {"ttl": form.text("ttl") or "30m", "reason": form.text("reason")}
    if form.optional("at") is not None:
        return {**fields, "at": local_instant("at", form.text("at"), zone).isoformat()}
    return {**fields, "in": form.text("in")}
