"""What is archived can be restored; what is deleted is gone, with its history, in bounded steps."""

from typing import Any
from uuid import UUID

import pytest

from cadenza.application import archive
from tests.factories import FAILED
from tests.web.support import Site

RULES = [
    {
        "name": "deep",
        "endpoint": "orders",
        "when": "siblings.orders.depth > 3",
        "then": {"run_now": True, "endpoint": "orders"},
    }
]


async def _ran(site: Site, endpoint: dict[str, Any], times: int = 1) -> None:
    for _ in range(times):
        await site.ours.done("POST", f"/endpoints/{endpoint['id']}/run")
        await site.backend.run_due(FAILED)


# --- Restored ---------------------------------------------------------------------------------


async def test_an_endpoint_comes_back_as_it_was(site: Site) -> None:
    endpoint = await site.ours.endpoint(cron="0 3 * * *", min_interval="1m")
    path = f"/endpoints/{endpoint['id']}"
    archived = await site.ours.done("POST", f"{path}/archive")
    restored = await site.ours.done("POST", f"{path}/restore")
    assert archived["next_run_at"] is None
    same = ("name", "baseline", "target", "min_interval_ms", "next_run_at", "archived_at")
    assert {name: restored[name] for name in same} == {name: endpoint[name] for name in same}
    assert restored["revision"] == archived["revision"] + 1
    assert (await site.ours.done("POST", f"{path}/restore"))["revision"] == restored["revision"]


async def test_an_endpoint_whose_name_is_taken_meanwhile_stays_archived(site: Site) -> None:
    job = await site.ours.job()
    endpoint = await site.ours.endpoint(job)
    path = f"/endpoints/{endpoint['id']}"
    await site.ours.done("POST", f"{path}/archive")
    await site.ours.endpoint(job)
    refused = await site.ours.ask("POST", f"{path}/restore")
    assert refused.status_code == 409
    assert (await site.ours.done("GET", path))["archived_at"] is not None


async def test_a_job_comes_back_with_the_endpoints_that_ended_with_it(site: Site) -> None:
    job = await site.ours.job()
    gone_before = await site.ours.endpoint(job, "old")
    stays = await site.ours.endpoint(job, "orders")
    await site.ours.done("POST", f"/endpoints/{gone_before['id']}/archive")
    await site.ours.done("POST", f"/jobs/{job['id']}/archive")
    refused = await site.ours.ask("POST", f"/endpoints/{stays['id']}/restore")
    assert refused.status_code == 409
    assert "restore that" in refused.text
    restored = await site.ours.done("POST", f"/jobs/{job['id']}/restore")
    assert (restored["archived_at"], restored["endpoint_count"]) == (None, 1)
    listed = (await site.ours.done("GET", f"/endpoints?job_id={job['id']}"))["items"]
    assert [row["name"] for row in listed] == ["orders"]
    assert listed[0]["next_run_at"] is not None


# --- Deleted ----------------------------------------------------------------------------------


async def test_what_is_not_archived_is_not_deleted(site: Site) -> None:
    endpoint = await site.ours.endpoint(on_demand=True)
    before = await site.contents()
    for path in (f"/endpoints/{endpoint['id']}", f"/jobs/{endpoint['job_id']}"):
        refused = await site.ours.ask("DELETE", path)
        assert refused.status_code == 409
        assert "archive it first" in refused.text
    assert await site.contents() == before


@pytest.mark.parametrize("subject", ["endpoint", "job"])
async def test_what_goes_is_told_before_and_is_gone_after(site: Site, subject: str) -> None:
    endpoint = await site.ours.endpoint(on_demand=True)
    other = await site.ours.endpoint(name="other", on_demand=True)
    await _ran(site, endpoint, times=3)
    await _ran(site, other)
    path = f"/{subject}s/{endpoint['id'] if subject == 'endpoint' else endpoint['job_id']}"
    told = await site.ours.done("DELETE", f"{path}?dry_run=true")
    assert told == {"endpoints": 1, "history": 3, "done": False}
    await site.ours.done("POST", f"{path}/archive")
    assert (await site.ours.done("DELETE", path))["done"]
    assert (await site.ours.ask("GET", path)).status_code == 404
    runs = (await site.ours.done("GET", "/runs"))["items"]
    assert {run["endpoint_id"] for run in runs} == {other["id"]}
    contents = await site.contents()
    rows = [row for table, rows in contents.items() for row in rows if table not in KEPT]
    assert not [row for row in rows if endpoint["id"] in row]


