"""One action on many endpoints at once."""

from typing import Any
from uuid import uuid4

import pytest

from tests.web.support import Site


async def three(site: Site) -> list[str]:
    job = await site.ours.job()
    names = ("one", "two", "three")
    return [(await site.ours.endpoint(job, name))["id"] for name in names]


async def act(site: Site, action: str, ids: list[str], **fields: Any) -> dict[str, Any]:
    body = {"action": action, "endpoint_ids": ids, **fields}
    return await site.ours.done("POST", "/endpoint-actions", body)


async def test_many_are_paused_and_resumed_and_each_says_what_became_of_it(site: Site) -> None:
    ids = await three(site)
    await site.ours.done("POST", f"/endpoints/{ids[1]}/archive")
    nobody = str(uuid4())
    answer = await act(site, "pause", [*ids, nobody, ids[0]], reason="night")
    assert answer["done"] == 2
    results = {item["endpoint_id"]: item["result"] for item in answer["items"]}
    assert results == {
        ids[0]: "done",
        ids[1]: "archived",
        ids[2]: "done",
        nobody: "not-found",
    }
    states = (await site.ours.done("GET", "/endpoints?state=paused"))["items"]
    assert {each["id"] for each in states} == {ids[0], ids[2]}
    again = await act(site, "resume", [ids[0], ids[2]])
    assert again["done"] == 2
    assert (await act(site, "resume", ids[:1]))["items"][0]["result"] == "unchanged"


async def test_hints_are_cleared_and_failures_forgotten(site: Site) -> None:
    ids = await three(site)
    hint = {"interval": "10s", "reason": "busy"}
    await site.ours.done("POST", f"/endpoints/{ids[0]}/hints/interval", hint)
    answer = await act(site, "clear-hints", ids)
    assert [item["result"] for item in answer["items"]] == ["done", "unchanged", "unchanged"]
    assert (await act(site, "reset-failures", ids))["done"] == 0


async def test_each_that_changed_has_an_audit_entry_of_its_own(site: Site) -> None:
    ids = await three(site)
    await act(site, "pause", ids, reason="night")
    entries = (await site.ours.done("GET", "/audit?action=endpoint.pause"))["items"]
    assert {entry["subject"] for entry in entries} == set(ids)
    assert entries[0]["data"]["together_with"] == 2


async def test_endpoints_of_another_tenant_are_not_found(site: Site) -> None:
    ids = await three(site)
    body = {"action": "pause", "endpoint_ids": ids}
    answer = await site.theirs.done("POST", "/endpoint-actions", body)
    assert {item["result"] for item in answer["items"]} == {"not-found"}
    assert (await site.ours.done("GET", "/endpoints?state=paused"))["items"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"action": "explode", "endpoint_ids": [str(uuid4())]},
        {"action": "pause", "endpoint_ids": []},
        {"action": "pause", "endpoint_ids": [str(uuid4())] * 1001},
        {"action": "pause"},
    ],
)
async def test_what_is_no_action_on_endpoints_is_refused(site: Site, body: dict[str, Any]) -> None:
    assert (await site.ours.ask("POST", "/endpoint-actions", json=body)).status_code == 422
