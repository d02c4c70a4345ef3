"""Schedules of graphs: created, listed, changed, deleted; and the slot that waits with them."""

from typing import Any
from uuid import uuid4

import pytest

from cadenza.domain.access import Scope
from cadenza.domain.graph import ErrorCode
from tests.web.graph_schedules import (
    GRAPH,
    claim_due,
    create_schedule,
    end_run,
    open_account,
    path_of,
    slots_of,
    start_run,
)
from tests.web.support import READ, Site


async def _slots(site: Site, schedule: dict[str, Any]) -> list[tuple[str, str]]:
    page = await site.ours.done("GET", f"{path_of(schedule)}/runs")
    return [(run["slot_at"], run["status"]) for run in page["items"]]


def _named(answer: Any) -> list[str]:
    return [error["field"] for error in answer.json()["errors"]]


# --- Create -----------------------------------------------------------------------------------


async def test_a_schedule_is_answered_with_its_next_runs_and_its_grant(site: Site) -> None:
    account = await open_account(site.ours)
    body = {
        "name": "digest",
        "graph_id": GRAPH,
        "input": {"topic": "Ärger", "deep": [1, {"x": None}]},
        "cron": "30 9 * * mon-fri",
        "timezone": "Europe/Paris",
        "concurrency_policy": "replace",
        "limits": {"time": "90s", "calls": 5},
        "requires": ["gpu", "region=eu"],
    }
    answer = await site.ours.ask("POST", "/schedules", json=body)
    assert answer.status_code == 201, answer.text
    schedule = answer.json()
    limits = {"time": "1m30s", "memory_mb": 512, "steps": 25, "calls": 5}
    assert {name: schedule[name] for name in body} == {
        **body,
        "limits": {**limits, **dict.fromkeys(("tokens", "credits", "cpus", "gpus"))},
    }
    assert len(schedule["next_runs"]) == 5
    assert schedule["next_runs"][0] == schedule["next_run_at"]
    assert all(at.endswith("Z") and at[14:16] == "30" for at in schedule["next_runs"])
    assert (schedule["enabled"], schedule["revision"], schedule["deleted_at"]) == (True, 1, None)
    assert answer.headers["etag"] == '"1"'
    assert await site.ours.done("GET", path_of(schedule)) == schedule
    assert await _slots(site, schedule) == [(schedule["next_run_at"], "scheduled")]
    grant = await site.ours.done("GET", f"/grants/{schedule['grant_id']}")
    assert (grant["account_id"], grant["scopes"]) == (account, [f"graph:execute:{GRAPH}"])
    assert grant["schedule_id"] == schedule["id"]


async def test_a_schedule_that_is_not_enabled_has_no_slot(site: Site) -> None:
    await open_account(site.ours)
    schedule = await create_schedule(site.ours, enabled=False)
    assert (schedule["next_run_at"], schedule["next_runs"]) == (None, [])
    assert await _slots(site, schedule) == []


async def test_the_same_request_makes_one_schedule(site: Site) -> None:
    await open_account(site.ours)
    headers = {"Idempotency-Key": "k1"}
    body = {"graph_id": GRAPH, "cron": "0 9 * * *"}
    first = await site.ours.ask("POST", "/schedules", json=body, headers=headers)
    await open_account(site.ours, name="another")  # nobody would know which one now
    again = await site.ours.ask("POST", "/schedules", json=body, headers=headers)
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json() == first.json()
    assert len((await site.ours.done("GET", "/schedules"))["items"]) == 1
    assert len((await site.ours.done("GET", "/grants"))["items"]) == 1


async def test_a_grant_of_ones_own_is_taken_and_outlives_the_schedule(site: Site) -> None:
    account = await open_account(site.ours)
    wanted = {"account_id": account, "scopes": ["graph:execute:*"]}
    grant = await site.ours.done("POST", "/grants", wanted)
    schedule = await create_schedule(site.ours, grant_id=grant["id"])
    assert schedule["grant_id"] == grant["id"]
    await site.ours.ask("DELETE", path_of(schedule))
    assert (await site.ours.done("GET", f"/grants/{grant['id']}"))["state"] == "active"


async def test_a_grant_that_does_not_allow_it_is_refused_by_its_name(site: Site) -> None:
    account = await open_account(site.ours)
    wanted = {"account_id": account, "scopes": ["graph:execute:python:other"]}
    grant = await site.ours.done("POST", "/grants", wanted)
    body = {"graph_id": GRAPH, "cron": "0 9 * * *", "grant_id": grant["id"]}
    answer = await site.ours.ask("POST", "/schedules", json=body)
    assert (answer.status_code, _named(answer)) == (422, ["grant_id"])
    both = await site.ours.ask("POST", "/schedules", json={**body, "account_id": account})
    assert (both.status_code, _named(both)) == (422, ["account_id"])
    missing = await site.ours.ask("POST", "/schedules", json={**body, "grant_id": str(uuid4())})
    assert missing.status_code == 404


