"""Schedules of AI graphs, and what else there is: accounts, grants, keys, workers, people."""

from typing import Annotated, Any, Literal

from pydantic import Field

from cadenza.client.async_client import AsyncClient
from cadenza.client.core import Operation
from cadenza.client.generated import operations
from cadenza.domain.errors import InvalidInput
from cadenza.mcp.answers import Done, Entry, Fields, Records
from cadenza.mcp.asking import (
    Confirm,
    Cursor,
    Limit,
    Name,
    Schedule,
    exact_id,
    page,
    together,
    whole_id,
    without_none,
)
from cadenza.mcp.history_tools import Id
from cadenza.mcp.incident_tools import DeliveryEntry, marked_delivery, without_path
from cadenza.mcp.registry import reads, writes

Kind = Literal[
    "accounts", "grants", "graphs", "workers", "keys", "users", "signing_keys", "people",
    "invitations", "channels", "routes", "webhooks", "deliveries",
]  # fmt: skip
_LISTS: dict[str, tuple[Operation, bool]] = {  # whether it has pages
    "accounts": (operations.LIST_ACCOUNTS, True),
    "grants": (operations.LIST_GRANTS, True),
    "graphs": (operations.LIST_GRAPHS, True),
    "workers": (operations.LIST_WORKERS, False),
    "keys": (operations.LIST_KEYS, False),
    "users": (operations.LIST_USERS, False),
    "signing_keys": (operations.LIST_SIGNING_KEYS, False),
    "people": (operations.LIST_PEOPLE, False),
    "invitations": (operations.LIST_INVITATIONS, False),
    "channels": (operations.LIST_CHANNELS, False),
    "routes": (operations.LIST_ROUTES, False),
    "webhooks": (operations.LIST_WEBHOOKS, False),
    "deliveries": (operations.LIST_DELIVERIES, True),
}
_REVOKED = {
    "revoke_grant": operations.REVOKE_GRANT,
    "revoke_key": operations.REVOKE_KEY,
    "revoke_invitation": operations.REVOKE_INVITATION,
    "remove_person": operations.REMOVE_PERSON,
}
_LISTS_OF_JOB = {
    "people": operations.LIST_PEOPLE_OF_JOB,
    "invitations": operations.LIST_INVITATIONS_TO_JOB,
    "keys": operations.LIST_KEYS_OF_JOB,
}
_REVOKED_OF_JOB = {
    "revoke_key": operations.REVOKE_KEY_OF_JOB,
    "revoke_invitation": operations.REVOKE_INVITATION_TO_JOB,
    "take_role": operations.TAKE_ROLE_FOR_JOB,
}


