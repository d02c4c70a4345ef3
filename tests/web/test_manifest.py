"""A whole file of jobs: all of it or nothing, answered with the difference."""

from typing import Any

import pytest

from tests.web.support import READ, Site


def endpoint(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "every": "5m", "url": f"https://{name}.example/", **fields}


def manifest(*endpoints: dict[str, Any], job: str = "shop", **fields: Any) -> dict[str, Any]:
    return {"jobs": [{"name": job, "endpoints": list(endpoints), **fields}]}


async def apply(site: Site, document: dict[str, Any], **query: Any) -> dict[str, Any]:
    return await site.ours.done("PUT", "/manifest", document, params=query)


async def test_a_new_file_creates_everything_and_says_so(site: Site) -> None:
    difference = await apply(site, manifest(endpoint("orders"), endpoint("stock")))
    assert difference["counts"] == {"create": 3}
    assert [(change["act"], change["endpoint"]) for change in difference["changes"]] == [
        ("create", None),
        ("create", "orders"),
        ("create", "stock"),
    ]
    page = await site.ours.done("GET", "/endpoints")
    assert sorted(item["name"] for item in page["items"]) == ["orders", "stock"]
    assert all(item["next_run_at"] for item in page["items"])


async def test_the_same_file_again_changes_nothing(site: Site) -> None:
    document = manifest(
        endpoint("orders", secret_headers={"X-Key": "s3cret"}, body={"a": 1}),
        {"name": "night", "cron": "0 3 * * *", "timezone": "Europe/Paris", "url": "https://n.example/"},
        rules=[{"name": "deep", "when": "response.queue > 3", "then": {"interval": "30s"}}],
        planner={"mode": "advise", "budget": 2.0},
    )  # fmt: skip
    await apply(site, document)
    before = await site.contents()
    difference = await apply(site, document)
    assert difference["counts"] == {"unchanged": 3}
    assert difference["changes"] == []
    after = await site.contents()
    assert after["endpoints"] == before["endpoints"]
    assert after["jobs"] == before["jobs"]


async def test_what_is_exported_changes_nothing_when_it_is_applied(site: Site) -> None:
    await apply(
        site,
        manifest(
            endpoint("orders", secret_headers={"X-Key": "s3cret"}, max_interval="1h"),
            {"name": "wake", "on_demand": True, "url": "https://w.example/", "method": "PUT"},
            description="Watch the shop.",
        ),
    )
    exported = await site.ours.done("GET", "/manifest")
    assert "s3cret" not in str(exported)
    assert (await apply(site, exported, prune=True))["counts"] == {"unchanged": 3}


async def test_a_dry_run_says_what_would_change_and_writes_nothing(site: Site) -> None:
    await apply(site, manifest(endpoint("orders")))
    before = await site.contents()
    difference = await apply(site, manifest(endpoint("orders", every="1m")), dry_run=True)
    assert difference["dry_run"] is True
    assert difference["changes"][0]["fields"] == [{"field": "every", "before": "5m", "after": "1m"}]
    after = await site.contents()
    assert after["endpoints"] == before["endpoints"]
    assert after["audit_log"] == before["audit_log"]


async def test_only_pruning_archives_what_the_file_does_not_have(site: Site) -> None:
    await apply(site, manifest(endpoint("orders"), endpoint("stock")))
    await apply(site, manifest(endpoint("other"), job="another"))
    smaller = manifest(endpoint("orders"))
    assert (await apply(site, smaller))["counts"] == {"unchanged": 2}
    difference = await apply(site, smaller, prune=True)
    assert difference["counts"] == {"unchanged": 2, "archive": 3}
    names = [endpoint["name"] for endpoint in (await site.ours.done("GET", "/endpoints"))["items"]]
    assert names == ["orders"]
    archived = await site.ours.done("GET", "/jobs", params={"archived": True})
    assert [item["name"] for item in archived["items"]] == ["another"]


async def test_pruning_by_one_tenant_leaves_another_alone(site: Site) -> None:
    await site.theirs.endpoint(name="theirs")
    await apply(site, manifest(endpoint("orders")), prune=True)
    assert len((await site.theirs.done("GET", "/endpoints"))["items"]) == 1


async def test_one_bad_endpoint_and_nothing_is_written(site: Site) -> None:
    document = manifest(endpoint("orders"), endpoint("stock", every="soon"), endpoint("stock"))
    document["jobs"][0]["endpoints"].append(endpoint("bad", url="ftp://x/"))
    before = await site.contents()
    answer = await site.ours.ask("PUT", "/manifest", json=document)
    assert answer.status_code == 422
    fields = [error["field"] for error in answer.json()["errors"]]
    assert "jobs[0].endpoints[1].every" in fields
    assert (await site.contents())["endpoints"] == before["endpoints"]


