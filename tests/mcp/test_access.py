"""/mcp is under the API's keys, scopes and limits; what tools do is in the audit log."""

import asyncio
import subprocess
import sys
from typing import Any

import httpx2 as httpx
import pytest

from cadenza.roots.api import create_app
from cadenza.web.api.assistants import NOT_INSTALLED, mcp_route
from tests.mcp.support import URL, Assistant, assistant, call_of, rpc
from tests.web.furniture import MARK, furnish
from tests.web.support import ADMIN, OPERATE, READ, Site, bearer, give_key

JSON = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


async def _post(site: Site, body: Any = None, **headers: str) -> Any:
    return await site.client.post("/mcp", json=body or rpc("tools/list"), headers=JSON | headers)


async def test_without_a_key_nothing_is_said(site: Site) -> None:
    for headers in ({}, bearer("cdz_nonsense"), {"Authorization": "Basic YTpi"}):
        answer = await _post(site, **headers)
        assert answer.status_code == 401
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert "tools" not in answer.text


async def test_a_library_that_does_not_fit_is_as_one_that_is_missing(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cadenza.mcp.http", None)
    for _ in range(2):
        answer = await _post(site, **bearer(site.ours.keys[READ]))
        assert (answer.status_code, answer.json()["detail"]) == (404, NOT_INSTALLED)


def test_the_api_starts_without_loading_what_only_assistants_need() -> None:
    code = (
        "import sys; from cadenza.roots.api import add_mcp, create_app;"
        "from cadenza.web.api.app import storeless_app; add_mcp(storeless_app());"
        "print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert not {b"mcp", b"mcp_types", b"prompt_toolkit", b"pydantic_ai"} & set(loaded.split())


async def test_a_key_that_expired_opens_nothing(site: Site) -> None:
    expired = await give_key(site.backend, site.ours, READ, expires_at=await site.now())
    assert (await _post(site, **bearer(expired))).status_code == 401


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_only_posts_are_answered(site: Site, method: str) -> None:
    """There is no session to end and no stream to open."""
    answer = await site.client.request(method, "/mcp", headers=bearer(site.ours.keys[READ]))
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080", 200),
        ("localhost:8080", "http://localhost:8080", 200),
        ("[::1]:8080", "http://[::1]:8080", 200),
        ("rebound.example", "http://rebound.example", 403),  # a name can be pointed anywhere
        ("127.0.0.1:8080", "https://evil.example", 403),
        ("127.0.0.1:8080", "http://127.0.0.1:9999", 403),
        ("127.0.0.1:8080", "null", 403),
        ("127.0.0.1:8080", "http://[", 403),
        ("127.0.0.1:8080", "", 403),
    ],
)
async def test_a_page_of_another_site_is_refused(
    site: Site, host: str, origin: str, status: int
) -> None:
    headers = bearer(site.ours.keys[READ]) | {"Host": host, "Origin": origin}
    assert (await _post(site, **headers)).status_code == status


async def test_a_program_may_ask_at_any_name(site: Site) -> None:
    headers = bearer(site.ours.keys[READ]) | {"Host": "cadenza.example"}
    assert (await _post(site, **headers)).status_code == 200


async def test_requests_count_and_too_many_are_refused(site: Site) -> None:
    async with site.emptied(rate_limit=10) as limited:
        key = limited.ours.keys[READ]
        first = await _post(limited, **bearer(key))
        assert first.headers["ratelimit-limit"] == "10"
        answers = [await _post(limited, **bearer(key)) for _ in range(10)]
        assert answers[-1].status_code == 429
        assert int(answers[-1].headers["retry-after"]) >= 1


async def test_what_a_tool_asks_counts_too(site: Site) -> None:
    async with site.emptied(rate_limit=4) as limited:
        body = call_of("get_overview")
        answer = (await _post(limited, body, **bearer(limited.ours.keys[READ]))).json()
        assert answer["result"]["isError"]
        assert "Too many requests" in answer["result"]["content"][0]["text"]


async def test_a_body_over_the_limit_is_refused(site: Site) -> None:
    headers = JSON | bearer(site.ours.keys[READ])
    answer = await site.client.post("/mcp", content=b" " * (1024 * 1024 + 1), headers=headers)
    assert answer.status_code == 413


