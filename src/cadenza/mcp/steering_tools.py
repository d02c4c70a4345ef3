"""Steering by hand: pauses, hints, runs, tests, what planners suggest, and their switch."""

from typing import Annotated, Any, Literal

from pydantic import Field

from cadenza.client.async_client import AsyncClient
from cadenza.client.core import Operation
from cadenza.client.generated import operations
from cadenza.domain.errors import InvalidInput
from cadenza.mcp.answers import Done, Fields, name_of
from cadenza.mcp.asking import (
    Duration,
    Endpoint,
    Instant,
    Job,
    Reason,
    one_of,
    whole_id,
    without_none,
)
from cadenza.mcp.history_tools import Id
from cadenza.mcp.registry import writes

Action = Literal[
    "pause", "resume", "clear_hints", "reset_failures", "run_now", "test", "analyse",
    "stop_planner", "start_planner",
]  # fmt: skip
_BY_NAME: dict[str, Operation] = {
    "pause": operations.PAUSE,
    "resume": operations.RESUME,
    "clear_hints": operations.CLEAR_HINTS,
    "reset_failures": operations.RESET_FAILURES,
    "run_now": operations.RUN_NOW,
    "analyse": operations.ANALYSE,
}
_OF_JOB = {"pause": operations.PAUSE_JOB, "resume": operations.RESUME_JOB}
_HAVE_A_REASON = ("pause", "stop_planner")
_UNDO = {"pause": "steer with action resume", "resume": "steer with action pause"}


@writes("Pause, resume, run now, stop the planner …", is_idempotent=False)
async def steer(
    api: AsyncClient,
    action: Action,
    endpoint: Endpoint | None = None,
    job: Annotated[Job | None, Field(description="A whole job; only for pause and resume.")] = None,
    until: Annotated[
        Instant | None, Field(description="End of a pause; without it, until resumed.")
    ] = None,
    reason: Reason | None = None,
) -> Done:
    """Pause or resume an endpoint or a whole job, clear hints (the baseline returns at once), reset
    failures and their back-off, run an endpoint now, or ask planners to analyse it. test calls its
    target once without recording a run; the target is really called, so ask the person first if
    that has effects. stop_planner takes neither endpoint nor job: no rule, detector or model acts
    or suggests anything in the whole tenant, while baselines continue and current hints expire;
    start_planner restores the previous modes, except those set in the meantime.

    Examples: {"action": "pause", "endpoint": "shop/queue", "until": "2026-11-18T09:00Z",
    "reason": "maintenance"}; {"action": "run_now", "endpoint": "shop/queue"};
    {"action": "stop_planner", "reason": "a strange night"}
    """
    if until and action != "pause":
        raise InvalidInput("until", until, "only a pause has one")
    if reason and action not in _HAVE_A_REASON:
        raise InvalidInput("reason", reason, "only a pause and stop_planner have one")
    if action in ("stop_planner", "start_planner"):
        if endpoint or job:
            raise InvalidInput("action", action, "of the whole tenant: no endpoint and no job")
        return await (
            _stop_planner(api, reason) if action == "stop_planner" else _start_planner(api)
        )
    which = one_of(endpoint=endpoint, job=job)
    name = endpoint or job or ""
    if action == "test" and endpoint:
        return await _test(api, endpoint)
    operation = (_BY_NAME if which == "endpoint" else _OF_JOB).get(action)
    if operation is None:
        raise InvalidInput("action", action, "of a whole job: pause or resume")
    answer = await api.call(operation, name, **without_none(until=until, reason=reason))
    return Done(
        done=True, summary=f"{action}: {which} {name}", undo=_UNDO.get(action), data=_now(answer)
    )


async def _test(api: AsyncClient, endpoint: str) -> Done:
    answer = await api.call(operations.TEST_ENDPOINT, endpoint)
    summary = f"{answer['status']} in {answer['duration_ms']} ms"
    return Done(done=True, summary=summary, data=answer)


