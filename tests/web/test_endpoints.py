"""Endpoints: every way to write one, what the answer shows, changes from one kind to another."""

from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from tests.web.support import Site

URL = {"url": "https://shop.example/orders"}


@pytest.mark.parametrize(
    ("written", "answered"),
    [
        ({"every": "5m"}, {"every_ms": 300_000}),
        ({"every": 300_000}, {"every_ms": 300_000}),
        ({"every_ms": 300_000}, {"every_ms": 300_000}),
        ({"every": "1h30m"}, {"every_ms": 5_400_000}),
        ({"every": "366d"}, {"every_ms": 366 * 86_400_000}),
        ({"every": "1s"}, {"every_ms": 1000}),
        ({"cron": "0 9 * * mon-fri"}, {"cron": "0 9 * * mon-fri", "timezone": "UTC"}),
        (
            {"cron": "0 9 * * *", "timezone": "Europe/Paris"},
            {"cron": "0 9 * * *", "timezone": "Europe/Paris"},
        ),
        ({"cron": "@hourly"}, {"cron": "@hourly", "timezone": "UTC"}),
        ({"cron": "0 0 29 2 *"}, {"cron": "0 0 29 2 *", "timezone": "UTC"}),
        ({"on_demand": True}, {"on_demand": True}),
    ],
)
async def test_every_way_to_write_a_baseline_is_understood(
    site: Site, written: dict[str, Any], answered: dict[str, Any]
) -> None:
    job = await site.ours.job()
    document = {"name": "orders", **URL, **written}
    answer = await site.ours.ask("POST", f"/jobs/{job['id']}/endpoints", json=document)
    assert answer.status_code == 201, answer.text
    empty = {"every_ms": None, "cron": None, "timezone": None, "on_demand": False}
    assert answer.json()["baseline"] == {**empty, **answered}
    runs = [datetime.fromisoformat(run["at"]) for run in answer.json()["next_runs"]]
    assert len(runs) == (0 if "on_demand" in written else 5)
    assert runs == sorted(set(runs))
    again = await site.ours.done("GET", f"/endpoints/{answer.json()['id']}")
    assert again["baseline"] == {**empty, **answered}


@pytest.mark.parametrize(
    ("written", "field"),
    [
        ({}, "every"),
        ({"every": "5m", "cron": "0 9 * * *"}, "every"),
        ({"every": "5m", "on_demand": True}, "every"),
        ({"on_demand": False}, "every"),
        ({"every": "5m", "every_ms": 300_000}, "every_ms"),
        ({"every": "5m", "timezone": "Europe/Paris"}, "timezone"),
        ({"every": "999ms"}, "every"),
        ({"every": "367d"}, "every"),
        ({"cron": "0 0 31 2 *"}, "cron"),
        ({"cron": "0 0 30 2 *", "timezone": "Asia/Tokyo"}, "cron"),
        ({"cron": "* * * * * *"}, "cron"),
        ({"cron": "60 * * * *"}, "cron"),
        ({"cron": "nonsense"}, "cron"),
        ({"cron": "*/0 * * * *"}, "cron"),
        ({"cron": "٥ * * * *"}, "cron"),
        ({"cron": "0 9 * * *", "timezone": "Mars/Base"}, "timezone"),
        ({"cron": "0 9 * * *", "timezone": "../../etc/passwd"}, "timezone"),
        ({"cron": "0 9 * * *", "timezone": "europe/pariss"}, "timezone"),
        ({"every": "5m", "min_interval": "2h", "max_interval": "1h"}, "min_interval"),
        ({"every": "5m", "min_interval": "1ms"}, "min_interval"),
        ({"every": "5m", "max_interval": "367d"}, "max_interval"),
    ],
)
async def test_a_baseline_that_makes_no_sense_is_refused_by_its_field_and_nothing_is_made(
    site: Site, written: dict[str, Any], field: str
) -> None:
    job = await site.ours.job()
    before = await site.contents()
    path = f"/jobs/{job['id']}/endpoints"
    answer = await site.ours.ask("POST", path, json={"name": "orders", **URL, **written})
    assert answer.status_code == 422, answer.text
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert await site.contents() == before


