"""Every tool is called, and together they do all that the API can, but for what they must not."""

import re
from typing import Any

import pytest

from cadenza.client.core import Operation
from cadenza.client.generated import operations
from cadenza.mcp.http import mcp_over
from cadenza.mcp.server import TOOLS
from cadenza.roots.documents import documents_folder
from tests.mcp.support import Assistant, assistant
from tests.web.furniture import MARK, SECRET, furnish
from tests.web.graph_schedules import create_schedule, start_run
from tests.web.suggesting import suggest_interval
from tests.web.support import ADMIN, Site

ALL = {name: value for name, value in vars(operations).items() if isinstance(value, Operation)}
SHOWS_A_SECRET = {
    "CREATE_KEY", "ROTATE_KEY", "CREATE_SIGNING_KEY", "CREATE_SIGN_IN_LINK", "CREATE_VIRTUAL_KEY",
    "CREATE_INVITATION", "INVITE_TO_JOB", "CREATE_KEY_OF_JOB",
}  # fmt: skip
OF_THE_INSTALLATION = {
    "CREATE_TENANT", "DELETE_TENANT", "GET_TENANT", "LIST_TENANTS", "CREATE_USER", "DELETE_USER",
    "LIST_USERS_OF_TENANT", "CREATE_KEY_FOR_USER", "STOP_EVERY_PLANNER", "START_EVERY_PLANNER",
}  # fmt: skip
# An address is often a secret, and one that a target talked a model into gets all that is told.
TAKES_AN_ADDRESS = {"CREATE_CHANNEL", "CHANGE_CHANNEL", "CREATE_WEBHOOK", "CHANGE_WEBHOOK"}
TAKES_THE_TOKEN_OF_A_RUN = {"REPORT_RESULT"}  # which only its target was given
GIVES_POWER = {"CHANGE_ROLE", "GIVE_ROLE_FOR_JOB"}  # people give roles
SAID_BY_READYZ = {"HEALTHZ"}
MANIFEST = """
jobs:
  - name: written
    endpoints:
      - {name: queue, every: 5m, min_interval: 30s, url: "https://shop.example/queue"}
    rules:
      - {name: rush, endpoint: queue, when: response.depth > 100, then: {interval: 30s}, ttl: 30m}
"""


