"""One action on many endpoints: by their names, or on all that fit a filter."""

from typing import Annotated, Literal

from pydantic import Field

from cadenza.client.async_client import AsyncClient
from cadenza.client.generated import operations
from cadenza.domain.errors import InvalidInput
from cadenza.mcp.answers import Done, Fields, name_of
from cadenza.mcp.asking import Instant, Job, Name, Reason, one_of, together, without_none
from cadenza.mcp.overview_tools import State
from cadenza.mcp.registry import writes

MOST_NAMES = 100
MOST_SHOWN = 20


@writes("Steer many endpoints at once", is_destructive=True, is_idempotent=True)
async def steer_many(
    api: AsyncClient,
    action: Literal["pause", "resume", "clear-hints", "reset-failures"],
    endpoints: Annotated[list[Name] | None, Field(min_length=1, max_length=MOST_NAMES)] = None,
    job: Annotated[
        Job | None, Field(description="Instead of names: all endpoints of a job.")
    ] = None,
    search: Annotated[
        str | None,
        Field(min_length=1, max_length=200, description="Or: all whose name contains this."),
    ] = None,
    state: Annotated[State | None, Field(description="Or: all in this state.")] = None,
    until: Instant | None = None,
    reason: Reason | None = None,
    dry_run: Annotated[
        bool, Field(description="Only show which endpoints would be changed.")
    ] = True,
    expected: Annotated[
        int | None,
        Field(ge=0, description="For a filter: the count from the dry run; refused if more match."),
    ] = None,
) -> Done:
    """Pause, resume, clear the hints or reset the failures of many endpoints: up to 100 by name, or
    all that match every given filter (job, search, state), up to 10,000. Call it first with dry_run
    (the default), which returns the count. Then, if the person agrees, with dry_run false, and for
    a filter with that count as expected.

    Example: {"action": "reset-failures", "job": "shop", "state": "failing", "dry_run": false,
    "expected": 12}
    """
    filters = without_none(job=job, search=search, state=state)
    how = without_none(until=until, reason=reason)
    is_named = one_of(endpoints=endpoints, filter=filters or None) == "endpoints"
    if is_named:
        return await _on_named(api, action, endpoints or [], how, dry_run)
    if dry_run:
        return await _counted(api, action, filters)
    if expected is None:
        raise InvalidInput("expected", None, "give the number that the dry run told")
    return await _on_matching(api, action, filters, how, expected)


async def _on_named(
    api: AsyncClient, action: str, endpoints: list[str], how: Fields, dry_run: bool
) -> Done:
    calls = (api.call(operations.GET_ENDPOINT, name) for name in dict.fromkeys(endpoints))
    names = {endpoint["id"]: name_of(endpoint) for endpoint in await together(*calls)}
    if dry_run:
        return _would(action, len(names), list(names.values()))
    answer = await api.call(operations.ACT_ON_MANY, action=action, endpoint_ids=list(names), **how)
    others = [
        {"endpoint": names.get(item["endpoint_id"]), "result": item["result"]}
        for item in answer["items"]
        if item["result"] != "done"
    ]
    summary = f"{action}: {answer['done']} of {len(names)} endpoints"
    data = {"others": others[:MOST_SHOWN]}
    return Done(done=True, summary=summary, undo=_undo(action), data=data)


async def _counted(api: AsyncClient, action: str, filters: Fields) -> Done:
    counted, some = await together(
        api.call(operations.COUNT_MATCHING, **filters),
        api.call(operations.LIST_ENDPOINTS, **filters, limit=MOST_SHOWN),
    )
    if counted["is_more"]:
        fix = f"narrow it down: more than {counted['count']} endpoints fit"
        raise InvalidInput("filter", filters, fix)
    return _would(action, counted["count"], [name_of(endpoint) for endpoint in some["items"]])


def _would(action: str, count: int, names: list[str]) -> Done:
    summary = f"A dry run, nothing was changed: {action} would be for {count} endpoints"
    return Done(done=False, summary=summary, data={"count": count, "endpoints": names[:MOST_SHOWN]})


async def _on_matching(
    api: AsyncClient, action: str, filters: Fields, how: Fields, expected: int
) -> Done:
    asked = {name: value for name, value in filters.items() if name != "job"}
    if "job" in filters:
        asked["job_id"] = (await api.call(operations.GET_JOB, filters["job"]))["id"]
    answer = await api.call(
        operations.ACT_ON_MATCHING, action=action, expected=expected, **asked, **how
    )
    if not answer["matched"]:
        return Done(done=False, summary="Nothing was changed: no endpoint fits")
    summary = f"{action}: {answer['done']} of {answer['matched']} endpoints"
    return Done(done=True, summary=summary, undo=_undo(action), data=answer)


def _undo(action: str) -> str | None:
    """Of a filter by state others fit afterwards."""
    return "steer_many with action resume, for the same endpoints" if action == "pause" else None


TOOLS = (steer_many,)