KEPT = ("audit_log", "events", "idempotency_keys", "idempotency")


async def test_history_goes_in_steps_that_are_taken_up_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "BATCH", 2)
    monkeypatch.setattr(archive, "MOST_BATCHES", 1)
    endpoint = await site.ours.endpoint(on_demand=True)
    await _ran(site, endpoint, times=5)
    path = f"/endpoints/{endpoint['id']}"
    await site.ours.done("POST", f"{path}/archive")
    answers = [await site.ours.done("DELETE", path) for _ in range(3)]
    assert [answer["history"] for answer in answers] == [2, 2, 1]
    assert [answer["done"] for answer in answers] == [False, False, True]


# --- Renamed ----------------------------------------------------------------------------------


async def test_a_new_name_is_that_of_the_rules_too(site: Site) -> None:
    job = await site.ours.job(rules=RULES)
    endpoint = await site.ours.endpoint(job)
    await site.ours.done("PATCH", f"/endpoints/{endpoint['id']}", {"name": "new orders"})
    (rule,) = (await site.ours.done("GET", f"/jobs/{job['id']}"))["rules"]
    assert rule["endpoint"] == rule["then"]["endpoint"] == "new orders"
    assert rule["when"] == 'siblings["new orders"].depth > 3'


async def test_a_name_that_no_expression_can_write_is_refused_with_the_rules(site: Site) -> None:
    job = await site.ours.job(rules=RULES)
    endpoint = await site.ours.endpoint(job)
    before = await site.contents()
    path = f"/endpoints/{endpoint['id']}"
    refused = await site.ours.ask("PATCH", path, json={"name": "o'clock"})
    assert refused.status_code == 422
    assert "deep" in refused.text
    assert await site.contents() == before


async def test_a_run_by_hand_is_a_last_run(site: Site) -> None:
    endpoint = await site.ours.endpoint(on_demand=True)
    assert endpoint["last_run_at"] is None
    await _ran(site, endpoint)
    for path in (f"/endpoints/{endpoint['id']}", "/endpoints"):
        answer = await site.ours.done("GET", path)
        row = answer["items"][0] if "items" in answer else answer
        assert row["last_run_at"] is not None


# --- Back-off ---------------------------------------------------------------------------------


async def test_a_backoff_is_switched_off_and_on_again(site: Site) -> None:
    endpoint = await site.ours.endpoint(backoff="none")
    path = f"/endpoints/{endpoint['id']}"
    assert endpoint["backoff"] == "none"
    exported = await site.ours.done("GET", "/manifest")
    assert exported["jobs"][0]["endpoints"][0]["backoff"] == "none"
    assert (await site.ours.done("PATCH", path, {"backoff": None}))["backoff"] == "doubling"
    assert (await site.ours.done("PATCH", path, {"backoff": "none"}))["backoff"] == "none"
    wrong = await site.ours.ask("PATCH", path, json={"backoff": "linear"})
    assert wrong.status_code == 422


# --- Ids --------------------------------------------------------------------------------------


async def test_an_id_is_known_by_how_it_begins(site: Site) -> None:
    endpoint = await site.ours.endpoint(on_demand=True)
    await _ran(site, endpoint)
    run = (await site.ours.done("GET", "/runs"))["items"][0]
    for kind, row in (("endpoint", endpoint["id"]), ("run", run["id"])):
        for begins in (row[:13], row[:13].replace("-", ""), row):
            answer = await site.ours.done("GET", f"/ids?kind={kind}&begins={begins}")
            assert row in answer["items"]
        theirs = await site.theirs.done("GET", f"/ids?kind={kind}&begins={row}")
        assert theirs == {"items": [], "more": False}
    assert UUID(run["id"]) != UUID(endpoint["id"])


@pytest.mark.parametrize("begins", ["", "0199", "zzzzzzzz", "0199-000000", "0" * 37, "01990000%00"])
async def test_what_is_no_beginning_of_an_id_is_refused(site: Site, begins: str) -> None:
    answer = await site.ours.ask("GET", f"/ids?kind=run&begins={begins}")
    assert answer.status_code == 422
