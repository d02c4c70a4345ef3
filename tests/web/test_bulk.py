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


# --- All that fit a filter ----------------------------------------------------------------------

MATCHING = "/endpoint-actions/matching"


async def test_all_that_match_are_acted_on_and_nobody_elses(site: Site) -> None:
    job = await site.ours.job()
    names = [f"probe {number}" for number in range(60)]  # more than a page
    for name in names:
        await site.ours.endpoint(job, name)
    other = await site.ours.endpoint(job, "apart")
    await site.theirs.endpoint(name="probe 1")
    assert await site.ours.done("GET", f"{MATCHING}?search=probe") == {
        "count": 60,
        "is_more": False,
    }
    body = {"action": "pause", "search": "probe", "expected": 60, "reason": "night"}
    answer = await site.ours.done("POST", MATCHING, body)
    assert answer == {"matched": 60, "done": 60, "unchanged": 0, "archived": 0}
    assert (await site.ours.done("GET", f"{MATCHING}?state=paused"))["count"] == 60
    assert (await site.ours.done("GET", f"/endpoints/{other['id']}"))["pauses"] == []
    assert (await site.theirs.done("GET", f"{MATCHING}?state=paused"))["count"] == 0
    body |= {"action": "clear-hints"}
    assert (await site.ours.done("POST", MATCHING, body))["unchanged"] == 60


async def test_nothing_happens_where_more_match_than_were_confirmed(site: Site) -> None:
    ids = await three(site)
    body = {"action": "pause", "expected": 2}
    answer = await site.ours.ask("POST", MATCHING, json=body)
    assert answer.status_code in (409, 412)
    assert "3 match now" in answer.text
    assert (await site.ours.done("GET", "/endpoints?state=paused"))["items"] == []
    await site.ours.done("POST", f"/endpoints/{ids[0]}/archive")
    assert (await site.ours.done("POST", MATCHING, body))["done"] == 2


@pytest.mark.parametrize(
    "body",
    [
        {"action": "pause"},
        {"action": "pause", "expected": -1},
        {"action": "pause", "expected": 10_001},
        {"action": "pause", "expected": 1, "state": "odd"},
        {"action": "pause", "expected": 1, "search": ""},
        {"action": "pause", "expected": 1, "job_id": "shop"},
    ],
)
async def test_a_filter_that_is_none_is_refused(site: Site, body: dict[str, Any]) -> None:
    assert (await site.ours.ask("POST", MATCHING, json=body)).status_code == 422