async def test_a_key_that_may_read_sees_everything_and_changes_nothing(any_site: Site) -> None:
    site = any_site
    await furnish(site, site.ours)
    await site.ours.done("GET", "/me", scope=READ)  # notes the use of the key
    before = await site.contents()
    endpoint = f"{MARK} job/{MARK} endpoint"
    async with assistant(site.app, site.ours.keys[READ]) as ada:
        assert (await ada.does("get_overview"))["you"]["scopes"] == ["read"]
        tested = ("steer", {"action": "test", "endpoint": endpoint})
        switched = ("steer", {"action": "start_planner"})
        for tool, arguments in (*_writes(site, endpoint).items(), tested, switched):
            said = await ada.is_told(tool, **arguments)
            assert "this needs a key with the scope" in said, f"{tool}: {said}"
            assert "tell the person" in said
    assert await site.contents() == before


async def test_a_key_of_another_tenant_sees_and_changes_nothing(any_site: Site) -> None:
    site = any_site
    await furnish(site, site.ours)
    await site.theirs.done("GET", "/me")
    before = await site.contents()
    ids, endpoint = site.ours.ids, f"{MARK} job/{MARK} endpoint"
    async with assistant(site.app, site.theirs.keys[ADMIN]) as eve:
        heard = [str(await eve.does(tool)) for tool in ("get_overview", "list_jobs", "list_runs")]
        heard += [str(await eve.does("search", query=MARK))]
        heard += [str(await eve.does("get_schedules")), str(await eve.does("list_audit"))]
        heard += [await eve.is_told("get_run", run=ids["runs"])]
        heard += [await eve.is_told("get_sessions", session=ids["sessions"])]
        for name in (endpoint, ids["endpoints"]):
            heard += [await eve.is_told("get_endpoint", endpoint=name, include=["explanation"])]
            heard += [await eve.is_told("steer", action="test", endpoint=name)]
        writes = _writes(site, ids["endpoints"])
        writes["change"]["name"], writes["retire"]["name"] = ids["jobs"], ids["endpoints"]
        heard += [await eve.is_told("get_incidents", incident=ids["incidents"])]
        heard += [str(await eve.does("get_incidents", is_open=None))]
        ours = ("steer", "hint", "change", "retire", "decide_suggestion")
        for tool in (*ours, "act_on_incident", "send_notification"):
            heard += [await eve.is_told(tool, **writes[tool])]
    for said in heard:
        assert site.ours.ids["endpoints"] not in said or "no such" in said.lower()
        assert "in the garden" not in said
        assert f"{MARK}.example" not in said
    assert await site.contents() == before


async def test_a_key_for_one_job_sees_and_changes_nothing_of_another(any_site: Site) -> None:
    site = any_site
    await furnish(site, site.ours)
    mine = await site.ours.job("mine")
    await site.ours.endpoint(mine, "my own")
    body = {"name": "one job", "scopes": ["operate"], "job_ids": [mine["id"]]}
    key = (await site.ours.done("POST", "/keys", body))["key"]
    await site.client.get("/api/v1/me", headers=bearer(key))  # notes the use of the key
    before = await site.contents()
    ids, endpoint = site.ours.ids, f"{MARK} job/{MARK} endpoint"
    async with assistant(site.app, key) as eve:
        heard = [str(await eve.does(tool)) for tool in ("list_jobs", "get_overview", "list_runs")]
        assert "mine" in heard[0]
        heard += [str(await eve.does("search", query=MARK))]
        heard += [str(await eve.does("get_incidents", is_open=None))]
        heard += [await eve.is_told("get_run", run=ids["runs"])]
        heard += [await eve.is_told("get_session", session=ids["sessions"])]
        for name in (endpoint, ids["endpoints"]):
            heard += [await eve.is_told("explain_next_run", endpoint=name)]
        writes = _writes(site, ids["endpoints"])
        writes["change"]["name"], writes["retire"]["name"] = ids["jobs"], ids["endpoints"]
        del writes["apply_manifest"], writes["steer_many"]  # which answer for each of them
        heard += [await eve.is_told(tool, **arguments) for tool, arguments in writes.items()]
    for said in heard:
        assert "in the garden" not in said
        assert f"{MARK}.example" not in said
    assert await site.contents() == before


def _writes(site: Site, endpoint: str) -> dict[str, dict[str, Any]]:
    """Every tool that changes something, as the owner would call it."""
    ids = site.ours.ids
    return {
        "apply_manifest": {"manifest": "jobs: []", "dry_run": False},
        "create": {"kind": "job", "fields": {"name": "x"}},
        "change": {"kind": "job", "name": f"{MARK} job", "changes": {"description": "x"}},
        "retire": {"kind": "endpoint", "name": endpoint, "action": "archive", "confirm": True},
        "steer": {"action": "pause", "endpoint": endpoint},
        "hint": {"endpoint": endpoint, "interval": "5m"},
        "steer_many": {"action": "pause", "endpoints": [endpoint], "dry_run": False},
        "decide_suggestion": {"session": ids["sessions"], "decision": "accept"},
        "act_on_schedule": {"schedule": ids["schedules"], "action": "run"},
        "manage_access": {"action": "revoke_key", "id": ids["keys"], "confirm": True},
        "act_on_incident": {"incident": ids["incidents"], "action": "resolve"},
        "send_notification": {"action": "test_webhook", "id": ids["webhooks"]},
    }