async def test_of_several_accounts_one_must_be_named(site: Site) -> None:
    body = {"graph_id": GRAPH, "cron": "0 9 * * *"}
    none = await site.ours.ask("POST", "/schedules", json=body)
    assert (none.status_code, _named(none)) == (422, ["account_id"])
    await open_account(site.ours, name="one")
    second = await open_account(site.ours, name="two")
    several = await site.ours.ask("POST", "/schedules", json=body)
    assert (several.status_code, _named(several)) == (422, ["account_id"])
    schedule = await create_schedule(site.ours, account_id=second)
    grant = await site.ours.done("GET", f"/grants/{schedule['grant_id']}")
    assert grant["account_id"] == second


async def test_an_account_without_credits_cannot_have_a_schedule(site: Site) -> None:
    account = await open_account(site.ours, balance=0)
    before = await site.contents()
    body = {"graph_id": GRAPH, "cron": "0 9 * * *", "account_id": account}
    answer = await site.ours.ask("POST", "/schedules", json=body)
    assert answer.status_code == 402
    assert answer.json()["type"] == "/problems/insufficient-credits"
    assert await site.contents() == before


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("graph_id", {"graph_id": "no provider"}),
    ("graph_id", {"graph_id": ":x"}),
    ("graph_id", {"graph_id": "python:" + "x" * 500}),
    ("cron", {"cron": "* * * *"}),
    ("cron", {"cron": "* * * * * *"}),
    ("cron", {"cron": "61 * * * *"}),
    ("cron", {"cron": "0 0 30 2 *"}),
    ("cron", {"cron": "*/1," * 2500 + "5 * * * *"}),
    ("cron", {"cron": "0 9 *\n* *"}),
    ("timezone", {"timezone": "Mars/Olympus"}),
    ("timezone", {"timezone": "../../etc/passwd"}),
    ("timezone", {"timezone": "europe/paris"}),
    ("name", {"name": "a/b"}),
    ("name", {"name": "a\u202eb"}),
    ("input", {"input": []}),
    ("input", {"input": {"text": "é" * 40_000}}),
    ("input.model", {"input": {"model": "nobody-knows-this-one"}}),
    ("concurrency_policy", {"concurrency_policy": "Forbid"}),
    ("limits.time", {"limits": {"time": "2d"}}),
    ("limits.time", {"limits": {"time": "5 parsecs"}}),
    ("limits.memory_mb", {"limits": {"memory_mb": 1}}),
    ("limits.steps", {"limits": {"steps": "25"}}),
    ("limits.cpus", {"limits": {"cpus": -1}}),
    ("limits.gpus", {"limits": {"gpus": 1.5}}),
    ("limits.gpus", {"limits": {"gpus": "1"}}),
    ("limits.speed", {"limits": {"speed": 5}}),
    ("requires[0]", {"requires": ["GPU!"]}),
    ("requires", {"requires": ["gpu"] * 21}),
    ("enabled", {"enabled": "yes"}),
    ("owner", {"owner": "ada"}),
]


@pytest.mark.parametrize(("field", "fields"), WRONG)
async def test_what_is_wrong_is_refused_by_its_name_and_nothing_is_made(
    site: Site, field: str, fields: dict[str, Any]
) -> None:
    await open_account(site.ours)
    before = await site.contents()
    body = {"graph_id": GRAPH, "cron": "0 9 * * *", **fields}
    answer = await site.ours.ask("POST", "/schedules", json=body)
    assert (answer.status_code, _named(answer)) == (422, [field]), answer.text
    assert await site.contents() == before


@pytest.mark.parametrize("raw", [b'{"a":' * 60 + b"1" + b"}" * 60, b'{"x": "a\\u0000b"}'])
async def test_an_input_that_could_not_be_stored_is_no_request(site: Site, raw: bytes) -> None:
    await open_account(site.ours)
    content = b'{"graph_id": "python:x", "cron": "0 9 * * *", "input": ' + raw + b"}"
    headers = {"Content-Type": "application/json"}
    answer = await site.ours.ask("POST", "/schedules", content=content, headers=headers)
    assert answer.status_code == 400
    assert _named(answer)[0].startswith("input")


async def test_a_model_whose_price_is_known_is_taken(site: Site) -> None:
    await open_account(site.ours)
    for model in ("gpt-4o-mini", "claude-3-5-haiku-latest"):
        await create_schedule(site.ours, input={"model": model})


