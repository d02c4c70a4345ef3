"""Why an endpoint is as it is: what bent it, its values over time, its rules judged now."""

from typing import Any

from cadenza.domain.instants import iso
from cadenza.domain.run import Outcome, RunStatus
from tests.factories import minutes
from tests.web.reading import Reading


async def declare(world: Reading, *rules: dict[str, Any]) -> None:
    answer = await world.client.patch(
        f"/api/v1/jobs/{world.ours.job_id}", json={"rules": rules}, headers=world.ours.headers
    )
    assert answer.status_code == 200, answer.text


async def test_hints_and_pauses_as_they_were_come_newest_first(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    path = f"/endpoints/{endpoint.id}"
    await world.post(f"{path}/hints/interval", {"interval": "20s", "reason": "rush"})
    await world.post(f"{path}/hints/one-shot", {"in": "10s", "reason": "look"})
    await world.post(f"{path}/pause", {"reason": "night"})
    await world.post(f"{path}/resume")
    entries = await world.all_pages(f"{path}/steering", limit=2)
    assert [(entry["kind"], entry["ended_as"]) for entry in entries] == [
        ("pause", "cleared"),
        ("once", "standing"),
        ("interval", "standing"),
    ]
    assert (entries[0]["ended_by"], entries[0]["ended_by_name"]) == ("person", "ann")
    assert entries[0]["planned_to"] is None  # until resumed
    assert entries[2]["bends"] == "tightened"
    assert entries[2]["author"] == {"kind": "person", "name": "ann"}


async def test_the_number_at_a_field_is_told_over_time(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    for back in (3, 2, 1):
        body = {"queue": {"depth": back, "name": "x"}, "flat": 4, "list": [7, back]}
        await world.add_run(endpoint, now - minutes(back), body=body)
    path = f"/endpoints/{endpoint.id}/values"
    values = await world.read(path, field="queue.depth")
    points = [[iso(now - minutes(back)), float(back)] for back in (3, 2, 1)]
    assert values["series"]["points"] == points
    assert [field["field"] for field in values["fields"]] == ["queue.depth", "flat"]
    assert (await world.read(path))["series"]["field"] == "queue.depth"
    assert (await world.read(path, field="list.1"))["series"]["points"][0][1] == 3.0
    assert (await world.read(path, field="no.such"))["series"]["points"] == []


async def test_an_endpoint_that_answers_no_number_has_no_values(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    await world.add_run(endpoint, now - minutes(1), body="text")
    values = await world.read(f"/endpoints/{endpoint.id}/values")
    assert values == {"fields": [], "series": None}


async def test_numbers_that_no_float_holds_are_left_out(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    await world.add_run(endpoint, now - minutes(2), body={"n": 10**400})
    await world.add_run(endpoint, now - minutes(1), body={"n": 5})
    values = await world.read(f"/endpoints/{endpoint.id}/values", field="n")
    assert [number for _, number in values["series"]["points"]] == [5.0]


async def test_rules_are_judged_now_and_say_why_not(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    then = {"interval": "10s"}
    await declare(
        world,
        {"name": "deep", "when": "response.depth > 100", "then": then},
        {"name": "flat", "when": "response.depth < 5", "then": then},
        {"name": "odd", "when": "response.depht > 1", "then": then},
        {"name": "elsewhere", "when": "true", "then": then, "endpoint": "other"},
    )
    empty = await world.read(f"/endpoints/{endpoint.id}/rules")
    assert [item["holds"] for item in empty["items"]] == [False, False, False]
    await world.finish_run(endpoint, answered({"depth": 120}))
    judged = await world.read(f"/endpoints/{endpoint.id}/rules")
    assert judged["answered_at"] is not None
    by_name = {item["name"]: item for item in judged["items"]}
    assert list(by_name) == ["deep", "flat", "odd"]
    assert by_name["deep"]["holds"] is True
    assert (by_name["flat"]["holds"], by_name["flat"]["why"]) == (False, "it is not so")
    assert "depth" in by_name["odd"]["why"]


def answered(body: Any) -> Outcome:
    return Outcome(RunStatus.SUCCESS, status_code=200, body=body)


# --- Runs ------------------------------------------------------------------------------------


async def test_a_run_knows_its_neighbours_its_names_and_what_it_sent(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    ids = [await world.add_run(endpoint, now - minutes(back)) for back in (3, 2, 1)]
    first, middle, last = [await world.read(f"/runs/{run_id}") for run_id in ids]
    assert (middle["before"]["id"], middle["after"]["id"]) == (first["id"], last["id"])
    assert (first["before"], last["after"]) == (None, None)
    assert (middle["endpoint"], middle["job_id"]) == ("probe", str(world.ours.job_id))
    sent = middle["sent"]
    assert (sent["kind"], sent["method"], sent["url"]) == ("http", "GET", "http://example.com/")
    assert sent["headers"]["Idempotency-Key"] == f"{endpoint.id}:{middle['slot_at']}"
    assert (sent["is_exact"], sent["changed_at"]) == (True, None)


async def test_what_was_sent_is_not_exact_where_the_target_has_changed(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    run_id = await world.add_run(endpoint, now - minutes(1))
    path, headers = f"/api/v1/endpoints/{endpoint.id}", world.ours.headers
    await world.client.patch(path, json={"every": "2m"}, headers=headers)
    assert (await world.read(f"/runs/{run_id}"))["sent"]["is_exact"] is True
    changes = {"url": "http://example.com/new", "secret_headers": {"X-Key": "hush hush"}}
    assert (await world.client.patch(path, json=changes, headers=headers)).status_code == 200
    sent = (await world.read(f"/runs/{run_id}"))["sent"]
    assert (sent["is_exact"], sent["url"]) == (False, "http://example.com/new")
    assert sent["changed_at"] is not None
    assert sent["headers"]["X-Key"] == "***"


async def test_lists_of_runs_and_sessions_have_names(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    await world.add_run(endpoint, now - minutes(1))
    (run,) = (await world.read("/runs"))["items"]
    assert (run["endpoint"], run["job_id"]) == ("probe", str(world.ours.job_id))


async def test_runs_are_found_by_their_error_and_their_status_code(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    refused = {"error_kind": "connection", "error_message": "Connection Refused by 10.0.0.1"}
    await world.add_run(endpoint, now - minutes(3), status="failure", **refused)
    broken = {"error_kind": "http", "error_message": "503 100%", "status_code": 503}
    await world.add_run(endpoint, now - minutes(2), status="failure", **broken)
    await world.add_run(endpoint, now - minutes(1), status_code=200)

    async def found(**asked: object) -> int:
        return len((await world.read("/runs", **asked))["items"])

    assert await found(error="refused") == 1
    assert await found(error="100%") == 1
    assert await found(error="%") == 1
    assert await found(error="connection", status="timeout") == 0
    assert await found(status_code=503) == await found(status_code=503, status="failure") == 1
    assert await found(status_code=200) == 1
    assert await found(error="refused", job_id=str(world.ours.job_id)) == 1


# --- Search ----------------------------------------------------------------------------------


async def test_one_search_finds_jobs_endpoints_runs_and_sessions(world: Reading) -> None:
    endpoint, now = await world.add_endpoint("checkout probe"), await world.now()
    failed = {"status": "failure", "error_message": "checkout is down", "status_code": 503}
    await world.add_run(endpoint, now - minutes(1), **failed)
    await world.add_run(endpoint, now - minutes(60 * 24 * 8), **failed)
    found = await world.read("/search", q="checkout")
    assert [item["name"] for item in found["endpoints"]] == ["checkout probe"]
    assert [item["endpoint"] for item in found["runs"]] == ["checkout probe"]
    assert (found["jobs"], found["sessions"]) == ([], [])
    assert len((await world.read("/search", q="503"))["runs"]) == 1
    theirs = await world.read("/search", world.theirs, q="checkout")
    assert (theirs["endpoints"], theirs["runs"]) == ([], [])


async def test_a_search_for_next_to_nothing_is_refused(world: Reading) -> None:
    assert (await world.get("/search", q="x")).status_code == 422
    assert (await world.get("/search")).status_code == 422
