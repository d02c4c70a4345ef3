"""Where a model begins: what there is, what is wrong, and how to find a thing."""

from collections.abc import Awaitable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from cadenza.client.async_client import AsyncClient
from cadenza.client.errors import ClientError, NotAllowed
from cadenza.client.generated import operations
from cadenza.mcp.answers import (
    EndpointLine,
    Entry,
    Fields,
    JobLine,
    Page,
    RunLine,
    SessionLine,
)
from cadenza.mcp.asking import Cursor, Instant, Job, Limit, page, together
from cadenza.mcp.registry import reads

MOST_IN_TROUBLE = 10
State = Literal["active", "paused", "failing", "late", "hinted", "archived"]


class Overview(BaseModel):
    you: Fields
    ready: bool
    endpoints: Fields
    runs_last_hour: Fields
    runs_last_day: Fields
    failing: list[EndpointLine]
    late: list[EndpointLine]
    workers: list[Fields]
    planner: Fields
    note: str | None = None


class Matches(BaseModel):
    jobs: list[JobLine]
    endpoints: list[EndpointLine]
    runs: list[RunLine]
    sessions: list[SessionLine]
    since: str
    note: str | None = None


@reads("Overview: state of everything, and current problems")
async def get_overview(api: AsyncClient) -> Overview:
    """Start here. Returns your user, tenant and scopes, endpoints by state, runs of the last hour
    and day, endpoints that fail or are late now, workers, whether the planner is stopped (`stop`),
    and its remaining quota of this month.

    Next: get_incidents; list_runs for a failing endpoint; get_endpoint for why it runs when it
    does.
    """
    me, states, usage, workers, tenant, quota, planner, ready, failing, late = await together(
        api.call(operations.ME),
        api.call(operations.GET_STATES),
        api.call(operations.GET_USAGE),
        _if_allowed(api.call(operations.LIST_WORKERS, limit=20)),
        _if_allowed(api.call(operations.GET_OWN_TENANT)),
        api.call(operations.GET_QUOTA),
        _if_allowed(api.call(operations.GET_PLANNER)),
        _is_ready(api),
        *(
            page(api, EndpointLine, operations.LIST_ENDPOINTS, state=state, limit=MOST_IN_TROUBLE)
            for state in ("failing", "late")
        ),
    )
    is_cut = failing.next_cursor or late.next_cursor
    return Overview(
        you={name: me[name] for name in ("user_name", "tenant_name", "scopes")},
        ready=ready,
        endpoints={"jobs": usage["jobs"], **states},
        runs_last_hour=usage["last_hour"],
        runs_last_day=usage["last_day"],
        failing=failing.items,
        late=late.items,
        workers=workers["items"] if workers else [],
        planner={**(tenant or {}), **(planner or {}), "quota": quota},
        note="More fail or are late: list_endpoints with a state." if is_cut else None,
    )


async def _if_allowed(call: Awaitable[Any]) -> Any:
    """What only an admin sees is left out for others."""
    try:
        return await call
    except NotAllowed:
        return None


async def _is_ready(api: AsyncClient) -> bool:
    try:
        return (await api.call(operations.READYZ))["ready"]
    except ClientError:
        return False


@reads("Search everything")
async def search(
    api: AsyncClient,
    query: Annotated[str, Field(min_length=1, max_length=200, examples=["timeout", "503"])],
    limit: Annotated[int, Field(ge=1, le=20, description="Results of each kind.")] = 10,
) -> Matches:
    """Find jobs and endpoints by name, runs by error or status code, and planner sessions by their
    reasoning. Runs and sessions are searched over the last seven days.

    Example: {"query": "connection refused"}
    """
    matches = await api.call(operations.SEARCH, q=query, limit=limit)
    return Matches(
        jobs=[JobLine.of(job) for job in matches["jobs"]],
        endpoints=[EndpointLine.of(endpoint) for endpoint in matches["endpoints"]],
        runs=[RunLine.of(run) for run in matches["runs"]],
        sessions=[SessionLine.of(session) for session in matches["sessions"]],
        since=matches["since"],
    )


@reads("List jobs")
async def list_jobs(
    api: AsyncClient,
    search: Annotated[str | None, Field(max_length=200, description="Part of the name.")] = None,
    archived: bool = False,
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Page[JobLine]:
    """List jobs. A job is a description in plain words with its endpoints and rules.

    Example: {"search": "shop"}
    """
    fields = {"search": search, "archived": archived, "limit": limit, "cursor": cursor}
    return await page(api, JobLine, operations.LIST_JOBS, **fields)


@reads("List endpoints")
async def list_endpoints(
    api: AsyncClient,
    job: Job | None = None,
    search: Annotated[str | None, Field(max_length=200, description="Part of the name.")] = None,
    state: State | None = None,
    sort: Literal["created_at", "name", "next_run_at"] = "name",
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Page[EndpointLine]:
    """List endpoints with their target, baseline and next run.

    Examples: {"state": "failing"}; {"job": "shop", "sort": "next_run_at"}
    """
    fields = {"job": job, "search": search, "state": state, "sort": sort}
    return await page(
        api, EndpointLine, operations.LIST_ENDPOINTS, **fields, limit=limit, cursor=cursor
    )


@reads("The audit log")
async def list_audit(
    api: AsyncClient,
    actor: Annotated[
        str | None, Field(max_length=200, description="Part of the name of who did it.")
    ] = None,
    action: Annotated[str | None, Field(max_length=100, examples=["endpoint.pause"])] = None,
    subject: Annotated[
        str | None, Field(max_length=200, description="Id of what it was done to.")
    ] = None,
    from_at: Instant | None = None,
    to_at: Instant | None = None,
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Page[Entry]:
    """Who did what, newest first. Your own writes are recorded too, under your key and its user.

    Example: {"action": "endpoint.pause", "limit": 5}
    """
    fields = {"actor": actor, "action": action, "subject": subject, "from_": from_at, "to": to_at}
    return await page(api, Entry, operations.LIST_AUDIT, **fields, limit=limit, cursor=cursor)


TOOLS = (get_overview, search, list_jobs, list_endpoints, list_audit)
