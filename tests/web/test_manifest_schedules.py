"""Schedules in a file: applied with the jobs in one transaction, exported, pruned."""

from typing import Any

import pytest

from tests.web.graph_schedules import GRAPH, create_schedule, open_account, path_of
from tests.web.support import Site

JOB = {
    "name": "shop",
    "endpoints": [{"name": "orders", "every": "5m", "url": "https://a.example/"}],
}


def declared(name: str = "digest", **fields: Any) -> dict[str, Any]:
    return {"name": name, "graph_id": GRAPH, "cron": "0 9 * * *", **fields}


def manifest(*schedules: dict[str, Any]) -> dict[str, Any]:
    return {"jobs": [JOB], "schedules": list(schedules)}


async def apply(site: Site, document: dict[str, Any], **query: Any) -> dict[str, Any]:
    return await site.ours.done("PUT", "/manifest", document, params=query)


async def _only(site: Site) -> dict[str, Any]:
    (schedule,) = (await site.ours.done("GET", "/schedules"))["items"]
    return schedule


FULL = declared(
    timezone="Europe/Paris",
    input={"topic": "autumn", "deep": {"x": [1, None]}},
    concurrency_policy="replace",
    limits={"time": "5m", "credits": 20_000},
    requires=["gpu"],
    enabled=False,
)


async def test_a_file_creates_a_schedule_with_its_grant_and_its_slot(site: Site) -> None:
    account = await open_account(site.ours)
    document = manifest(declared(account="research", input={"a": 1}))
    planned = await apply(site, document, dry_run=True)
    assert (await site.ours.done("GET", "/schedules"))["items"] == []
    applied = await apply(site, document)
    assert applied["changes"] == planned["changes"]
    assert applied["counts"] == {"create": 3}
    change = applied["changes"][-1]
    assert (change["act"], change["job"], change["schedule"]) == ("create", None, "digest")
    assert {field["field"]: field["after"] for field in change["fields"]} == {
        "graph_id": GRAPH,
        "cron": "0 9 * * *",
        "input": {"a": 1},
        "account": "research",
    }
    schedule = await _only(site)
    grant = await site.ours.done("GET", f"/grants/{schedule['grant_id']}")
    assert (grant["account_id"], grant["schedule_id"]) == (account, schedule["id"])
    runs = await site.ours.done("GET", f"{path_of(schedule)}/runs")
    assert [run["slot_at"] for run in runs["items"]] == [schedule["next_run_at"]]


@pytest.mark.parametrize("document", [declared(), FULL])
async def test_the_same_file_again_and_what_is_exported_change_nothing(
    site: Site, document: dict[str, Any]
) -> None:
    await open_account(site.ours)
    await apply(site, manifest(document))
    before = await site.contents()
    exported = await site.ours.done("GET", "/manifest")
    assert exported["schedules"] == [{**document, "account": "research"}]
    account_id = (await site.ours.done("GET", "/accounts"))["items"][0]["id"]
    by_id = manifest({**document, "account": account_id})
    for again in (manifest(document), exported, by_id):
        applied = await apply(site, again, prune=True)
        assert applied["counts"] == {"unchanged": 3}
        assert applied["changes"] == []
    after = await site.contents()
    for table in ("schedules", "schedule_runs", "slots", "execution_grants", "grants"):
        assert after.get(table) == before.get(table), table


async def test_a_change_replaces_the_slot_that_waits(site: Site) -> None:
    await open_account(site.ours)
    await apply(site, manifest(declared()))
    before = await _only(site)
    applied = await apply(site, manifest(declared(cron="30 10 * * *")))
    assert applied["changes"][0]["fields"] == [
        {"field": "cron", "before": "0 9 * * *", "after": "30 10 * * *"}
    ]
    after = await _only(site)
    assert (after["id"], after["grant_id"]) == (before["id"], before["grant_id"])
    assert (after["revision"], after["next_run_at"][11:16]) == (2, "10:30")
    runs = await site.ours.done("GET", f"{path_of(after)}/runs")
    assert [run["slot_at"] for run in runs["items"]] == [after["next_run_at"]]


async def test_what_the_file_lacks_is_deleted_only_where_it_is_pruned(site: Site) -> None:
    await open_account(site.ours)
    await apply(site, manifest(declared("a"), declared("b")))
    unnamed = await create_schedule(site.ours)
    kept = await apply(site, manifest(declared("a")))
    assert kept["counts"] == {"unchanged": 3}
    pruned = await apply(site, manifest(declared("a")), prune=True)
    assert pruned["counts"] == {"unchanged": 3, "delete": 1}
    (gone,) = pruned["changes"]
    assert (gone["act"], gone["schedule"], gone["fields"]) == ("delete", "b", [])
    left = (await site.ours.done("GET", "/schedules"))["items"]
    assert sorted(each["name"] or each["id"] for each in left) == sorted(["a", unnamed["id"]])
    grants = (await site.ours.done("GET", "/grants"))["items"]
    assert sorted(grant["state"] for grant in grants) == ["active", "active", "revoked"]


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("schedules[0].cron", declared(cron="* * * *")),
    ("schedules[0].timezone", declared(timezone="Mars/Olympus")),
    ("schedules[0].graph_id", declared(graph_id="nothing here")),
    ("schedules[0].input", declared(input={"x": "é" * 40_000})),
    ("schedules[0].input.model", declared(input={"model": "nobody-knows-this-one"})),
    ("schedules[0].account", declared(account="nobody")),
    ("schedules[0].limits.time", declared(limits={"time": "2d"})),
    ("schedules[0].grant_id", declared(grant_id="x")),
]


@pytest.mark.parametrize(("field", "schedule"), WRONG)
async def test_one_wrong_schedule_and_nothing_of_the_file_is_written(
    site: Site, field: str, schedule: dict[str, Any]
) -> None:
    await open_account(site.ours)
    before = await site.contents()
    for query in ({"dry_run": True}, {}):
        answer = await site.ours.ask("PUT", "/manifest", json=manifest(schedule), params=query)
        assert answer.status_code == 422, answer.text
        assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert await site.contents() == before


async def test_graph_and_account_of_a_name_cannot_change(site: Site) -> None:
    await open_account(site.ours)
    await open_account(site.ours, name="other")
    await apply(site, manifest(declared(account="research")))
    changed = manifest(declared(graph_id="python:other", account="other"))
    answer = await site.ours.ask("PUT", "/manifest", json=changed)
    assert answer.status_code == 422
    fields = [error["field"] for error in answer.json()["errors"]]
    assert fields == ["schedules[0].graph_id", "schedules[0].account"]


async def test_without_credits_nothing_of_the_file_is_written(site: Site) -> None:
    await open_account(site.ours, balance=0)
    answer = await site.ours.ask("PUT", "/manifest", json=manifest(declared()))
    assert answer.status_code == 402
    for path in ("/jobs", "/endpoints", "/schedules", "/grants"):
        assert (await site.ours.done("GET", path))["items"] == [], path


async def test_an_account_of_another_tenant_is_not_there(site: Site) -> None:
    await open_account(site.ours)
    foreign = await open_account(site.theirs, name="theirs")
    for account in (foreign, "theirs"):
        document = manifest(declared(account=account))
        answer = await site.ours.ask("PUT", "/manifest", json=document)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == "schedules[0].account"


async def test_a_name_twice_is_refused(site: Site) -> None:
    await open_account(site.ours)
    answer = await site.ours.ask("PUT", "/manifest", json=manifest(declared(), declared()))
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "schedules[1].name"