# --- Read -------------------------------------------------------------------------------------


async def test_pages_hold_every_schedule_once(site: Site) -> None:
    await open_account(site.ours)
    made = [(await create_schedule(site.ours, name=f"s{n}"))["id"] for n in range(5)]
    seen, query = list[str](), {"limit": 2}
    while True:
        page = await site.ours.done("GET", "/schedules", params=query)
        seen += [schedule["id"] for schedule in page["items"]]
        if page["next"] is None:
            break
        query = {"limit": 2, "cursor": page["next"]}
    assert sorted(seen) == sorted(made)
    named = await site.ours.done("GET", "/schedules", params={"name": "s3"})
    assert [schedule["name"] for schedule in named["items"]] == ["s3"]


async def test_a_name_is_taken_once_until_its_schedule_is_deleted(site: Site) -> None:
    await open_account(site.ours)
    schedule = await create_schedule(site.ours, name="digest")
    other = await create_schedule(site.ours, name="other")
    body = {"graph_id": GRAPH, "cron": "0 9 * * *", "name": "digest"}
    taken = await site.ours.ask("POST", "/schedules", json=body)
    renamed = await site.ours.ask("PATCH", path_of(other), json={"name": "digest"})
    for answer in (taken, renamed):
        assert (answer.status_code, _named(answer)) == (409, ["name"])
    await site.ours.ask("DELETE", path_of(schedule))
    await create_schedule(site.ours, name="digest")


async def test_a_reader_may_look_and_change_nothing(site: Site) -> None:
    await open_account(site.ours)
    schedule = await create_schedule(site.ours)
    assert (await site.ours.ask("GET", path_of(schedule), READ)).status_code == 200
    for method, path, body in (
        ("POST", "/schedules", {"graph_id": GRAPH, "cron": "0 9 * * *"}),
        ("PATCH", path_of(schedule), {}),
        ("DELETE", path_of(schedule), None),
        ("POST", f"{path_of(schedule)}/run", None),
    ):
        answer = await site.ours.ask(method, path, READ, json=body)
        assert answer.status_code == 403, f"{method} {path}"


# --- Change -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patch", "moves"),
    [
        ({"cron": "30 10 * * *"}, True),
        ({"timezone": "Asia/Tokyo"}, True),
        ({"input": {"topic": "other"}}, False),
    ],
)
async def test_a_change_replaces_the_slot_that_waits(
    site: Site, patch: dict[str, Any], moves: bool
) -> None:
    await open_account(site.ours)
    schedule = await create_schedule(site.ours, input={"topic": "one", "size": 1})
    changed = await site.ours.done("PATCH", path_of(schedule), patch)
    assert {name: changed[name] for name in patch} == patch
    assert changed["revision"] == 2
    assert (changed["next_run_at"] != schedule["next_run_at"]) is moves
    assert await _slots(site, changed) == [(changed["next_run_at"], "scheduled")]
    assert changed["next_runs"][0] == changed["next_run_at"]


async def test_one_that_is_disabled_has_no_slot_until_it_is_enabled(site: Site) -> None:
    await open_account(site.ours)
    schedule = await create_schedule(site.ours)
    disabled = await site.ours.done("PATCH", path_of(schedule), {"enabled": False})
    assert (disabled["next_run_at"], disabled["next_runs"]) == (None, [])
    assert await _slots(site, schedule) == []
    enabled = await site.ours.done("PATCH", path_of(schedule), {"enabled": True})
    assert enabled["next_run_at"] == schedule["next_run_at"]
    assert await _slots(site, schedule) == [(schedule["next_run_at"], "scheduled")]


async def test_a_patch_keeps_what_it_does_not_name_and_null_takes_away(site: Site) -> None:
    await open_account(site.ours)
    schedule = await create_schedule(
        site.ours, name="x", limits={"time": "1h", "calls": 3}, requires=["gpu"]
    )
    patch = {"limits": {"calls": 9, "steps": 7}, "name": None, "requires": None}
    changed = await site.ours.done("PATCH", path_of(schedule), patch)
    assert (changed["name"], changed["requires"]) == (None, [])
    limits = changed["limits"]
    assert (limits["time"], limits["calls"], limits["steps"]) == ("1h", 9, 7)
    assert changed["cron"] == schedule["cron"]
    same = await site.ours.done("PATCH", path_of(schedule), {"enabled": True})
    assert same == changed
    cleared = await site.ours.done("PATCH", path_of(schedule), {"limits": {"time": None}})
    assert (cleared["limits"]["time"], cleared["limits"]["calls"]) == ("10m", 9)