async def test_guardrails_that_fight_the_baseline_are_warned_of(site: Site) -> None:
    job = await site.ours.job()
    rare = await site.ours.endpoint(job, "rare", every="1m", min_interval="10m")
    often = await site.ours.endpoint(job, "often", cron="0 9 * * mon", max_interval="1h")
    well = await site.ours.endpoint(job, "well", every="1m", min_interval="10s", max_interval="1h")
    assert "less often" in rare["warnings"][0]
    assert "more often" in often["warnings"][0]
    assert well["warnings"] == []


async def test_the_next_runs_are_those_of_the_cron_in_its_zone(site: Site) -> None:
    made = await site.ours.endpoint(cron="30 9 * * *", timezone="Asia/Kolkata")
    hours = {run["at"][11:16] for run in made["next_runs"]}
    assert hours == {"04:00"}


async def test_a_baseline_goes_from_cron_to_interval_to_on_demand_and_back(site: Site) -> None:
    made = await site.ours.endpoint(cron="0 9 * * *", timezone="Europe/Paris", min_interval="1m")
    now = await site.now()  # it has just run, so that no slot is due while it is changed
    ids = site.ours.tenant_id, UUID(made["id"])
    await site.backend.change_endpoint(*ids, last_run_at=now, last_slot_at=now)
    path = f"/endpoints/{made['id']}"
    steps: list[tuple[dict[str, Any], dict[str, Any], str | None]] = [
        ({"every": "10m"}, {"every_ms": 600_000}, "baseline-interval"),
        ({"on_demand": True}, {"on_demand": True}, None),
        ({"every_ms": 90_000}, {"every_ms": 90_000}, "baseline-interval"),
        (
            {"cron": "0 8 * * *", "timezone": "Asia/Tokyo"},
            {"cron": "0 8 * * *", "timezone": "Asia/Tokyo"},
            "baseline-cron",
        ),
        ({"cron": "5 8 * * *"}, {"cron": "5 8 * * *", "timezone": "Asia/Tokyo"}, "baseline-cron"),
        ({"timezone": None}, {"cron": "5 8 * * *", "timezone": "UTC"}, "baseline-cron"),
        ({"timezone": "Asia/Tokyo"}, {"cron": "5 8 * * *", "timezone": "Asia/Tokyo"}, None),
        ({"cron": None, "every": "1h"}, {"every_ms": 3_600_000}, "baseline-interval"),
        ({"every": None, "on_demand": True}, {"on_demand": True}, None),
    ]
    for patch, answered, source in steps:
        changed = await site.ours.done("PATCH", path, patch)
        empty = {"every_ms": None, "cron": None, "timezone": None, "on_demand": False}
        assert changed["baseline"] == {**empty, **answered}, patch
        assert changed["min_interval_ms"] == 60_000
        if source is not None:
            assert changed["next_source"] == source
        if "on_demand" in patch:
            assert changed["next_run_at"] is None


async def test_a_change_keeps_what_it_does_not_name(site: Site) -> None:
    made = await site.ours.endpoint(
        body={"a": [1, 2]},
        method="PUT",
        headers={"X-One": "1", "X-Two": "2"},
        max_redirects=3,
        success_statuses=[200, 404],
        success_when="body.ok == true",
        timeout="10s",
        min_interval="10s",
        max_interval="1h",
    )
    path = f"/endpoints/{made['id']}"
    changed = await site.ours.done("PATCH", path, {"name": "renamed"})
    assert changed["target"] == made["target"]
    assert changed["target"]["headers"]["Content-Type"] == "application/json"
    patch = {"headers": {"X-One": None, "X-Three": "3"}, "max_interval": None, "timeout": None}
    changed = await site.ours.done("PATCH", path, patch)
    assert sorted(changed["target"]["headers"]) == ["Content-Type", "X-Three", "X-Two"]
    assert (changed["min_interval_ms"], changed["max_interval_ms"]) == (10_000, None)
    assert changed["target"]["timeout_ms"] == 30_000