async def _stop_planner(api: AsyncClient, reason: str | None) -> Done:
    now = await api.call(operations.STOP_PLANNER, **without_none(reason=reason))
    jobs = now["stop"]["jobs"]
    summary = f"the planner is stopped; {jobs} jobs had modes of their own, which are kept"
    return Done(done=True, summary=summary, undo="steer with action start_planner", data=now)


async def _start_planner(api: AsyncClient) -> Done:
    before = (await api.call(operations.GET_PLANNER))["stop"]
    now = await api.call(operations.START_PLANNER)
    modes = ", ".join(f"{name} {mode}" for name, mode in now["modes"].items())
    if before is None:
        return Done(done=False, summary=f"It was not stopped: {modes}", data=now)
    summary = f"the planner goes on: {modes}; {before['jobs']} jobs have modes of their own again"
    return Done(done=True, summary=summary, undo="steer with action stop_planner", data=now)


def _now(answer: Fields) -> Fields:
    names = ("id", "name", "slot_at", "next_run_at", "next_source", "hints", "pauses", "paused")
    return {name: answer[name] for name in (*names, "paused_until") if name in answer}


@writes("Change a schedule temporarily", is_idempotent=True)
async def hint(
    api: AsyncClient,
    endpoint: Endpoint,
    interval: Annotated[
        Duration | None, Field(description="Temporary interval between runs.")
    ] = None,
    run_at: Annotated[Instant | None, Field(description="Or: one run at this time.")] = None,
    run_in: Annotated[Duration | None, Field(description="Or: one run after this time.")] = None,
    ttl: Annotated[
        Duration | None, Field(description="How long the hint lasts; then the baseline returns.")
    ] = None,
    reason: Reason | None = None,
) -> Done:
    """Change one endpoint's schedule temporarily, within its min and max intervals: another
    interval, or one extra run. For a permanent change use change.

    Examples: {"endpoint": "shop/queue", "interval": "30s", "ttl": "1h", "reason": "sale"};
    {"endpoint": "shop/report", "run_in": "10m"}
    """
    which = one_of(interval=interval, run_at=run_at, run_in=run_in)
    fields: dict[str, Any] = without_none(ttl=ttl, reason=reason)
    if which == "interval":
        answer = await api.call(operations.HINT_INTERVAL, endpoint, interval=interval, **fields)
    else:
        when = without_none(at=run_at, in_=run_in)
        answer = await api.call(operations.HINT_ONE_SHOT, endpoint, **when, **fields)
    summary = f"{name_of(answer)} runs next at {answer['next_run_at']} ({answer['next_source']})"
    undo = "steer with action clear_hints"
    return Done(done=True, summary=summary, undo=undo, data=_now(answer))


@writes("Accept or dismiss a suggestion", is_idempotent=True)
async def decide_suggestion(
    api: AsyncClient,
    session: Annotated[Id, Field(description="The session that suggested it.")],
    decision: Literal["accept", "dismiss", "restore"],
    call: Annotated[
        int | None, Field(ge=0, description="Which of its suggestions, if it made several.")
    ] = None,
) -> Done:
    """Accept what a planner suggested (within the planner's limits), dismiss it, or restore a
    dismissed suggestion. Only if the person has decided. get_sessions with only_open_suggestions
    lists them.

    Example: {"session": "01a1ece2-aff1", "decision": "accept"}
    """
    session_id = await whole_id(api, "session", "session", session)
    decisions = {
        "accept": operations.ACCEPT,
        "dismiss": operations.DISMISS,
        "restore": operations.RESTORE,
    }
    answer = await api.call(decisions[decision], session_id, **without_none(call=call))
    undo = "decide_suggestion with decision restore" if decision == "dismiss" else None
    return Done(done=True, summary=f"{decision}: done", undo=undo, data=answer)


TOOLS = (steer, hint, decide_suggestion)