async def test_the_audit_log_names_the_key_that_wrote(site: Site) -> None:
    async with assistant(site.app, site.ours.keys[OPERATE]) as ada:
        made = await ada.does("create", kind="job", fields={"name": "shop"})
        assert "scope admin" in await ada.is_told("list_audit")
    async with assistant(site.app, site.ours.keys[ADMIN]) as ada:
        (entry,) = (await ada.does("list_audit", subject=made["data"]["id"]))["items"]
    direct = await site.ours.done("POST", "/jobs", {"name": "other"}, scope=OPERATE)
    listed = await site.ours.done("GET", f"/audit?subject={direct['id']}")
    assert entry["actor"] == listed["items"][0]["actor"]
    assert site.ours.keys[OPERATE] not in str(entry)


async def test_confirmation_is_asked_for_before_something_ends(site: Site) -> None:
    await furnish(site, site.ours)
    await site.ours.done("GET", "/me")
    before = await site.contents()
    ids = site.ours.ids
    ends: list[tuple[str, dict[str, Any]]] = [
        ("retire", {"kind": "job", "name": ids["jobs"], "action": "archive"}),
        ("retire", {"kind": "schedule", "name": ids["schedules"], "action": "delete"}),
        ("retire", {"kind": "channel", "name": ids["channels"], "action": "delete"}),
        ("manage_access", {"action": "revoke_key", "id": ids["keys"]}),
        ("manage_access", {"action": "remove_person", "id": ids["people"]}),
        ("apply_manifest", {"manifest": "jobs: []", "prune": True}),
        ("steer_many", {"action": "pause", "job": ids["jobs"]}),
    ]
    async with assistant(site.app, site.ours.keys[ADMIN]) as ada:
        for tool, arguments in ends:
            assert not (await ada.does(tool, **arguments))["done"], tool
    assert await site.contents() == before


async def test_sessions_at_the_same_time_keep_to_themselves(site: Site) -> None:
    async def live(house: Any, number: int) -> set[str]:
        async with assistant(site.app, house.keys[ADMIN]) as ada:
            await ada.does("create", kind="job", fields={"name": f"{house.name} {number}"})
            return {line["job"] for line in (await ada.does("list_jobs", limit=100))["items"]}

    houses = [site.ours, site.theirs] * 5
    seen = await asyncio.gather(*(live(house, at) for at, house in enumerate(houses)))
    for house, names in zip(houses, seen, strict=True):
        assert {name.partition(" ")[0] for name in names} == {house.name}


@pytest.mark.slow
async def test_the_document_of_the_api_says_nothing_of_it(site: Site) -> None:
    document = (await site.client.get("/api/v1/openapi.json")).json()
    alone = create_app(site.app.state.dependencies)
    assert document == alone.openapi()
    assert not [path for path in document["paths"] if "mcp" in path]


async def test_a_server_without_the_extra_says_how_to_get_it(site: Site) -> None:
    app = create_app(site.app.state.dependencies)
    app.router.routes.append(mcp_route(None))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app)) as client:
        refused = await client.post(URL, json={}, headers=bearer(site.ours.keys[READ]))
        works = await client.get("http://cadenza/api/v1/me", headers=bearer(site.ours.keys[READ]))
    assert refused.status_code == 404
    assert NOT_INSTALLED in refused.text
    assert works.status_code == 200


async def test_prompts_and_documents_need_no_more_than_reading(site: Site) -> None:
    await furnish(site, site.ours)
    async with assistant(site.app, site.ours.keys[READ]) as ada:
        await _reads_everything(ada)


async def _reads_everything(ada: Assistant) -> None:
    for resource in (await ada.client.list_resources()).resources:
        assert (await ada.reads(str(resource.uri))).strip(), resource.uri
    job, endpoint = f"{MARK}%20job", f"{MARK}%20endpoint"
    assert f"name: {MARK} endpoint" in await ada.reads(f"cadenza://jobs/{job}/manifest")
    assert f'"name":"{MARK} endpoint"' in await ada.reads(f"cadenza://endpoints/{job}/{endpoint}")
