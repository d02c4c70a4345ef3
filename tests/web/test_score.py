"""The score of a job: runs with what bent them, in one answer of bounded size."""

from datetime import datetime
from typing import Any

import pytest

from cadenza.application import scores
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.instants import iso
from tests.factories import minutes, seconds
from tests.web.reading import Reading


async def score_of(world: Reading, **asked: Any) -> dict[str, Any]:
    return await world.read(f"/jobs/{world.ours.job_id}/score", **asked)


async def the_lane(world: Reading, **asked: Any) -> dict[str, Any]:
    (lane,) = (await score_of(world, **asked))["lanes"]
    return lane


def plan(source: str, at: datetime, baseline_at: datetime) -> dict[str, Any]:
    candidates = [
        {"source": "baseline-interval", "at": iso(baseline_at)},
        {"source": source, "at": iso(at)},
    ]
    return {"source": source, "winner": source, "inputs": {}, "candidates": candidates}


async def hint(world: Reading, endpoint: Endpoint, interval: str, **fields: Any) -> None:
    body = {"interval": interval, "reason": "a rush", **fields}
    await world.post(f"/endpoints/{endpoint.id}/hints/interval", body)


# --- Lanes ----------------------------------------------------------------------------------


async def test_a_job_without_endpoints_has_no_lane(world: Reading) -> None:
    score = await score_of(world)
    assert (score["lanes"], score["lanes_total"], score["values"]) == ([], 0, [])
    assert score["from"] < score["at"] < score["to"]


async def test_lanes_come_by_name_and_in_pages(world: Reading) -> None:
    for name in ("c", "a", "b"):
        await world.add_endpoint(name)
    first = await score_of(world, lanes=2)
    rest = await score_of(world, lanes=2, cursor=first["next"])
    names = [lane["endpoint"]["name"] for page in (first, rest) for lane in page["lanes"]]
    assert names == ["a", "b", "c"]
    assert (first["lanes_total"], rest["next"]) == (3, None)


async def test_lanes_may_be_chosen_and_an_archived_one_only_so(world: Reading) -> None:
    one, _ = await world.add_endpoint("one"), await world.add_endpoint("two")
    await world.post(f"/endpoints/{one.id}/archive")
    assert (await the_lane(world))["endpoint"]["name"] == "two"
    lane = await the_lane(world, endpoint=str(one.id))
    assert (lane["endpoint"]["name"], lane["endpoint"]["state"]) == ("one", "archived")


async def test_another_tenants_endpoint_has_no_lane(world: Reading) -> None:
    foreign = await world.add_endpoint("foreign", world.theirs)
    assert (await score_of(world, endpoint=str(foreign.id)))["lanes"] == []


async def test_a_range_is_bounded_and_has_an_order(world: Reading) -> None:
    now = await world.now()
    path = f"/jobs/{world.ours.job_id}/score"
    for asked in (
        {"from": iso(now - minutes(60 * 24 * 40))},
        {"from": iso(now), "to": iso(now - minutes(1))},
        {"to": "0001-01-01T00:00:00Z"},
        {"from": "9998-12-31T00:00:00Z"},
    ):
        assert (await world.get(path, **asked)).status_code == 422


# --- Runs -----------------------------------------------------------------------------------


