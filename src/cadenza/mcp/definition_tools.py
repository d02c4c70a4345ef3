"""What is defined: a whole file of jobs, one thing made or changed, and its end."""

from typing import Annotated, Any, Literal, cast

from pydantic import Field

from cadenza.client.async_client import AsyncClient
from cadenza.client.generated import operations
from cadenza.domain.errors import InvalidInput
from cadenza.manifest.yaml_loading import read_tree
from cadenza.mcp.answers import Done, Fields
from cadenza.mcp.asking import Confirm, Job, Name, exact_id, off_the_loop, without_none
from cadenza.mcp.registry import writes

LONGEST_FILE = 300_000
MOST_PROBLEMS = 20
FILE = "cadenza.yaml"
_HEADERS = ("if_match", "idempotency_key")
_PARTS = ("version", "jobs", "schedules")
_NEW = {
    "job": operations.CREATE_JOB,
    "endpoint": operations.CREATE_ENDPOINT,
    "schedule": operations.CREATE_SCHEDULE,
    "account": operations.CREATE_ACCOUNT,
    "grant": operations.CREATE_GRANT,
    "route": operations.CREATE_ROUTE,
}
_CHANGED = {
    "job": operations.CHANGE_JOB,
    "endpoint": operations.CHANGE_ENDPOINT,
    "schedule": operations.CHANGE_SCHEDULE,
    "route": operations.CHANGE_ROUTE,
}
_ENDS = {
    ("job", "archive"): operations.ARCHIVE_JOB,
    ("endpoint", "archive"): operations.ARCHIVE_ENDPOINT,
    ("job", "restore"): operations.RESTORE_JOB,
    ("endpoint", "restore"): operations.RESTORE_ENDPOINT,
    ("job", "delete"): operations.DELETE_JOB,
    ("endpoint", "delete"): operations.DELETE_ENDPOINT,
    ("schedule", "delete"): operations.DELETE_SCHEDULE,
    ("route", "delete"): operations.DELETE_ROUTE,
    ("channel", "delete"): operations.DELETE_CHANNEL,
    ("webhook", "delete"): operations.DELETE_WEBHOOK,
}
_RETIRED = {kind for kind, _ in _ENDS}
_BY_ID = ("route", "channel", "webhook")


@writes("Apply a file of jobs", is_destructive=True, is_idempotent=True)
async def apply_manifest(
    api: AsyncClient,
    manifest: Annotated[
        str,
        Field(min_length=1, max_length=LONGEST_FILE, description="The content of a cadenza.yaml."),
    ],
    dry_run: Annotated[bool, Field(description="Only show what would change.")] = True,
    prune: Annotated[
        bool, Field(description="Also archive every job and endpoint that is not in the file.")
    ] = False,
) -> Done:
    """Create and change jobs, endpoints, rules and schedules in one transaction. Call it first with
    dry_run (the default) and show the person the changes, then with dry_run false. A job in the
    file replaces the job of that name, so start with get_job and manifest true to change one.

    Example of a manifest:
    jobs:
      - name: shop
        endpoints:
          - name: queue
            url: https://shop.example/queue
            every: 5m
            min_interval: 30s
        rules:
          - name: rush
            endpoint: queue
            when: response.depth > 100
            then: {interval: 30s}
            ttl: 30m
    More: the resource cadenza://docs/how-to/write-rules.
    """
    document = await off_the_loop(_read, manifest)
    applied = await api.call(operations.APPLY_MANIFEST, **document, dry_run=dry_run, prune=prune)
    counts = ", ".join(f"{count} {change}" for change, count in applied["counts"].items() if count)
    changes = f"{counts or 'nothing to change'}"
    if dry_run:
        return Done(done=False, summary=f"A dry run, nothing was changed: {changes}", data=applied)
    return Done(done=True, summary=changes, data=applied)


def _read(text: str) -> Fields:
    """Its YAML; what is wrong with its fields the server says."""
    tree = read_tree(FILE, text)
    if tree.problems:
        problems = "; ".join(str(problem) for problem in tree.problems[:MOST_PROBLEMS])
        raise InvalidInput("manifest", _Text("the text"), problems)
    value: Any = tree.value
    if not isinstance(value, dict):
        raise InvalidInput("manifest", _Text("the text"), "write jobs: and a list of them")
    document = cast("Fields", value)
    for name in document:
        if name not in _PARTS:
            raise InvalidInput(name, _Text("a part"), f"a file has {', '.join(_PARTS)}")
    return {"jobs": [], **document}