@pytest.mark.parametrize(
    ("fields", "location"),
    [
        ({"url": "http://user:pw@x.example/"}, "url"),
        ({"every": None, "cron": "0 0 31 2 *"}, "cron"),
        ({"every": None, "cron": "0 0 * * *", "timezone": "Mars/Olympus"}, "timezone"),
        ({"headers": {"Host": "x"}}, "headers"),
        ({"success_when": "body.ok =="}, "success_when"),
        ({"command": ["rm"], "url": None}, "command"),
    ],
)
async def test_what_no_schema_can_say_is_refused_by_its_place(
    site: Site, fields: dict[str, Any], location: str
) -> None:
    wanted = {name: value for name, value in endpoint("one", **fields).items() if value is not None}
    answer = await site.ours.ask("PUT", "/manifest", json=manifest(wanted))
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == f"jobs[0].endpoints[0].{location}"
    assert "pw@" not in answer.text


async def test_a_rule_that_cannot_be_read_is_told_with_its_position(site: Site) -> None:
    rule = {"name": "broken", "when": "response.queue >", "then": {"run_now": True}}
    answer = await site.ours.ask("PUT", "/manifest", json=manifest(rules=[rule]))
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["field"] == "jobs[0].rules[0].when"
    assert "column" in error["fix"] or "1:" in error["fix"]


async def test_a_rule_for_an_endpoint_that_is_not_there_is_a_warning(site: Site) -> None:
    rule = {"name": "r", "when": "true", "then": {"run_now": True, "endpoint": "nobody"}}
    difference = await apply(site, manifest(endpoint("orders"), rules=[rule]))
    assert "nobody" in difference["warnings"][0]["text"]


async def test_a_secret_to_keep_must_be_there(site: Site) -> None:
    document = manifest(endpoint("orders", secret_headers={"X-Key": "***"}))
    answer = await site.ours.ask("PUT", "/manifest", json=document)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "jobs[0].endpoints[0].secret_headers.X-Key"


async def test_an_endpoint_that_is_not_touched_keeps_its_plan(site: Site) -> None:
    await apply(site, manifest(endpoint("orders"), endpoint("stock")))
    planned = await _next_run(site, "orders")
    await apply(site, manifest(endpoint("orders"), endpoint("stock", every="1m")))
    assert await _next_run(site, "orders") == planned


async def _next_run(site: Site, name: str) -> str:
    (listed,) = (await site.ours.done("GET", "/endpoints", params={"name": name}))["items"]
    return listed["next_run_at"]


async def test_a_new_endpoint_of_a_paused_job_is_paused(site: Site) -> None:
    await apply(site, manifest(endpoint("orders")))
    (job,) = (await site.ours.done("GET", "/jobs"))["items"]
    await site.ours.done("POST", f"/jobs/{job['id']}/pause", {})
    await apply(site, manifest(endpoint("stock")))
    endpoints = (await site.ours.done("GET", "/endpoints", params={"name": "stock"}))["items"]
    assert [pause["by"] for pause in endpoints[0]["pauses"]] == ["job"]


async def test_a_key_to_read_may_export_and_not_apply(site: Site) -> None:
    assert (await site.ours.ask("GET", "/manifest", READ)).status_code == 200
    answer = await site.ours.ask("PUT", "/manifest", READ, json=manifest())
    assert answer.status_code == 403


async def test_an_apply_leaves_one_audit_entry(site: Site) -> None:
    await apply(site, manifest(endpoint("orders")))
    entries = (await site.ours.done("GET", "/audit"))["items"]
    about_files = [entry for entry in entries if entry["action"].startswith("manifest")]
    assert [(entry["action"], entry["subject"]) for entry in about_files] == [
        ("manifest.apply", "manifest")
    ]


async def test_a_signing_key_is_shown_once_and_sealed_at_rest(site: Site) -> None:
    made = await site.ours.done("POST", "/signing-keys", {})
    assert made["secret"].startswith("whsec_")
    listed = await site.ours.done("GET", "/signing-keys")
    assert [item["id"] for item in listed["items"]] == [made["id"]]
    assert made["secret"] not in str(listed)
    assert made["secret"] not in str(await site.contents())
    assert (await site.theirs.done("GET", "/signing-keys"))["items"] == []


async def test_a_leaked_signing_key_ends_at_once(site: Site) -> None:
    await site.ours.done("POST", "/signing-keys", {})
    new = await site.ours.done("POST", "/signing-keys", {"no_overlap": True})
    listed = await site.ours.done("GET", "/signing-keys")
    assert [item["id"] for item in listed["items"]] == [new["id"]]