async def test_an_empty_body_stays_one_through_other_changes(site: Site) -> None:
    made = await site.ours.endpoint(body="")
    assert (made["target"]["method"], made["target"]["body"]) == ("POST", "")
    changed = await site.ours.done("PATCH", f"/endpoints/{made['id']}", {"every": "10m"})
    assert (changed["target"]["method"], changed["target"]["body"]) == ("POST", "")


async def test_a_change_that_changes_nothing_keeps_the_revision(site: Site) -> None:
    made = await site.ours.endpoint(secret_headers={"X-Key": "s3cret"})
    path = f"/endpoints/{made['id']}"
    for patch in ({}, {"every": "5m"}, {"every_ms": 300_000}, {"secret_headers": {"X-Key": "***"}}):
        assert (await site.ours.done("PATCH", path, patch))["revision"] == 1, patch
    assert (await site.ours.done("PATCH", path, {"every": "6m"}))["revision"] == 2


async def test_a_change_of_what_has_changed_since_is_refused(site: Site) -> None:
    made = await site.ours.endpoint()
    path = f"/endpoints/{made['id']}"
    seen = {"If-Match": (await site.ours.ask("GET", path)).headers["etag"]}
    first = await site.ours.ask("PATCH", path, json={"every": "6m"}, headers=seen)
    second = await site.ours.ask("PATCH", path, json={"every": "7m"}, headers=seen)
    assert (first.status_code, second.status_code) == (200, 412)
    assert first.headers["etag"] == '"2"'
    assert (await site.ours.done("GET", path))["baseline"]["every_ms"] == 360_000


async def test_what_a_worker_does_is_no_revision(site: Site) -> None:
    made = await site.ours.endpoint()
    await site.ours.done("POST", f"/endpoints/{made['id']}/hints/interval", {"interval": "1m"})
    assert (await site.ours.done("GET", f"/endpoints/{made['id']}"))["revision"] == 1


async def test_a_name_is_taken_once_in_a_job(site: Site) -> None:
    job, other = await site.ours.job("one"), await site.ours.job("two")
    first = await site.ours.endpoint(job, "orders")
    await site.ours.endpoint(other, "orders")
    document = {"name": "orders", "every": "5m", **URL}
    answer = await site.ours.ask("POST", f"/jobs/{job['id']}/endpoints", json=document)
    assert answer.status_code == 409
    assert answer.json()["errors"][0]["field"] == "name"
    second = await site.ours.endpoint(job, "stock")
    rename = await site.ours.ask("PATCH", f"/endpoints/{second['id']}", json={"name": "orders"})
    assert rename.status_code == 409
    assert rename.json()["errors"][0]["value"] == "'orders'"
    await site.ours.done("POST", f"/endpoints/{first['id']}/archive")
    await site.ours.done("PATCH", f"/endpoints/{second['id']}", {"name": "orders"})


async def test_what_is_archived_stays_so_and_no_longer_runs(site: Site) -> None:
    made = await site.ours.endpoint()
    path = f"/endpoints/{made['id']}"
    archived = await site.ours.done("POST", f"{path}/archive")
    assert (archived["next_run_at"], archived["archived_at"] is None) == (None, False)
    again = await site.ours.done("POST", f"{path}/archive")
    assert again["archived_at"] == archived["archived_at"]
    assert (await site.ours.done("GET", "/endpoints"))["items"] == []
    listed = await site.ours.done("GET", "/endpoints", params={"state": "archived"})
    assert [endpoint["id"] for endpoint in listed["items"]] == [made["id"]]
    patch = await site.ours.ask("PATCH", path, json={"every": "6m"})
    assert patch.status_code == 409