class Recorded:
    """The application, and what it was asked for."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.asked: set[tuple[str, str]] = set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked.add((scope["method"], scope["path"]))
        await self._app(scope, receive, send)

    def operations(self) -> set[str]:
        return {name for name, operation in ALL.items() if self._had(operation)}

    def _had(self, operation: Operation) -> bool:
        path = (
            operation.path.removeprefix("/")
            if operation.path[:2] == "//"
            else (f"/api/v1{operation.path}")
        )
        pattern = re.compile(re.sub(r"\{\w+\}", "[0-9a-f-]{36}", path))
        return any(
            method == operation.method and pattern.fullmatch(asked) for method, asked in self.asked
        )


async def _look(ada: Assistant, site: Site, endpoint: str, job: str) -> None:
    ids = site.ours.ids
    overview = await ada.does("get_overview")
    assert "admin" in overview["you"]["scopes"]
    assert (await ada.does("search", query=MARK))["jobs"]
    await ada.does("list_jobs", search=MARK)
    await ada.does("list_endpoints", job=job)
    assert "cron" in (await ada.does("get_job", job=job, manifest=True))["manifest"]
    parts = ["explanation", "health", "next_runs", "rules", "steering", "analyses"]
    record = await ada.does("get_endpoint", endpoint=endpoint, include=parts)
    assert set(parts) <= set(record["data"])
    assert record["data"]["explanation"]["because"]
    runs = (await ada.does("list_runs", endpoint=endpoint))["items"]
    assert (await ada.does("get_run", run=ids["runs"][:-2]))["data"]["id"] == ids["runs"]
    nearest = await ada.does("get_run", endpoint=endpoint, at=runs[0]["slot_at"])
    assert nearest["data"]["id"] == runs[0]["id"]
    assert (await ada.does("get_timeline", job=job))["items"]
    assert (await ada.does("get_timeline", job=job, view="score"))["items"][0]["runs"]
    await ada.does("get_values", endpoint=endpoint)
    assert (await ada.does("get_timeline", view="counts"))["data"]["planner"]
    for which in ({"job": job}, {"endpoint": endpoint}):
        counted = await ada.does("get_timeline", view="counts", limit=12, **which)
        assert counted["data"]["buckets"]
    assert (await ada.does("get_sessions", endpoint=endpoint))["items"]
    one = (await ada.does("get_sessions", session=ids["sessions"]))["data"]
    assert (one["id"], "runs" in one) == (ids["sessions"], True)
    await ada.does("list_audit", action="endpoint.create")
    await ada.does("preview_schedule", cron="0 9 * * mon-fri", timezone="Europe/Paris")
    await ada.does("get_schedules")
    await ada.does("get_schedules", schedule=ids["schedules"])
    run = {"schedule": ids["schedules"], "run": ids["schedule_run_id"]}
    seen = await ada.does("get_schedules", **run, events_after=1)
    assert seen["data"]["question"] == {"untrusted": f"the {MARK}?"}
    for kind in ("accounts", "grants", "graphs", "workers", "keys", "users", "signing_keys"):
        await ada.does("get_records", kind=kind)
    assert (await ada.does("get_records", kind="accounts", name=ids["accounts"]))["data"]["usage"]
    await ada.does("get_records", kind="grants", name=ids["grants"])
    for kind in ("people", "invitations", "channels", "routes"):
        assert (await ada.does("get_records", kind=kind))["items"], kind
    (webhook,) = (await ada.does("get_records", kind="webhooks"))["items"]
    assert webhook["url"] == f"https://{MARK}.example/…"
    sent = (await ada.does("get_records", kind="deliveries"))["items"][0]["id"]
    delivery = await ada.does("get_records", kind="deliveries", name=sent)
    assert MARK in delivery["data"]["payload"]["untrusted"]


async def _mend(ada: Assistant, site: Site) -> None:
    """Incidents, notifications and the planner's switch, which furnish() has turned off."""
    ids = site.ours.ids
    for incident in (await ada.does("get_incidents"))["items"]:
        assert set(incident.get("detail", {"untrusted": ""})) == {"untrusted"}
    known = {"incident": ids["incidents"]}
    assert "open" in (await ada.does("get_incidents", **known))["summary"]
    for action in ("acknowledge", "resolve"):
        done = await ada.does("act_on_incident", **known, action=action)
        assert f"{action}d by" in done["summary"]
    assert (await ada.does("get_overview"))["planner"]["stop"]["reason"] == MARK
    assert "goes on" in (await ada.does("steer", action="start_planner"))["summary"]
    assert not (await ada.does("steer", action="start_planner"))["done"]
    assert (await ada.does("steer", action="stop_planner", reason="a night"))["undo"]
    await ada.does("steer", action="start_planner")
    for kind, action in (("channels", "test_channel"), ("webhooks", "test_webhook")):
        await ada.does("send_notification", action=action, id=ids[kind])
    await ada.does("send_notification", action="resend_delivery", id=ids["deliveries"])
    fields = {"channel_id": ids["channels"], "min_severity": "error"}
    route = (await ada.does("create", kind="route", fields=fields))["data"]["id"]
    await ada.does("change", kind="route", name=route, changes={"min_severity": "critical"})
    for kind, name in (
        ("route", route),
        ("webhook", ids["webhooks"]),
        ("channel", ids["channels"]),
    ):
        ended = {"kind": kind, "name": name, "action": "delete"}
        assert not (await ada.does("retire", **ended))["done"]
        assert (await ada.does("retire", **ended, confirm=True))["data"] == {"id": name}
    await _mend_job(ada, site)
    for action, kind in (("revoke_invitation", "invitations"), ("remove_person", "people")):
        await ada.does("manage_access", action=action, id=ids[kind], confirm=True)