class _Text(str):
    """A description in place of a value, which may hold a secret: shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@writes("Create one thing")
async def create(
    api: AsyncClient,
    kind: Literal["job", "endpoint", "schedule", "account", "grant", "route"],
    fields: Annotated[Fields, Field(description="Fields as in the file format or the API.")],
    job: Annotated[Job | None, Field(description="For an endpoint: the job it belongs to.")] = None,
) -> Done:
    """Create a job, an endpoint of a job, a schedule of a graph, an account, a grant or a route
    (which incidents are sent to a channel). For a job with endpoints and rules prefer
    apply_manifest. Put secrets only into secret_headers, and only if the person gave them to
    you.

    Examples: {"kind": "job", "fields": {"name": "shop", "description": "Watch the checkout."}};
    {"kind": "endpoint", "job": "shop", "fields": {"name": "queue", "every": "5m",
    "url": "https://shop.example/queue"}}
    """
    _check(fields)
    if (kind == "endpoint") != (job is not None):
        raise InvalidInput("job", job, "an endpoint needs the job it belongs to, and nothing else")
    values = (job,) if job is not None else ()
    made = await api.call(_NEW[kind], *values, **fields)
    undo = f"retire this {kind}" if kind in _RETIRED else None
    return Done(done=True, summary=f"the {kind} {_name(made)} is there", undo=undo, data=made)


@writes("Change one thing", is_idempotent=True)
async def change(
    api: AsyncClient,
    kind: Literal["job", "endpoint", "schedule", "route", "tenant"],
    changes: Annotated[
        Fields, Field(description="A merge patch: omitted fields stay, null removes one.")
    ],
    name: Annotated[
        Name | None, Field(description="Name or id (a route: id); omit it for the tenant.")
    ] = None,
    if_revision: Annotated[
        int | None, Field(ge=0, description="Change it only if it still has this revision.")
    ] = None,
) -> Done:
    """Change some fields of a job, an endpoint, a schedule, a route, or of your tenant (planner
    modes, retention). Read it first and keep the previous values, which are needed to undo it.

    Examples: {"kind": "endpoint", "name": "shop/queue", "changes": {"every": "10m"}};
    {"kind": "job", "name": "shop", "changes": {"planner": {"llm": "off"}}}
    """
    _check(changes)
    if kind == "tenant":
        changed = await api.call(operations.CHANGE_OWN_TENANT, **changes)
        return Done(done=True, summary="the tenant is changed", data=changed)
    if name is None:
        raise InvalidInput("name", None, f"name the {kind}")
    if kind == "route":
        if if_revision is not None:
            raise InvalidInput("if_revision", if_revision, "a route has no revisions")
        changed = await api.call(_CHANGED[kind], exact_id("name", name), **changes)
        return Done(done=True, summary=f"the route {name} is changed", data=changed)
    changed = await api.call(_CHANGED[kind], name, **changes, **without_none(if_match=if_revision))
    summary = f"the {kind} {_name(changed)} is changed, now at revision {changed['revision']}"
    return Done(done=True, summary=summary, data=changed)


def _check(fields: Fields) -> None:
    for name in fields:
        if name in _HEADERS or name.endswith("_"):
            raise InvalidInput(name, _Text("a value"), "there is no such field; leave it out")


def _name(made: Any) -> str:
    return str(made.get("name") or made.get("id"))


@writes("Archive, restore, delete", is_destructive=True, is_idempotent=True)
async def retire(
    api: AsyncClient,
    kind: Literal["job", "endpoint", "schedule", "route", "channel", "webhook"],
    name: Annotated[Name, Field(description="Name or id; for a route, channel or webhook its id.")],
    action: Literal["archive", "restore", "delete"],
    confirm: Confirm = False,
) -> Done:
    """Archive a job or an endpoint (it stops, its history stays, restore undoes it), or delete it
    permanently with its history, which requires it to be archived first and cannot be undone.
    Schedules of graphs can only be deleted; their history stays. Routes, channels and webhooks can
    only be deleted; channels and webhooks with the log of their deliveries. Without confirm nothing
    is changed, and the answer says what would be.

    Example: {"kind": "endpoint", "name": "shop/queue", "action": "archive", "confirm": true}
    """
    operation = _ENDS.get((kind, action))
    if operation is None:
        raise InvalidInput("action", action, f"a {kind} can only be deleted")
    if kind in _BY_ID:
        name = exact_id("name", name)
    if not confirm and action != "restore":
        return await _unconfirmed(api, kind, name, action)
    answer = await api.call(operation, name)
    undo = f"retire with action restore, name {answer['id']}" if action == "archive" else None
    return Done(done=True, summary=f"{action}: {kind} {name}", undo=undo, data=_shown(kind, answer))


def _shown(kind: str, answer: Any) -> Fields:
    """An address may be a secret."""
    return {"id": answer["id"]} if kind in _BY_ID else answer or {}


async def _unconfirmed(api: AsyncClient, kind: str, name: str, action: str) -> Done:
    asked = f"to {action} the {kind} {name!r} ask again with confirm: true"
    if kind in _BY_ID:
        return Done(done=False, summary=f"Nothing was changed; {asked}", data={"id": name})
    if action == "delete" and kind in ("job", "endpoint"):  # only these can be asked what would go
        removal = await api.call(_ENDS[kind, action], name, dry_run=True)
        lost = (
            f"{removal['endpoints']} endpoints and {removal['history']} records would go for good"
        )
        return Done(done=False, summary=f"Nothing was changed. {lost}; {asked}", data=removal)
    reads = {"job": operations.GET_JOB, "endpoint": operations.GET_ENDPOINT}
    stored = await api.call(reads.get(kind, operations.GET_SCHEDULE), name)
    return Done(done=False, summary=f"Nothing was changed; {asked}", data={"id": stored["id"]})


TOOLS = (apply_manifest, create, change, retire)