@reads("Schedules of graphs, and their runs")
async def get_schedules(
    api: AsyncClient,
    schedule: Schedule | None = None,
    run: Annotated[Id | None, Field(description="One run of it, by id.")] = None,
    events_after: Annotated[
        int | None, Field(ge=1, description="With run: only events after this number.")
    ] = None,
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Records:
    """Schedules of AI graphs. Without arguments: all of them. With a schedule: that one and its
    last runs. With a run: its output, cost, events, and the question that it waits for, if any.

    Examples: {}; {"schedule": "nightly-report"}
    """
    if schedule is None:
        return await _listed(
            api, "schedules", operations.LIST_SCHEDULES, limit=limit, cursor=cursor
        )
    if run is not None:
        return await _run(api, schedule, run, events_after, limit)
    stored = await api.call(operations.GET_SCHEDULE, schedule)
    asked = without_none(limit=limit, cursor=cursor)
    runs = await api.call(operations.LIST_SCHEDULE_RUNS, stored["id"], **asked)
    summary = (
        f"{stored['name']} runs {stored['graph_id']} at {stored['cron']} ({stored['timezone']})"
    )
    return Records(summary=summary, data={**stored, "runs": runs["items"], "next": runs["next"]})


async def _run(api: AsyncClient, schedule: str, run: str, after: int | None, limit: int) -> Records:
    run_id = await whole_id(api, "schedule-run", "run", run)
    record: Fields = await api.call(operations.GET_SCHEDULE_RUN, schedule, run_id)
    if after is not None:
        record["events"] = await api.call(
            operations.LIST_SCHEDULE_RUN_EVENTS, schedule, run_id, after=after, limit=limit
        )
    events = record.pop("events")
    # What a graph prints and answers is its own, as a body is a target's.
    data = {**record, "next_events": events["next"], "events": _marked(events["items"])}
    return Records(summary=f"the run at {record['slot_at']}: {record['status']}", data=data)


def _marked(events: list[Fields]) -> list[Fields]:
    return [{**event, "output": event["data"], "data": None} for event in events]


@reads("Accounts, grants, graphs, workers, keys, people, notifications")
async def get_records(
    api: AsyncClient,
    kind: Kind,
    name: Annotated[
        Name | None,
        Field(
            description="One of them: an account by name, a grant or delivery by id. For people,"
            " invitations and keys a job, by name: those for that job alone."
        ),
    ] = None,
    group_by: Annotated[
        Literal["day", "schedule", "endpoint", "graph", "job", "model"],
        Field(description="How to group the usage of one account."),
    ] = "day",
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Records:
    """All other records, by kind. One account includes usage, ledger and provider keys (without
    their secrets), one grant its uses, one delivery (something sent to a channel or webhook) its
    content. Addresses of channels and webhooks may contain secrets and are shortened. Some kinds
    need a key with the scope admin.

    Examples: {"kind": "workers"}; {"kind": "accounts", "name": "research", "group_by": "model"}
    """
    if name is not None and kind == "accounts":
        return await _account(api, name, group_by)
    if name is not None and kind == "grants":
        grant = await api.call(operations.GET_GRANT, await whole_id(api, "grant", "name", name))
        return Records(summary=f"the grant {grant['id']} is {grant['state']}", data=grant)
    if name is not None and kind == "deliveries":
        sent_id = await whole_id(api, "delivery", "name", name)
        sent = marked_delivery(await api.call(operations.GET_DELIVERY, sent_id))
        return Records(summary=f"{sent['title']}: {sent['status']}", data=sent)
    if name is not None and kind in _LISTS_OF_JOB:
        job = await api.call(operations.GET_JOB, name)
        return _cut(await api.call(_LISTS_OF_JOB[kind], job["id"]), kind, limit)
    if name is not None and kind != "graphs":
        fix = "only accounts, grants, graphs and deliveries are asked for by name or id"
        raise InvalidInput("name", name, fix)
    operation, has_pages = _LISTS[kind]
    if not has_pages:
        return _cut(await api.call(operation), kind, limit)
    return await _listed(api, kind, operation, limit=limit, cursor=cursor, graph_id=name)


def _cut(listed: Fields, kind: str, limit: int) -> Records:
    line = without_path if kind == "webhooks" else dict[str, Any]
    items = [Entry.of(line(item)) for item in listed["items"]]
    note = f"The first {limit} of {len(items)}." if len(items) > limit else None
    return Records(summary=f"{len(items)} {kind}", items=items[:limit], note=note)


async def _listed(api: AsyncClient, kind: str, operation: Operation, **fields: Any) -> Records:
    line = DeliveryEntry if kind == "deliveries" else Entry
    listed = await page(api, line, operation, **fields)
    return Records(
        summary=f"{len(listed.items)} {kind}",
        items=list(listed.items),
        next_cursor=listed.next_cursor,
        note=listed.note,
    )


async def _account(api: AsyncClient, name: str, group_by: str) -> Records:
    account = await api.call(operations.GET_ACCOUNT, name)
    usage, ledger, keys, check = await together(
        api.call(operations.GET_ACCOUNT_USAGE, account["id"], group_by=group_by),
        api.call(operations.LIST_LEDGER, account["id"], limit=20),
        api.call(operations.LIST_VIRTUAL_KEYS, account["id"]),
        api.call(operations.VERIFY_LEDGER, account["id"]),
    )
    data: dict[str, Any] = {"usage": usage, "ledger": ledger["items"], "provider_keys": keys}
    summary = f"{account['name']} has {account['balance']} credits"
    return Records(summary=summary, data={**account, **data, "check": check})


@writes("Run, cancel or answer a run of a graph")
async def act_on_schedule(
    api: AsyncClient,
    schedule: Schedule,
    action: Literal["run", "cancel", "answer"],
    run: Annotated[
        Id | None, Field(description="For cancel and answer: the id of the run.")
    ] = None,
    answer: Annotated[
        Any, Field(description="For answer: the answer to the question of the run.")
    ] = None,
) -> Done:
    """Start a graph now, cancel a run, or answer the question that a run waits for. A run costs
    credits of its account.

    Example: {"schedule": "nightly-report", "action": "run"}
    """
    if action == "run":
        slot = await api.call(operations.RUN_SCHEDULE, schedule)
        return Done(done=True, summary=f"a run is wanted for {slot['slot_at']}", data=slot)
    run_id = await whole_id(api, "schedule-run", "run", run or "")
    if action == "cancel":
        cancelled = await api.call(operations.CANCEL_SCHEDULE_RUN, schedule, run_id)
        return Done(done=True, summary=f"the run is {cancelled['status']}", data=cancelled)
    slot = await api.call(operations.ANSWER_SCHEDULE_RUN, schedule, run_id, answer=answer)
    return Done(done=True, summary="answered; it goes on as a new run", data=slot)


@writes("Credits, provider keys, grants, keys and people", is_destructive=True)
async def manage_access(
    api: AsyncClient,
    action: Literal[
        "add_credits",
        "set_default_key",
        "revoke_provider_key",
        "revoke_grant",
        "revoke_key",
        "revoke_invitation",
        "remove_person",
        "take_role",
    ],
    account: Annotated[Name | None, Field(description="For credits and provider keys.")] = None,
    id: Annotated[  # noqa: A002 - a model reads it
        Id | None, Field(description="Id of the key, grant, invitation or person.")
    ] = None,
    credits: Annotated[  # noqa: A002
        int | None, Field(description="Credits to add; a negative number removes some.")
    ] = None,
    job: Annotated[
        Name | None,
        Field(
            description="For take_role; and for a key or invitation that is for this job alone,"
            " which its owner may revoke."
        ),
    ] = None,
    reason: Annotated[str | None, Field(max_length=200)] = None,
    reference: Annotated[
        str | None,
        Field(max_length=200, description="Your own reference; repeating it adds nothing twice."),
    ] = None,
    confirm: Confirm = False,
) -> Done:
    """Add credits to an account, choose its default provider key, revoke a provider key, a grant,
    an API key or an invitation, remove a person with their keys and grants, or remove their role
    for one job. Only credits and the default key can be undone. Creating keys, invitations and
    roles is not possible here, because secrets must not pass through an assistant.

    Example: {"action": "revoke_grant", "id": "01a1ece2-aff1-7…", "confirm": true}
    """
    if not confirm:
        return Done(done=False, summary=f"{action} waits for confirm: true. Nothing was changed.")
    if action == "add_credits":
        fields = without_none(credits=credits, reason=reason, reference=reference)
        entry = await api.call(operations.ADD_CREDITS, _needed("account", account), **fields)
        return Done(done=True, summary=f"the balance is {entry['balance']}", data=entry)
    wanted = exact_id("id", id)
    if action in ("set_default_key", "revoke_provider_key"):
        operation = (
            operations.SET_DEFAULT_KEY
            if action == "set_default_key"
            else operations.REVOKE_VIRTUAL_KEY
        )
        data = await api.call(operation, _needed("account", account), wanted)
    elif job is not None or action == "take_role":
        of_job = await api.call(operations.GET_JOB, _needed("job", job))
        if action not in _REVOKED_OF_JOB:
            raise InvalidInput("job", job, "it is for keys, invitations and roles of one job")
        data = await api.call(_REVOKED_OF_JOB[action], of_job["id"], wanted)
    else:
        data = await api.call(_REVOKED[action], wanted)
    return Done(done=True, summary=f"{action}: done", data=data)


def _needed(field: str, value: str | None) -> str:
    if value is None:
        raise InvalidInput(field, None, "this action needs it")
    return value


TOOLS = (get_schedules, get_records, act_on_schedule, manage_access)