async def _mend_job(ada: Assistant, site: Site) -> None:
    """People and keys of one job."""
    ids, job = site.ours.ids, f"{MARK} job"
    for kind in ("people", "invitations", "keys"):
        listed = await ada.does("get_records", kind=kind, name=job)
        assert len(listed["items"]) == 1, kind
    for action, known in (
        ("revoke_invitation", ids["job_invitation_id"]),
        ("revoke_key", ids["job_key_id"]),
        ("take_role", ids["people"]),
    ):
        await ada.does("manage_access", action=action, job=job, id=known, confirm=True)


async def _define(ada: Assistant, site: Site) -> None:
    assert not (await ada.does("apply_manifest", manifest=MANIFEST))["done"]
    assert (await ada.does("apply_manifest", manifest=MANIFEST, dry_run=False))["done"]
    await ada.does("create", kind="job", fields={"name": "made"})
    fields = {"name": "queue", "every": "5m", "url": "https://shop.example/"}
    await ada.does("create", kind="endpoint", job="made", fields=fields)
    await ada.does("create", kind="account", fields={"name": "purse"})
    account = site.ours.ids["accounts"]
    grant = {"account_id": account, "scopes": ["graph:execute:*"]}
    await ada.does("create", kind="grant", fields=grant)
    schedule = {"graph_id": "python:x:y", "cron": "0 9 * * *", "name": "daily", **grant}
    schedule.pop("scopes")
    await ada.does("create", kind="schedule", fields=schedule)
    await ada.does("change", kind="job", name="made", changes={"description": "changed"})
    await ada.does("change", kind="endpoint", name="made/queue", changes={"every": "10m"})
    await ada.does("change", kind="schedule", name="daily", changes={"cron": "0 8 * * *"})
    await ada.does("change", kind="tenant", changes={"llm_mode": "off"})


async def _steer(ada: Assistant, site: Site) -> None:
    await ada.does("hint", endpoint="made/queue", interval="6m", ttl="1h", reason="a sale")
    await ada.does("hint", endpoint="made/queue", run_in="11m")
    for action in ("pause", "resume", "clear_hints", "reset_failures", "run_now", "analyse"):
        await ada.does("steer", action=action, endpoint="made/queue")
    for action in ("pause", "resume"):
        await ada.does("steer", action=action, job="made")
    await ada.does("steer_many", action="pause", endpoints=["made/queue"], dry_run=False)
    fitting = {"action": "resume", "job": "made", "search": "que"}
    would = await ada.does("steer_many", **fitting)
    assert (would["done"], would["data"]["count"]) == (False, 1)
    assert "dry run" in await ada.is_told("steer_many", **fitting, dry_run=False)
    assert "look again" in await ada.is_told("steer_many", **fitting, dry_run=False, expected=0)
    assert (await ada.does("steer_many", **fitting, dry_run=False, expected=1))["done"]
    tested = await ada.does("steer", action="test", endpoint="made/queue")
    assert tested["data"]["status"]
    queue = await ada.does("get_endpoint", endpoint="written/queue")
    session = str((await suggest_interval(site, site.ours, queue["data"])).id)
    assert (await ada.does("get_sessions", only_open_suggestions=True))["items"]
    for decision in ("dismiss", "restore", "accept"):
        await ada.does("decide_suggestion", session=session, decision=decision)