@pytest.mark.parametrize("field", ["graph_id", "grant_id", "account_id"])
async def test_graph_grant_and_account_cannot_be_changed(site: Site, field: str) -> None:
    await open_account(site.ours)
    schedule = await create_schedule(site.ours)
    answer = await site.ours.ask("PATCH", path_of(schedule), json={field: GRAPH})
    assert (answer.status_code, _named(answer)) == (422, [field])
    assert "cannot be changed" in answer.json()["errors"][0]["fix"]


@pytest.mark.parametrize(("field", "fields"), [each for each in WRONG if each[0] != "graph_id"])
async def test_a_wrong_change_changes_nothing(
    site: Site, field: str, fields: dict[str, Any]
) -> None:
    await open_account(site.ours)
    schedule = await create_schedule(site.ours)
    before = await site.contents()
    answer = await site.ours.ask("PATCH", path_of(schedule), json=fields)
    assert (answer.status_code, _named(answer)) == (422, [field]), answer.text
    assert await site.contents() == before


async def test_a_change_of_what_has_changed_since_is_refused(site: Site) -> None:
    await open_account(site.ours)
    schedule = await create_schedule(site.ours)
    seen = {"If-Match": '"1"'}
    first = await site.ours.ask("PATCH", path_of(schedule), json={"name": "a"}, headers=seen)
    second = await site.ours.ask("PATCH", path_of(schedule), json={"name": "b"}, headers=seen)
    deleted = await site.ours.ask("DELETE", path_of(schedule), headers=seen)
    statuses = (first.status_code, second.status_code, deleted.status_code)
    assert statuses == (200, 412, 412)


# --- Delete -----------------------------------------------------------------------------------


async def test_what_is_deleted_keeps_its_history_and_loses_its_grant(site: Site) -> None:
    await open_account(site.ours)
    schedule = await create_schedule(site.ours)
    claim = await start_run(site, site.ours, schedule)
    await end_run(site.backend, claim)
    answer = await site.ours.ask("DELETE", path_of(schedule))
    assert (answer.status_code, answer.content) == (204, b"")
    assert (await site.ours.done("GET", "/schedules"))["items"] == []
    assert (await site.ours.done("GET", path_of(schedule)))["deleted_at"] is not None
    assert [status for _, status in await _slots(site, schedule)] == ["success"]
    assert (await site.ours.done("GET", path_of(schedule, claim)))["status"] == "success"
    grant = await site.ours.done("GET", f"/grants/{schedule['grant_id']}")
    assert grant["state"] == "revoked"
    for method, path, body in (
        ("PATCH", path_of(schedule), {"name": "x"}),
        ("DELETE", path_of(schedule), None),
        ("POST", f"{path_of(schedule)}/run", None),
    ):
        assert (await site.ours.ask(method, path, json=body)).status_code == 404


async def test_what_waits_or_is_not_started_ends_with_its_schedule(site: Site) -> None:
    """Under a grant that outlives it nothing else would hold them back."""
    account = await open_account(site.ours)
    wanted = {"account_id": account, "scopes": ["graph:execute:*"]}
    grant = await site.ours.done("POST", "/grants", wanted)
    asked = await create_schedule(site.ours, grant_id=grant["id"])
    claimed = await create_schedule(site.ours, grant_id=grant["id"])
    await site.ours.done("POST", f"{path_of(claimed)}/run")
    claim = await claim_due(site.backend, claimed)
    await site.ours.done("POST", f"{path_of(asked)}/run")
    for schedule in (asked, claimed):
        await site.ours.ask("DELETE", path_of(schedule))
    assert await _slots(site, asked) == []
    assert [status for _, status in await _slots(site, claimed)] == ["cancelled"]
    assert await slots_of(site.backend).start([claim]) == {claim.run_id: ErrorCode.ABORTED}
    (run,) = (await site.ours.done("GET", f"{path_of(claimed)}/runs"))["items"]
    assert run["reason"] == "its schedule was deleted before it started"


@pytest.mark.parametrize("scope", list(Scope))
async def test_what_is_foreign_is_not_there(site: Site, scope: Scope) -> None:
    await open_account(site.ours)
    schedule = await create_schedule(site.ours)
    claim = await start_run(site, site.ours, schedule)
    for path in (path_of(schedule), f"{path_of(schedule)}/runs", path_of(schedule, claim)):
        foreign = await site.theirs.ask("GET", path, scope)
        missing = await site.theirs.ask("GET", path.replace(schedule["id"], str(uuid4())), scope)
        assert (foreign.status_code, missing.status_code) == (404, 404)
