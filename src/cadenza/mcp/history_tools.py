"""What happened: runs, the timeline of a job, and sessions of planners."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field

from cadenza.client.async_client import AsyncClient
from cadenza.client.errors import NoSuchName
from cadenza.client.generated import operations
from cadenza.domain.errors import InvalidInput
from cadenza.mcp.answers import Entry, Fields, Page, Record, RunLine, SessionLine
from cadenza.mcp.asking import (
    Cursor,
    Endpoint,
    Instant,
    Job,
    Limit,
    one_of,
    page,
    together,
    whole_id,
    without_none,
)
from cadenza.mcp.registry import reads

Status = Literal["running", "success", "failure", "timeout", "cancelled"]
Source = Literal[
    "baseline-cron", "baseline-interval", "ai-interval", "ai-oneshot", "clamped-min", "clamped-max",
    "retry-after", "paused", "resumed", "manual",
]  # fmt: skip
Id = Annotated[str, Field(min_length=8, max_length=60)]
NEAR = timedelta(hours=1)
LANES = 5
PLANNER_DAYS = 7


class History(Page[Entry]):
    """What happened, as items, or counts, as data."""

    summary: str | None = None
    items: list[Entry] = Field(default_factory=list[Entry])
    data: Fields = Field(default_factory=Fields)


class Sessions(Page[SessionLine]):
    """Some, as items, or one, as data."""

    summary: str
    items: list[SessionLine] = Field(default_factory=list[SessionLine])
    data: Fields = Field(default_factory=Fields)


@reads("List runs")
async def list_runs(
    api: AsyncClient,
    endpoint: Endpoint | None = None,
    job: Job | None = None,
    status: Annotated[list[Status] | None, Field(max_length=5)] = None,
    source: Annotated[list[Source] | None, Field(max_length=10)] = None,
    is_manual: bool | None = None,
    error: Annotated[
        str | None, Field(max_length=200, description="Part of the error kind or message.")
    ] = None,
    status_code: Annotated[int | None, Field(ge=100, le=599)] = None,
    from_at: Instant | None = None,
    to_at: Instant | None = None,
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Page[RunLine]:
    """Runs, newest slot first: when, why (`source`), how they ended. get_run returns the response.

    Example: {"endpoint": "shop/queue", "status": ["failure", "timeout"], "limit": 10}
    """
    which = {"endpoint": endpoint, "job": job, "is_manual": is_manual, "error": error}
    how = {"status": status, "source": source, "status_code": status_code}
    when = {"from_": from_at, "to": to_at, "limit": limit, "cursor": cursor}
    return await page(api, RunLine, operations.LIST_RUNS, **which, **how, **when)


@reads("One run, and why it ran then")
async def get_run(
    api: AsyncClient,
    run: Annotated[Id | None, Field(description="Its id, or the beginning of it.")] = None,
    endpoint: Endpoint | None = None,
    at: Annotated[
        Instant | None,
        Field(description="With endpoint: the run whose slot is nearest to this time."),
    ] = None,
) -> Record:
    """One run: why it ran then (`plan`: the candidates and the winner), the request, the response,
    and the runs before and after. Give its id, or an endpoint and a time.

    Example, for "why did it run at 03:47?": {"endpoint": "shop/queue", "at": "2026-11-18T03:47Z"}
    """
    if one_of(run=run, at=at) == "run":
        run_id = await whole_id(api, "run", "run", run or "")
    else:
        run_id = await _nearest(api, endpoint, at or "")
    record: Fields = await api.call(operations.GET_RUN, run_id)
    summary = (
        f"{record['job']}/{record['endpoint']} at {record['slot_at']}: {record['status']}; "
        f"it ran then because of {record['source']}"
    )
    return Record(summary=summary, data=record)


async def _nearest(api: AsyncClient, endpoint: str | None, at: str) -> str:
    if endpoint is None:
        raise InvalidInput("endpoint", None, "name the endpoint whose run it is")
    instant = _instant(at)
    asked = {"from_": instant - NEAR, "to": instant + NEAR, "limit": 200}
    runs = (await api.call(operations.LIST_RUNS, endpoint=endpoint, **asked))["items"]
    if not runs:
        raise NoSuchName(f"{endpoint!r} has no run within an hour of {at}; list_runs has others")
    nearest = min(runs, key=lambda run: abs(datetime.fromisoformat(run["slot_at"]) - instant))
    return nearest["id"]


def _instant(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
        aware = instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
        return max(min(aware, _LAST), _FIRST)
    except (ValueError, OverflowError) as error:
        raise InvalidInput("at", text, "write it like 2026-11-18T03:47:00Z") from error


_FIRST = datetime(1970, 1, 2, tzinfo=UTC)
_LAST = datetime(9990, 1, 1, tzinfo=UTC)


@reads("The history of a job, and runs over time")
async def get_timeline(
    api: AsyncClient,
    job: Job | None = None,
    view: Annotated[
        Literal["timeline", "score", "counts"],
        Field(
            description="timeline: everything by time. score: by endpoint, with hints and pauses. "
            "counts: how runs ended, how late and how long they were, in spans of time."
        ),
    ] = "timeline",
    endpoint: Annotated[
        Endpoint | None, Field(description="Only for counts: one endpoint.")
    ] = None,
    from_at: Instant | None = None,
    to_at: Instant | None = None,
    limit: Annotated[int, Field(ge=1, le=50)] = 20,
    cursor: Cursor | None = None,
) -> History:
    """What happened in a job: runs and actions of people and planners, newest first. Or its score:
    for each endpoint its runs, hints and pauses with author and reason, and planned runs. Or counts
    of runs in `limit` spans of time ("is it getting worse?", by default the last hour) for a job,
    an endpoint, or everything; for everything also what planners did and cost, by day, in the last
    week.

    Examples: {"job": "shop", "from_at": "2026-11-18T03:00Z", "to_at": "2026-11-18T04:30Z"};
    {"view": "counts", "endpoint": "shop/queue", "from_at": "2026-11-17T00:00Z"}
    """
    when = without_none(from_=from_at, to=to_at, cursor=cursor)
    if view == "counts":
        return await _counts(api, limit, without_none(job=job, endpoint=endpoint), when)
    if job is None or endpoint is not None:
        raise InvalidInput("job", job, f"{view} is of a job, and of no single endpoint")
    if view == "timeline":
        entries = await page(api, Entry, operations.GET_TIMELINE, job, limit=limit, **when)
        return History(**dict(entries))
    score = await api.call(operations.GET_SCORE, job, lanes=min(limit, LANES), runs=10, **when)
    more = score["next"]
    note = f"{score['lanes_total']} endpoints in all: ask with next_cursor." if more else None
    items = [Entry.of(_lane(lane)) for lane in score["lanes"]]
    return History(items=items, next_cursor=more, note=note)


async def _counts(api: AsyncClient, spans: int, which: Fields, when: Fields) -> History:
    if "cursor" in when:
        raise InvalidInput("cursor", when["cursor"], "counts have no pages")
    activity: Fields = await api.call(operations.GET_ACTIVITY, **which, **when, buckets=spans)
    if not which:
        activity["planner"] = await api.call(operations.GET_PLANNER_DAYS, days=PLANNER_DAYS)
    runs = sum(sum(bucket["counts"].values()) for bucket in activity["buckets"])
    bad = sum(bucket["failed"] + bucket["timed_out"] for bucket in activity["buckets"])
    summary = f"{runs} runs from {activity['from']} to {activity['to']}, {bad} of them not well"
    return History(summary=summary, data=activity)


def _lane(lane: Fields) -> Fields:
    """What bent it stands beside the last runs."""
    last = {name: lane[name][-5:] for name in ("runs", "windows", "flags")}
    planned = {name: lane[name][:3] for name in ("planned", "baseline")}
    return {"name": lane["endpoint"]["name"], **lane["endpoint"], **last, **planned}


@reads("What planners did, and what they suggest")
async def get_sessions(
    api: AsyncClient,
    session: Annotated[
        Id | None, Field(description="Id of one session, or the beginning of it.")
    ] = None,
    endpoint: Endpoint | None = None,
    job: Job | None = None,
    brain: Annotated[str | None, Field(max_length=60, examples=["rules"])] = None,
    search: Annotated[
        str | None, Field(max_length=200, description="Part of the reasoning.")
    ] = None,
    only_open_suggestions: Annotated[
        bool,
        Field(description="Only what decide_suggestion can accept now; excludes other filters."),
    ] = False,
    from_at: Instant | None = None,
    to_at: Instant | None = None,
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Sessions:
    """Sessions of planners (rules, detectors, models): what each did, suggested or was refused. Or
    one session in full: what the planner saw, its tool calls and conclusions, and the runs that its
    hints and pauses led to.

    Examples: {"endpoint": "shop/queue"}; {"only_open_suggestions": true};
    {"session": "01a1ece2-aff1"}
    """
    if session is not None:
        return await _session(api, session)
    if only_open_suggestions:
        suggestions = await api.call(operations.LIST_SUGGESTIONS, limit=limit)
        items = [SessionLine.of_suggestion(item) for item in suggestions["items"]]
        return Sessions(summary=f"{len(items)} open suggestions", items=items)
    fields = {"endpoint": endpoint, "job": job, "brain": brain, "search": search}
    when = {"from_": from_at, "to": to_at, "limit": limit, "cursor": cursor}
    lines = await page(api, SessionLine, operations.LIST_SESSIONS, **fields, **when)
    return Sessions(summary=f"{len(lines.items)} sessions", **dict(lines))


async def _session(api: AsyncClient, session: str) -> Sessions:
    session_id = await whole_id(api, "session", "session", session)
    record, runs = await together(
        api.call(operations.GET_SESSION, session_id),
        api.call(operations.RUNS_OF_SESSION, session_id, limit=50),
    )
    did = ", ".join(record["did"] or record["suggested"]) or "nothing"
    where = f"{record['job']}/{record['endpoint']}"
    summary = f"{record['brain']} looked at {where} at {record['started_at']}: {did}"
    return Sessions(summary=summary, data={**record, "runs": runs["items"]})


TOOLS = (list_runs, get_run, get_timeline, get_sessions)