async def test_runs_of_each_family_are_told_apart(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    sooner = plan("ai-interval", now - minutes(8), now - minutes(7))
    later = plan("ai-interval", now - minutes(6), now - minutes(7))
    await world.add_run(endpoint, now - minutes(9))
    await world.add_run(endpoint, now - minutes(8), source="ai-interval", plan=sooner)
    await world.add_run(endpoint, now - minutes(6), source="ai-interval", plan=later)
    await world.add_run(endpoint, now - minutes(5), source="ai-oneshot", status="failure")
    await world.add_run(endpoint, now - minutes(4), source="manual", is_manual=True)
    await world.add_run(endpoint, now - minutes(3), source="clamped-min")
    lane = await the_lane(world)
    families = [run["family"] for run in lane["runs"]]
    assert families == ["baseline", "tightened", "relaxed", "once", "manual", "held"]
    assert (lane["run_count"], lane["buckets"], lane["known_from"]) == (6, None, None)
    assert lane["runs"][3]["status"] == "failure"
    assert lane["runs"][0]["duration_ms"] == 1000


async def test_a_lane_with_too_many_runs_comes_in_buckets(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    begin = now - minutes(10)
    for number in range(4):
        await world.add_run(endpoint, begin + seconds(number), status="failure")
    await world.add_run(endpoint, begin + minutes(5), source="ai-oneshot", status="timeout")
    span = {"from": iso(begin), "to": iso(now)}
    lane = await the_lane(world, runs=4, **span)
    assert (lane["runs"], lane["run_count"]) == ([], 5)
    first = {"from": iso(begin), "counts": {"baseline": 1}, "failed": 1, "timed_out": 0}
    assert lane["buckets"][0] == first
    assert lane["buckets"][-1]["counts"] == {"once": 1}
    assert lane["buckets"][-1]["timed_out"] == 1
    assert (await the_lane(world, runs=5, **span))["buckets"] is None


async def test_a_lane_says_from_when_on_its_buckets_are_whole(
    world: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scores, "BUCKETED_RUNS", 3)
    endpoint, now = await world.add_endpoint(), await world.now()
    for back in range(1, 6):
        await world.add_run(endpoint, now - minutes(back))
    lane = await the_lane(world, runs=1)
    assert lane["run_count"] == 3
    assert datetime.fromisoformat(lane["known_from"]) == now - minutes(3)


# --- What bent it ---------------------------------------------------------------------------


async def test_a_hint_is_a_window_and_its_renewal_lengthens_it(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    await hint(world, endpoint, "10s", ttl="10m")
    await hint(world, endpoint, "10s", ttl="30m")
    (window,) = (await the_lane(world))["windows"]
    assert (window["kind"], window["bends"], window["renewals"]) == ("interval", "tightened", 1)
    assert (window["interval_ms"], window["ended_as"]) == (10_000, "standing")
    assert (window["author"]["kind"], window["reason"]) == ("person", "a rush")
    length = datetime.fromisoformat(window["to"]) - datetime.fromisoformat(window["from"])
    assert minutes(29) < length < minutes(31)


async def test_another_hint_replaces_it_and_clearing_ends_that(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    await hint(world, endpoint, "10s")
    await hint(world, endpoint, "5m")
    await world.client.delete(f"/api/v1/endpoints/{endpoint.id}/hints", headers=world.ours.headers)
    lane = await the_lane(world)
    assert [(each["bends"], each["ended_as"]) for each in lane["windows"]] == [
        ("tightened", "replaced"),
        ("relaxed", "cleared"),
    ]
    assert [flag["kind"] for flag in lane["flags"]] == ["interval", "interval", "clear"]
    assert lane["flags"][0]["by"] == "person"
    assert "every 10 s" in lane["flags"][0]["text"]


async def test_pauses_of_endpoint_and_job_are_windows(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    await world.post(f"/endpoints/{endpoint.id}/pause", {"reason": "too loud"})
    await world.post(f"/jobs/{world.ours.job_id}/pause", {"reason": "night"})
    await world.post(f"/endpoints/{endpoint.id}/resume")
    windows = {window["kind"]: window for window in (await the_lane(world))["windows"]}
    assert (windows["pause"]["ended_as"], windows["pause"]["reason"]) == ("cleared", "too loud")
    assert windows["job-pause"]["ended_as"] == "standing"
    assert (windows["job-pause"]["to"], windows["job-pause"]["reason"]) == (None, "night")


async def test_a_run_has_the_reason_of_the_hint_that_asked_for_it(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    await hint(world, endpoint, "10s")
    now = await world.now()
    early = plan("ai-interval", now, now + minutes(1))
    await world.add_run(endpoint, now, source="ai-interval", plan=early)
    (run,) = (await the_lane(world))["runs"]
    assert (run["family"], run["reason"]) == ("tightened", "a rush")


async def test_a_window_of_odd_length_is_told_in_minutes_and_seconds(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    await hint(world, endpoint, "10s", ttl="308s")
    (flag,) = (await the_lane(world))["flags"]
    assert flag["text"] == "every 10 s for 5 min 8 s: a rush"


# --- What is ahead, and what was answered ----------------------------------------------------


async def test_planned_runs_lie_right_of_now_beside_the_plain_baseline(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    await hint(world, endpoint, "20s", ttl="1h")
    score = await score_of(world, to=iso(now + minutes(4)))
    (lane,) = score["lanes"]
    assert lane["planned"][-1]["at"] < score["to"]
    assert len(lane["planned"]) > len(lane["baseline"]) >= 3
    assert {run["family"] for run in lane["baseline"]} == {"baseline"}
    assert "tightened" in {run["family"] for run in lane["planned"]}
    past = await the_lane(world, to=iso(now - minutes(1)))
    assert (past["planned"], past["baseline"]) == ([], [])


async def test_the_numbers_that_move_stand_above_it(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    for back in range(5, 0, -1):
        body = {"depth": back * 10, "limit": 7, "name": "queue"}
        await world.add_run(endpoint, now - minutes(back), body=body)
    first, second = (await score_of(world))["values"]
    assert (first["field"], first["endpoint"], first["limits"]) == ("depth", "probe", [])
    assert [value for _, value in first["points"]] == [50.0, 40.0, 30.0, 20.0, 10.0]
    assert second["field"] == "limit"


async def test_what_a_rule_reads_comes_first_with_its_limit(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    await world.add_run(endpoint, now - minutes(1), body={"noise": 3, "queue": {"depth": 120}})
    rule = {"name": "deep", "when": "response.queue.depth > 100", "then": {"interval": "10s"}}
    answer = await world.client.patch(
        f"/api/v1/jobs/{world.ours.job_id}", json={"rules": [rule]}, headers=world.ours.headers
    )
    assert answer.status_code == 200, answer.text
    (series,) = (await score_of(world))["values"]
    assert (series["field"], series["path"]) == ("queue.depth", ["queue", "depth"])
    assert series["limits"] == [{"op": ">", "value": 100.0, "rule": "deep"}]


async def test_somebody_chooses_what_stands_above_it(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    for back in (3, 2, 1):
        body = {"depth": back, "queue": {"age": 7}, "rest": back * back}
        await world.add_run(endpoint, now - minutes(back), body=body)
    score = await score_of(world, fields="true")
    assert {field["field"] for field in score["fields"]} == {"depth", "queue.age", "rest"}
    assert (await score_of(world))["fields"] == []
    chosen = await score_of(world, value=f"{endpoint.id}:queue.age")
    assert [series["field"] for series in chosen["values"]] == ["queue.age"]
    assert [value for _, value in chosen["values"][0]["points"]] == [7.0, 7.0, 7.0]


@pytest.mark.parametrize("value", ["depth", "7:depth", ":"])
async def test_a_choice_that_cannot_be_read_is_refused_with_the_fix(
    world: Reading, value: str
) -> None:
    await world.add_endpoint()
    path = f"/api/v1/jobs/{world.ours.job_id}/score"
    answer = await world.client.get(path, params={"value": value}, headers=world.ours.headers)
    assert answer.status_code == 422
    assert "colon" in answer.text