async def _end(ada: Assistant, site: Site) -> None:
    ids = site.ours.ids
    waiting = {"schedule": ids["schedules"], "run": ids["schedule_run_id"]}
    await ada.does("act_on_schedule", **waiting, action="answer", answer="yes")
    other = await create_schedule(site.ours, name="other", account_id=ids["accounts"])
    claim = await start_run(site, site.ours, other)
    running = {"schedule": "other", "run": str(claim.run_id)}
    await ada.does("act_on_schedule", **running, action="cancel")
    await ada.does("act_on_schedule", schedule="other", action="run")
    await ada.does("retire", kind="schedule", name="daily", action="delete", confirm=True)
    account = {"account": ids["accounts"], "confirm": True}
    paid = {"credits": 5, "reason": "more", "reference": "x"}
    await ada.does("manage_access", action="add_credits", **account, **paid)
    key = ids["virtual_key_id"]
    for action in ("set_default_key", "revoke_provider_key"):
        await ada.does("manage_access", action=action, id=key, **account)
    await ada.does("manage_access", action="revoke_grant", id=ids["grants"], confirm=True)
    await ada.does("manage_access", action="revoke_key", id=ids["keys"], confirm=True)
    for kind, name in (("endpoint", "made/queue"), ("job", "made")):
        archived = await ada.does("retire", kind=kind, name=name, action="archive", confirm=True)
        ended = {"kind": kind, "name": archived["data"]["id"]}
        await ada.does("retire", **ended, action="restore")
        await ada.does("retire", **ended, action="archive", confirm=True)
        assert not (await ada.does("retire", **ended, action="delete"))["done"]
        if kind == "job":
            await ada.does("retire", **ended, action="delete", confirm=True)
        else:
            await ada.does("retire", **ended, action="restore")


class Listening(Assistant):
    """One that remembers what was said."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.called: set[str] = set()
        self.heard: list[str] = []

    async def call(self, tool: str, **arguments: Any) -> Any:
        answer = await super().call(tool, **arguments)
        self.called.add(tool)
        self.heard.append(answer.model_dump_json())
        return answer


async def test_the_tools_together_do_what_the_api_can_and_show_no_secret(any_site: Site) -> None:
    site = any_site
    shown = await furnish(site, site.ours)
    recorded = Recorded(site.app)
    handler = mcp_over(recorded, documents_folder())
    async with assistant(handler, site.ours.keys[ADMIN]) as plain:
        ada = Listening(plain.client)
        endpoint, job = f"{MARK} job/{MARK} endpoint", f"{MARK} job"
        await _look(ada, site, endpoint, job)
        await _mend(ada, site)
        await _define(ada, site)
        await _steer(ada, site)
        await _end(ada, site)
        # What the walk above leaves to others: an endpoint's own end, on one that nobody needs.
        ended = {"kind": "endpoint", "name": shown["id"]}
        await ada.does("retire", **ended, action="archive", confirm=True)
        await ada.does("retire", **ended, action="delete", confirm=True)
    assert ada.called == {spec.name for spec in TOOLS}
    left_out = SHOWS_A_SECRET | OF_THE_INSTALLATION | SAID_BY_READYZ
    left_out |= TAKES_AN_ADDRESS | TAKES_THE_TOKEN_OF_A_RUN | GIVES_POWER
    assert recorded.operations() == set(ALL) - left_out
    for said in ada.heard:
        assert SECRET not in said
        assert site.ours.keys[ADMIN] not in said


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_clients_of_both_generations_are_served(site: Site, mode: str) -> None:
    async with assistant(site.app, site.ours.keys[ADMIN], mode) as ada:
        tools = (await ada.client.list_tools()).tools
        assert {tool.name for tool in tools} == {spec.name for spec in TOOLS}
        await ada.does("create", kind="job", fields={"name": "shop"})
        assert [line["job"] for line in (await ada.does("list_jobs"))["items"]] == ["shop"]


async def test_a_tool_says_whether_it_changes_something_and_what_it_answers(site: Site) -> None:
    async with assistant(site.app, site.ours.keys[ADMIN]) as ada:
        tools = {tool.name: tool for tool in (await ada.client.list_tools()).tools}
    for spec in TOOLS:
        tool = tools[spec.name]
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is spec.is_read, spec.name
        assert tool.output_schema is not None, spec.name
        assert "Example" in (tool.description or "") or not tool.input_schema["properties"]
        assert tool.input_schema["additionalProperties"] is False
    assert tools["retire"].annotations.destructive_hint
    assert not tools["list_runs"].annotations.destructive_hint
